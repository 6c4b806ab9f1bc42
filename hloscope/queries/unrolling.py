"""Whether the same work is a loop on one side and written out on the other."""

from __future__ import annotations

from typing import NamedTuple

from hloscope.hlo.dataflow import Dataflow
from hloscope.model.comparison import Comparison
from hloscope.model.units import Measured
from hloscope.queries.views import View, views

# how many times as many products the text of an unrolled program has at least
UNROLLED_FACTOR = 1.5
# by what share the products of a step may differ, as they do with rematerialization
SAME_WORK = 0.4


class Products(NamedTuple):
    """Matrix products of a program as it was written.

    Attributes:
      text: how many it has.
      run: how many it runs in a step.
      turns: turns that its loops with products take in all.
    """

    text: int
    run: int
    turns: int


def products(flow: Dataflow) -> Products:
    """Counts the matrix products of a program; a loop of unknown length counts once."""
    text = run = 0
    busy: set[int] = set()
    for node in range(len(flow.nodes)):
        if flow.opcode(node) in ("dot", "convolution"):
            text += 1
            run += _times(flow, flow.nodes[node].loops)
            busy.update(flow.nodes[node].loops)
    return Products(text, run, sum(_times(flow, (loop,)) for loop in busy))


def _times(flow: Dataflow, loops: tuple[int, ...]) -> int:
    times = 1
    for loop in loops:
        trips = flow.loops[loop].trips
        times *= trips.value if isinstance(trips, Measured) else 1
    return times


def unrolled(
    comparison: Comparison, *, factor: float = UNROLLED_FACTOR, tolerance: float = SAME_WORK
) -> View | None:
    """The side that is unrolled where the other is a loop; `None` where neither is.

    Args:
      comparison: the two sides.
      factor: how many times as many products the text of the unrolled side has at least.
      tolerance: by what share the products that a step runs may differ.
    """
    for view in views(comparison):
        here, there = products(view.written), products(view.there.written)
        if not there.text or not here.run:
            continue
        longer = here.text >= factor * there.text
        same = abs(here.run - there.run) <= tolerance * max(here.run, there.run)
        if longer and same and here.turns < there.turns:
            return view
    return None
