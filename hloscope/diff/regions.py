"""Groups items that data flow connects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from hloscope.diff.joined import NONE, Item, Joined, Side
from hloscope.model.canonical import NodeKind
from hloscope.model.changes import ChangeClass


def regions(joined: Joined, items: list[Item]) -> list[list[Item]]:
    """The items in connected groups; marks along the way which lone items follow others."""
    left = {item.lhs: item for item in items if item.lhs != NONE}
    right = {item.rhs: item for item in items if item.rhs != NONE}
    sets = _Sets(items)
    for side, of_node in ((joined.lhs, left), (joined.rhs, right)):
        callers = _callers(side)
        for node, item in of_node.items():
            for other in _around(side, node, callers):
                if other in of_node:
                    sets.join(item, of_node[other])
    _mark_followers(joined, items, left, right)
    return sets.groups()


def _around(side: Side, node: int, callers: dict[int, list[int]]) -> Iterator[int]:
    """Nodes that belong to the same change if they changed as well."""
    yield from side.feeders(node)
    yield from (root for _, root in side.called.get(node, ()))
    if side.wrapper(node) != NONE:
        yield side.wrapper(node)
    elif node < side.size:
        yield from callers.get(side.computation_of[node], ())


def _callers(side: Side) -> dict[int, list[int]]:
    """For each computation that is not inlined, the nodes that call it."""
    callers: dict[int, list[int]] = defaultdict(list)
    for node, roots in side.called.items():
        for _, root in roots:
            callers[side.computation_of[root]].append(node)
    return callers


def _mark_followers(
    joined: Joined, items: list[Item], left: dict[int, Item], right: dict[int, Item]
) -> None:
    for side, of_node in ((joined.lhs, left), (joined.rhs, right)):
        callers = _callers(side)
        lone = {node for node, item in of_node.items() if not item.paired}
        for node in lone:
            of_node[node].follows = _follows(side, node, lone, of_node, callers)
    for item in items:
        if not item.paired and not item.follows:
            item.follows = _carries_only(joined, item, left, right)


def _follows(
    side: Side, node: int, lone: set[int], of_node: dict[int, Item], callers: dict[int, list[int]]
) -> bool:
    """Whether the node is part of something else that has no partner either.

    That is the body of a fusion, loop or branch, or a computation that is called, by an instruction
    without partner or by one that called something else before.
    """
    if side.wrapper(node) in lone:
        return True
    if node >= side.size or side.wrapper(node) != NONE:
        return False
    nearby = callers.get(side.computation_of[node], ())
    return any(caller in lone or _calls_otherwise(of_node.get(caller)) for caller in nearby)


def _calls_otherwise(item: Item | None) -> bool:
    return item is not None and any(f.change_class is ChangeClass.CALLED for f in item.own)


def _carries_only(
    joined: Joined, item: Item, left: dict[int, Item], right: dict[int, Item]
) -> bool:
    """Whether a slot without partner carries something that differs itself."""
    side, of_node = (joined.lhs, left) if item.rhs == NONE else (joined.rhs, right)
    node = max(item.lhs, item.rhs)
    if side.kinds[node] != NodeKind.SLOT:
        return False
    return any(source in of_node for source in side.feeders(node))


class _Sets:
    """Disjoint sets of items."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.number = {id(item): number for number, item in enumerate(items)}
        self.parent = list(range(len(items)))

    def find(self, number: int) -> int:
        """The number that stands for the set."""
        parent = self.parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, one: Item, other: Item) -> None:
        """Makes two sets one."""
        a, b = self.find(self.number[id(one)]), self.find(self.number[id(other)])
        self.parent[max(a, b)] = min(a, b)

    def groups(self) -> list[list[Item]]:
        """The sets, each in the order of the items."""
        found: dict[int, list[Item]] = defaultdict(list)
        for number, item in enumerate(self.items):
            found[self.find(number)].append(item)
        return list(found.values())
