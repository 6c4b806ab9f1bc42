"""Logits over the full vocabulary that are held all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Finding,
    Instruction,
    Measured,
    Remedy,
    Shape,
    Specificity,
    View,
    array,
    bytes_text,
    logits,
    origin,
    scopes,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeLogits(Analyzer):
    """Logits over the vocabulary are held for all tokens, where the other side makes them in parts.

    What it sees: products with an output matrix that a softmax reads, of more tokens at once on one
    side than on the other, which has a loop over parts; and memory at peak that holds arrays of
    that size.

    Why it costs: tokens times vocabulary in f32 is often the largest array of a training step, and
    the softmax's gradient is another one. In parts, each recomputed for its gradient, one part is
    held.

    What it does not see: losses inside custom calls.

    Example: `jax.lax.scan` over slices of the tokens, with `jax.checkpoint` around the loss of one
    slice, holds `f32[tokens / 4, vocab]` instead of `f32[tokens, vocab]`.
    """

    name: ClassVar[str] = "logits"
    codes: ClassVar[Mapping[str, str]] = {"LOG001": "logits are held for all tokens at once"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """At most one finding: the side that holds more logits at once."""
        rhs, lhs = views(comparison)
        most = {view.name: _most(view) for view in (rhs, lhs)}
        for view in (rhs, lhs):
            here, there = most[view.name], most[view.there.name]
            if here is not None and there is not None and here.tokens > there.tokens:
                yield from _finding(view, here, there)


class _Made(NamedTuple):
    """The most logits that a side makes at once.

    Attributes:
      tokens: rows of them.
      parts: how often a step makes so many.
    """

    tokens: int
    parts: int
    shape: Shape
    vocabulary: int
    instruction: Instruction


def _most(view: View) -> _Made | None:
    flow = view.flow
    found = []
    for each in logits(flow):
        node = flow.nodes[each.product]
        trips = [flow.loops[loop].trips for loop in node.loops]
        parts = prod(t.value for t in trips if isinstance(t, Measured))
        vocabulary = node.shape.dims[-1]
        tokens = prod(node.shape.dims) // (vocabulary or 1)
        made = _Made(tokens, parts, node.shape, vocabulary, flow.instruction(each.product))
        found.append(made)
    return max(found, key=lambda made: (made.tokens * made.vocabulary, made.parts), default=None)


def _finding(view: View, here: _Made, there: _Made) -> Iterator[Finding]:
    # the same tokens, in more parts
    if here.vocabulary != there.vocabulary or there.parts <= here.parts:
        return
    worse = view.direction is Direction.WORSE
    whole, part = array(here.shape), array(there.shape)
    entries = _entries(view, here)
    yield Finding(
        code="LOG001",
        title=f"rhs holds logits {whole} at once, lhs in {there.parts} parts of {part}"
        if worse
        else f"rhs makes logits in {there.parts} parts of {part}, lhs holds {whole} at once",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.EXACT,
        direction=view.direction,
        entries=entries,
        evidence=(
            view.seen("tokens whose logits are made at once", str(here.tokens), str(there.tokens)),
            view.seen(
                "arrays of that size held at peak", _held(view, here), _held(view.there, there)
            ),
        ),
        path=scopes(here.instruction.metadata.op_name),
        unknown=("what recomputing each part for its gradient costs",) if worse else (),
        remedies=(Remedy("compute the loss in slices of the tokens, each under jax.checkpoint"),)
        if worse
        else (),
        **view.where([origin(view.module, here.instruction)]),
    )


def _entries(view: View, made: _Made) -> tuple[int, ...]:
    """Memory of arrays as large as all logits together, of which this side holds more."""
    memory = view.comparison.memory
    return tuple(
        position
        for position, entry in enumerate(memory.entries if memory else ())
        if (held := view.held(entry)) is not None
        and view.grown(entry.size)
        and _is_such(held.shape, made)
    )


def _is_such(shape: Shape | None, made: _Made) -> bool:
    return (
        shape is not None
        and made.vocabulary in shape.dims
        and prod(shape.dims) == made.tokens * made.vocabulary
    )


def _held(view: View, made: _Made) -> str:
    memory = view.comparison.memory
    if memory is None:
        return "unknown"
    ledger = memory.rhs if view.name == "rhs" else memory.lhs
    sizes = [entry.size for entry in ledger.entries if _is_such(entry.shape, made)]
    return f"{len(sizes)}, {bytes_text(sum(sizes))}"
