"""Finds operations that moved into a loop or out of one."""

from __future__ import annotations

from collections import defaultdict

from hloscope.diff.joined import NONE, Item, Joined, Side
from hloscope.model.canonical import Label, NodeKind
from hloscope.model.changes import ChangeClass, FieldChange


def moved_items(joined: Joined, left: list[int], right: list[int]) -> list[Item]:
    """Pairs lone operations of one kind that stand in a loop on one side only.

    They read other values (the loop's carry against what it starts as), so data flow does not pair
    them. Only where the two sides have equally many of the kind is it clear which moved.
    """
    ours, theirs = _by_label(joined.lhs, left), _by_label(joined.rhs, right)
    found = []
    for label, nodes in ours.items():
        others = theirs.get(label, [])
        if len(nodes) != len(others):
            continue
        loops = [
            (_loop(joined.lhs, a), _loop(joined.rhs, b)) for a, b in zip(nodes, others, strict=True)
        ]
        if all((a == NONE) != (b == NONE) for a, b in loops):
            found += [_item(joined, nodes[k], others[k], *loops[k]) for k in range(len(nodes))]
    return found


def _by_label(side: Side, nodes: list[int]) -> dict[Label, list[int]]:
    found: dict[Label, list[int]] = defaultdict(list)
    for node in nodes:
        if node < side.size and side.kinds[node] == NodeKind.OPERATION and side.sources[node]:
            found[side.label(node)].append(node)
    return found


def _loop(side: Side, node: int) -> int:
    return side.loop_of[side.computation_of[node]]


def _item(joined: Joined, left: int, right: int, loop: int, other: int) -> Item:
    texts = (
        None if loop == NONE else joined.lhs.name(loop),
        None if other == NONE else joined.rhs.name(other),
    )
    return Item(left, right, own=[FieldChange(ChangeClass.LOOP, "loop", *texts)])
