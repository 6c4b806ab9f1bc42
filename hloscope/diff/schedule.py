"""Compares the order in which two scheduled modules run the same instructions."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from hloscope.diff.joined import NONE, Joined
from hloscope.diff.order import ordered_schedule
from hloscope.model.canonical import NodeKind
from hloscope.model.changes import ScheduleChange

# they take a place in the order and no time
_TIMELESS = frozenset({"parameter", "constant"})


def schedule_changes(joined: Joined) -> tuple[ScheduleChange, ...]:
    """Computations whose paired instructions run in another order, most moved first.

    Empty where either side is not scheduled: its order then means nothing.
    """
    if not (joined.lhs.module.is_scheduled and joined.rhs.module.is_scheduled):
        return ()
    return ordered_schedule(_changes(joined))


def _changes(joined: Joined) -> Iterator[ScheduleChange]:
    for (left, right), pairs in sorted(_by_computation(joined).items()):
        order = [b for _, b in pairs]
        moved = len(order) - _longest_increasing(order)
        if moved:
            first = next(k for k, b in enumerate(sorted(order)) if b != order[k])
            yield ScheduleChange(
                joined.lhs.module.computations[left].name,
                joined.rhs.module.computations[right].name,
                moved,
                (joined.lhs.name(pairs[first][0]), joined.rhs.name(sorted(order)[first])),
            )


def _by_computation(joined: Joined) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Pairs that run, by the two computations that hold them, in lhs order.

    Instructions inside a fusion have no order of their own.
    """
    lhs, rhs = joined.lhs, joined.rhs
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for left in range(lhs.size):
        right = joined.partners[left]
        if right == NONE or lhs.kinds[left] == NodeKind.WIRE:
            continue
        # a part of a combined collective runs when the whole does
        if right >= rhs.size or lhs.label(left).opcode in _TIMELESS:
            continue
        a, b = lhs.computation_of[left], rhs.computation_of[right]
        if lhs.fusion_of[a] == rhs.fusion_of[b] == NONE:
            found[a, b].append((left, right))
    return found


def _longest_increasing(values: Sequence[int]) -> int:
    """The length of a longest increasing subsequence."""
    tails: list[int] = []
    for value in values:
        slot = bisect_left(tails, value)
        tails[slot : slot + 1] = [value]
    return len(tails)
