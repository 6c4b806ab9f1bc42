"""Layers that are unrolled on one side and a loop on the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    DeltaKind,
    Direction,
    Evidence,
    Finding,
    Measured,
    Products,
    Remedy,
    Specificity,
    View,
    frame_of,
    products,
    unrolled,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrolled(Analyzer):
    """The same work is a loop on one side and written out on the other.

    What it sees: matrix products of the programs as they were written. Where both sides run about
    as many in a step, and one side has many times as many in its text, that side is unrolled. What
    stands in or around the loops and has no partner is claimed.

    Why it costs: a program grows with the number of layers, and with it compile time and code; each
    layer's buffers are placed by themselves, which can save copies of a carry and can also keep
    more alive. A loop stacks what its backward pass needs.

    What it does not see: the size of the generated code, unless both sides were compiled to the
    end (`--depth full`); work without matrix products.

    Example: `for layer in layers: x = layer(x)` against `jax.lax.scan` over stacked weights, or
    `scan(..., unroll=8)`.

    Attributes:
      factor: how many times as many products the text must have.
      tolerance: by what share the products of a step may differ, as rematerialization does.
    """

    factor: float = 1.5
    tolerance: float = 0.4

    name: ClassVar[str] = "unrolled loops"
    codes: ClassVar[Mapping[str, str]] = {
        "LOOP006": "a loop on one side is unrolled on the other",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding, of the side that is unrolled."""
        view = unrolled(comparison, factor=self.factor, tolerance=self.tolerance)
        if view is not None:
            yield _finding(view, products(view.written), products(view.there.written))


_REMEDIES = (
    Remedy("scan over stacked weights: jax.lax.scan, nn.scan or nnx.scan"),
    Remedy("scan with unroll=1"),
)


def _finding(view: View, here: Products, there: Products) -> Finding:
    comparison = view.comparison
    looped = view.there
    worse = view.direction is Direction.WORSE
    memory = comparison.memory
    same = abs(here.run - there.run) <= EQUAL_WORK * max(here.run, there.run)
    gains = memory.total if memory and memory.total else comparison.cost.bytes.known
    loops = [loop for loop in looped.written.loops if isinstance(loop.trips, Measured)]
    turns = max((loop.trips.value for loop in loops if isinstance(loop.trips, Measured)), default=0)
    counts = (view.module.instruction_count, looped.module.instruction_count)
    return Finding(
        code="LOOP006",
        title=f"a loop of {turns} turns is unrolled on {view.name}: {here.text} matrix products "
        f"in the program instead of {there.text}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE if same else Specificity.MECHANISM,
        direction=view.direction if view.grown(int(gains)) else Direction.NEUTRAL,
        entries=_memory(comparison, same=same),
        cost_entries=_cost(comparison, same=same),
        communication_entries=tuple(range(len(comparison.communication.changes))) if same else (),
        evidence=(
            view.seen("matrix products in the program", str(here.text), str(there.text)),
            view.seen("matrix products in a step", str(here.run), str(there.run)),
            view.seen("instructions in the optimized program", *map(str, counts)),
            *_code(view),
        ),
        unknown=("how long it takes to compile", *(() if _has_code(view) else (
            "how large the generated code is: compile with --depth full to see",))),
        remedies=_REMEDIES if worse else (),
        **view.where((), (frame_of(looped.written, loop.slots[0]) for loop in loops if loop.slots)),
    )  # fmt: skip


def _memory(comparison: Comparison, *, same: bool) -> tuple[int, ...]:
    """Where the same work is done, what is held differs because stacks became arrays of their own.

    Whether their memory is donated is another matter.
    """
    kept = frozenset(DeltaKind) - _DONATION if same else _UNPAIRED
    entries = comparison.memory.entries if comparison.memory else ()
    return tuple(p for p, entry in enumerate(entries) if entry.kind in kept)


def _cost(comparison: Comparison, *, same: bool) -> tuple[int, ...]:
    return tuple(
        p
        for p, e in enumerate(comparison.cost.entries)
        if same
        or e.lhs is None
        or e.rhs is None
        or (e.lhs.executions, e.lhs.shape) != (e.rhs.executions, e.rhs.shape)
    )


# products of a step that may differ before something else than unrolling is behind it
EQUAL_WORK = 0.03
_DONATION = frozenset({DeltaKind.DONATION_LOST, DeltaKind.DONATION_WON})
_UNPAIRED = frozenset((DeltaKind.ONLY_LHS, DeltaKind.ONLY_RHS, DeltaKind.LIFETIME, DeltaKind.CODE))


def _has_code(view: View) -> bool:
    return bool(list(_code(view)))


def _code(view: View) -> Iterator[Evidence]:
    memory = view.comparison.memory
    if memory is None:
        return
    ledgers = (memory.rhs, memory.lhs) if view.name == "rhs" else (memory.lhs, memory.rhs)
    sizes = [ledger.figures.code for ledger in ledgers]
    if all(isinstance(size, Measured) for size in sizes):
        yield view.seen("bytes of generated code", *(str(getattr(s, "value", "")) for s in sizes))
