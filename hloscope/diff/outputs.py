"""Compares which values the two programs return."""

from __future__ import annotations

from collections import Counter

from hloscope.diff.joined import NONE, Item, Joined
from hloscope.model.changes import ChangeClass, FieldChange


def note_outputs(joined: Joined, items: dict[tuple[int, int], Item]) -> None:
    """Adds to the items each value that only one side returns, or returns more often.

    Where the other side returns a value that has no partner instead, that one is the cause.
    """
    lhs = Counter(joined.lhs.canonical.flow.outputs)
    rhs = Counter(joined.rhs.canonical.flow.outputs)
    lhs_lone = any(joined.partners[node] == NONE for node in lhs)
    rhs_lone = any(joined.rhs_partners[node] == NONE for node in rhs)
    for left in sorted(lhs):
        right = joined.partners[left]
        if right != NONE and lhs[left] != rhs[right]:
            explained = rhs_lone if lhs[left] > rhs[right] else lhs_lone
            _note(items, left, right, (lhs[left], rhs[right]), explained)
    for right in sorted(rhs):
        left = joined.rhs_partners[right]
        if left != NONE and left not in lhs:
            _note(items, left, right, (0, rhs[right]), lhs_lone)


def _note(
    items: dict[tuple[int, int], Item],
    left: int,
    right: int,
    counts: tuple[int, int],
    explained: bool,
) -> None:
    texts = [_times(count) for count in counts]
    change = FieldChange(ChangeClass.OUTPUT, "returned", texts[0], texts[1])
    item = items.setdefault((left, right), Item(left, right))
    (item.derived if explained else item.own).append(change)


def _times(count: int) -> str:
    return {0: "no", 1: "once"}.get(count, f"{count} times")
