"""Finding the moments at which two compiles part, looking at as few modules as that takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hloscope.model.passes import GapChange

INPUT = -1
# moments that are looked at before the search goes closer; where the gap is the same at two of
# them, what lies between is not looked at
_GRID = 16
_SHOWN = 5


def first_difference(count: int, same: Callable[[int], bool]) -> int | None:
    """The first of `count` moments at which the sides differ, the input (-1) included.

    Every moment before it is looked at: a difference can come and go.
    """
    return next((step for step in range(INPUT, count) if not same(step)), None)


def rejoined(count: int, same: Callable[[int], bool]) -> int | None:
    """The moment from which the sides are the same to the end; `None` where the end differs."""
    if not same(count - 1):
        return None
    step = count - 1
    while step > INPUT and same(step - 1):
        step -= 1
    return step


def gap_changes(count: int, gap: Callable[[int], float]) -> tuple[GapChange, ...]:
    """Every moment at which the gap changes, in order, as far as a grid of moments shows it."""
    last = count - 1
    stride = max(1, -(-(count + 1) // _GRID))
    grid = sorted({*range(INPUT, last, stride), last})
    found: list[GapChange] = []
    for left, right in pairwise(grid):
        found += _between(left, right, gap)
    return tuple(found)


def _between(left: int, right: int, gap: Callable[[int], float]) -> list[GapChange]:
    if gap(left) == gap(right):
        return []
    if right == left + 1:
        return [GapChange(right, gap(left), gap(right))]
    middle = (left + right) // 2
    return [*_between(left, middle, gap), *_between(middle, right, gap)]


def parting(count: int, gap: Callable[[int], float]) -> GapChange | None:
    """The first moment at which the gap is not 0; at the input, or where it first changes."""
    if gap(INPUT) != 0:
        return GapChange(INPUT, 0, gap(INPUT))
    return next(iter(gap_changes(count, gap)), None)


def largest(changes: tuple[GapChange, ...]) -> tuple[GapChange, ...]:
    """The changes that a report shows, largest first."""
    return tuple(sorted(changes, key=lambda c: (-abs(c.size), c.step)))[:_SHOWN]
