"""A batch that one side takes in parts, turn by turn of a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Dataflow,
    Direction,
    Finding,
    Measured,
    Products,
    Remedy,
    Specificity,
    View,
    frame_of,
    products,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accumulation(Analyzer):
    """One side runs the step's work in several turns of a loop, each on a part of the batch.

    What it sees: matrix products of the programs as they were written. Where one side has nearly
    all of them inside one more loop, and runs as many times more of them as that loop has turns,
    it takes the batch in parts: gradient accumulation, or a loop over microbatches.

    Why it costs: what a turn needs is held once, so that less is held at a time; the weights are
    read, gathered, and their gradients reduced in every turn, and the sum is held besides.

    What it does not see: whether the parts together are the other side's batch; work without
    matrix products.

    Example: `jax.lax.scan` over microbatches, with the gradients added up in its carry.

    Attributes:
      inside: the share of the products that must be in the loop.
      tolerance: by what share the products in the text and in a step may differ.
    """

    inside: float = 0.8
    tolerance: float = 0.25

    name: ClassVar[str] = "accumulation"
    codes: ClassVar[Mapping[str, str]] = {
        "LOOP007": "one side takes the batch in parts, in a loop around its work",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding, of the side that has the loop."""
        for view in views(comparison):
            here, there = products(view.written), products(view.there.written)
            outer = _outer(view.written, self.inside)
            if outer is None or _outer(view.there.written, self.inside) is not None:
                continue
            again = here.run / max(there.run, 1)
            if _near(here.text, there.text, self.tolerance) and _near(
                again, outer.turns, self.tolerance
            ):
                yield _finding(view, outer, here, there)


class _Outer(NamedTuple):
    """A loop around nearly all products, that other loops with products are in."""

    loop: int
    turns: int


def _outer(flow: Dataflow, share: float) -> _Outer | None:
    around: Counter[int] = Counter()
    text = 0
    for node in range(len(flow.nodes)):
        if flow.opcode(node) in ("dot", "convolution"):
            text += 1
            around.update(flow.nodes[node].loops[:1])
    for loop, count in around.most_common(1):
        trips = flow.loops[loop].trips
        if count >= share * text and isinstance(trips, Measured) and trips.value > 1:
            return _Outer(loop, trips.value)
    return None


def _near(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= tolerance * max(one, other)


def _finding(view: View, outer: _Outer, here: Products, there: Products) -> Finding:
    comparison = view.comparison
    memory = comparison.memory
    gap = int(memory.total) if memory else 0
    slots = view.written.loops[outer.loop].slots
    worse = view.direction is Direction.WORSE
    doing = "takes" if worse else "no longer takes"
    return Finding(
        code="LOOP007",
        title=f"rhs {doing} the batch in {outer.turns} parts, in a loop around its work",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=_direction(gap or int(comparison.cost.bytes.known)),
        entries=tuple(range(len(memory.entries))) if memory else (),
        cost_entries=tuple(range(len(comparison.cost.entries))),
        communication_entries=tuple(range(len(comparison.communication.changes))),
        evidence=(
            view.seen("turns of the loop around the work", str(outer.turns), "none"),
            view.seen("matrix products in the program", str(here.text), str(there.text)),
            view.seen("matrix products in a step", str(here.run), str(there.run)),
        ),
        unknown=("whether the parts together are the other side's batch",),
        remedies=(Remedy("fewer parts, where the memory allows it"),) if worse else (),
        **view.where(frame_of(view.written, slot) for slot in slots[:1]),
    )


def _direction(gap: int) -> Direction:
    if not gap:
        return Direction.NEUTRAL
    return Direction.WORSE if gap > 0 else Direction.BETTER
