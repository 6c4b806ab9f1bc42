"""Attention scores that are held whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Dataflow,
    Direction,
    Finding,
    NodeKind,
    Ref,
    Remedy,
    Specificity,
    View,
    array,
    bytes_text,
    frame_of,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionScores(Analyzer):
    """The scores of attention, queries by keys, exist in memory all at once.

    What it sees: a batched matrix product whose result goes through an exponential into another
    batched product, in the program as it was written: the largest such array of each side. Where
    one side's is larger, it claims what holds, writes and reads arrays of that size.

    Why it costs: scores grow with the square of the sequence. Attention that goes over queries or
    keys in blocks, or a fused kernel, never holds more than a block.

    What it does not see: attention inside a custom kernel, which holds no scores; scores of equal
    size on both sides that one side keeps longer.

    Example: `softmax(q @ k.T) @ v` for 8 heads and 2,048 positions holds 128 MiB of float32 for
    each sequence; `jax.nn.dot_product_attention(..., implementation="cudnn")`, splash attention,
    or a scan over blocks of queries holds a block.
    """

    name: ClassVar[str] = "attention scores"
    codes: ClassVar[Mapping[str, str]] = {"ATT001": "attention scores are materialized"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Scores of one side that are larger than all of the other's."""
        for view in views(comparison):
            here, there = _scores(view.written), _scores(view.there.written)
            limit = max((score.size for score in there), default=0)
            larger = [score for score in here if score.size > limit]
            if larger:
                yield from _finding(view, larger, max(there, default=None, key=lambda s: s.size))


_PRODUCTS = frozenset({"dot", "convolution"})
_STEPS = 40  # from a product through masks, scaling and softmax to the next: about twenty


class _Score(NamedTuple):
    """One exponential between two batched products.

    Attributes:
      size: elements.
      nodes: the product, the exponential, and what lies between with as many elements.
    """

    size: int
    node: int
    nodes: tuple[int, ...]


def _scores(flow: Dataflow) -> list[_Score]:
    found = []
    for node in range(len(flow.nodes)):
        if flow.opcode(node) == "exponential":
            size = prod(flow.nodes[node].shape.dims)
            before = _alike(flow, node, size, up=True)
            if any(_is_batched(flow, n) for n in before) and _feeds_product(flow, node, size):
                found.append(_Score(size, node, tuple(sorted({node, *before}))))
    return found


def _alike(flow: Dataflow, start: int, size: int, *, up: bool) -> list[int]:
    """Nodes of as many elements around one, up to a product."""
    waiting, found = [start], list[int]()
    while waiting and len(found) < _STEPS:
        node = waiting.pop()
        if flow.opcode(node) in _PRODUCTS:
            continue
        for other in flow.nodes[node].operands if up else flow.users[node]:
            if other not in found and prod(flow.nodes[other].shape.dims) == size:
                found.append(other)
                waiting.append(other)
    return found


def _is_batched(flow: Dataflow, node: int) -> bool:
    """Whether it is a product with batch dimensions, as heads are; logits have none."""
    return flow.opcode(node) == "dot" and bool(
        (flow.instruction(node).attr("lhs_batch_dims") or "{}").strip("{}")
    )


def _feeds_product(flow: Dataflow, node: int, size: int) -> bool:
    after = [node, *_alike(flow, node, size, up=False)]
    return any(_is_batched(flow, user) for n in after for user in flow.users[n])


def _finding(view: View, larger: list[_Score], other: _Score | None) -> Iterator[Finding]:
    flow = view.written
    first = max(larger, key=lambda score: score.size)
    refs, elements = _compiled(view, larger)
    entries = tuple(_held(view, elements))
    costs = view.more_cost_of(refs)
    if not entries and not costs:
        return
    worse = view.direction is Direction.WORSE
    name = array(flow.nodes[first.node].shape)
    block = array(view.there.written.nodes[other.node].shape) if other else "no scores"
    memory = view.comparison.memory
    held = sum(abs(memory.entries[p].size) for p in entries) if memory else 0
    yield Finding(
        code="ATT001",
        title=f"attention scores {name} are {'held whole' if worse else 'no longer held whole'}; "
        f"{'lhs' if worse else 'rhs'} has {block}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=entries,
        cost_entries=costs,
        evidence=(
            view.seen("largest array between two batched products and around an exponential",
                      name, block),
            view.seen("held at peak in arrays of that size", bytes_text(held), None),
        ),
        unknown=("whether the other side computes them again for the backward pass",),
        remedies=_REMEDIES if worse else (),
        **view.where((frame_of(flow, s.node) for s in larger),
                     (frame_of(view.there.written, other.node),) if other else ()),
    )  # fmt: skip


_REMEDIES = (
    Remedy("use a fused kernel: jax.nn.dot_product_attention, splash or flash attention"),
    Remedy("scan over blocks of queries, with jax.checkpoint around the block"),
)


def _compiled(view: View, larger: Iterable[_Score]) -> tuple[set[Ref], set[int]]:
    """Kernels that work on the scores, and how many elements a device has of them."""
    written, flow = view.written, view.flow
    names = {written.instruction(n).metadata.op_name for score in larger for n in score.nodes}
    nodes = [
        n for n, node in enumerate(flow.nodes)
        if node.kind is NodeKind.OPERATION and flow.opcode(n) not in ("parameter", "constant")
        and flow.instruction(n).metadata.op_name in names
    ]  # fmt: skip
    sizes = {prod(flow.nodes[n].shape.dims) for n in nodes if flow.opcode(n) == "exponential"}
    sizes = sizes or {score.size for score in larger}
    kernels = {flow.nodes[n].kernel for n in nodes if prod(flow.nodes[n].shape.dims) in sizes}
    return kernels, sizes


def _held(view: View, sizes: set[int]) -> Iterator[int]:
    memory = view.comparison.memory
    for position, entry in enumerate(memory.entries if memory else ()):
        held = view.held(entry)
        if held is None or held.shape is None or not view.grown(entry.size):
            continue
        if held.parameter is None and prod(held.shape.dims) in sizes:
            yield position
