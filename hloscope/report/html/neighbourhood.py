"""The graph around a change: both sides in one, never more than a reader can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.changes import Instance
from hloscope.report.html.sides import Side, Sides

STEPS = 3  # away from the change, shown one step at a time
_NODES = 36  # of all steps together
_HUBS = frozenset({"tuple", "parameter", "while", "opt-barrier", "call", "conditional"})
_NEIGHBOURS = 5  # of one node on one side, in one direction; the others are counted


class Node(NamedTuple):
    """An instruction of either side, or a pair of them.

    Attributes:
      distance: steps from the change.
    """

    lhs: Ref | None
    rhs: Ref | None
    distance: int


class Edge(NamedTuple):
    """Nodes by position: `source` is read by `user`, on the sides that are true."""

    source: int
    user: int
    lhs: bool
    rhs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """A piece of both graphs, laid over each other.

    Attributes:
      nodes: nearest to the change first.
      hidden: for each node, how many of its neighbours on lhs and on rhs are left out.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    hidden: tuple[tuple[int, int], ...]


def neighbourhood(sides: Sides, place: Instance) -> Neighbourhood:
    """What lies at most `STEPS` around an instruction, on either side.

    A pair is one node, so that a layout puts both of it at the same spot. Neighbours that differ
    come before those that do not.
    """
    walk = _Walk(sides)
    walk.add(place.lhs, place.rhs, 0)
    reached = 0
    while reached < len(walk.nodes):
        node = walk.nodes[reached]
        if node.distance < STEPS and not (node.distance and walk.is_hub(node)):
            walk.visit(node)
        reached += 1
    edges = tuple(_edges(sides, walk))
    hidden = tuple(_hidden(sides, walk, node) for node in walk.nodes)
    return Neighbourhood(nodes=tuple(walk.nodes), edges=edges, hidden=hidden)


class _Walk:
    def __init__(self, sides: Sides) -> None:
        self.nodes: list[Node] = []
        self.lhs: dict[Ref, int] = {}
        self.rhs: dict[Ref, int] = {}
        self._sides = sides

    def add(self, lhs: Ref | None, rhs: Ref | None, distance: int) -> None:
        if len(self.nodes) >= _NODES or (lhs in self.lhs) or (rhs in self.rhs):
            return
        if lhs is not None:
            self.lhs[lhs] = len(self.nodes)
        if rhs is not None:
            self.rhs[rhs] = len(self.nodes)
        self.nodes.append(Node(lhs, rhs, distance))

    def is_hub(self, node: Node) -> bool:
        """Whether all that a loop carries meets here, which has nothing to do with each other."""
        sides = ((self._sides.lhs, node.lhs), (self._sides.rhs, node.rhs))
        return any(ref and side.instruction(ref).shape.elements
                   and side.instruction(ref).opcode in _HUBS for side, ref in sides)  # fmt: skip

    def visit(self, node: Node) -> None:
        lhs, rhs = self._sides.lhs, self._sides.rhs
        for ref in _around(lhs, node.lhs):
            self.add(ref, lhs.partners.get(ref), node.distance + 1)
        for ref in _around(rhs, node.rhs):
            self.add(rhs.partners.get(ref), ref, node.distance + 1)


def _around(side: Side, ref: Ref | None) -> Iterator[Ref]:
    if ref is not None:
        for neighbours in (side.operands(ref), side.users(ref)):
            yield from _chosen(side, neighbours)


def _chosen(side: Side, neighbours: Sequence[Ref]) -> Sequence[Ref]:
    ranked = sorted(neighbours, key=lambda r: (r not in side.changed and r in side.partners, r))
    return ranked[:_NEIGHBOURS]


def _edges(sides: Sides, walk: _Walk) -> Iterator[Edge]:
    lhs = set(_side_edges(sides.lhs, walk.lhs))
    rhs = set(_side_edges(sides.rhs, walk.rhs))
    for source, user in sorted(lhs | rhs):
        yield Edge(source, user, (source, user) in lhs, (source, user) in rhs)


def _side_edges(side: Side, numbers: dict[Ref, int]) -> Iterator[tuple[int, int]]:
    for ref, user in numbers.items():
        for operand in side.operands(ref):
            if operand in numbers:
                yield numbers[operand], user


def _hidden(sides: Sides, walk: _Walk, node: Node) -> tuple[int, int]:
    return (
        _left_out(sides.lhs, node.lhs, walk.lhs),
        _left_out(sides.rhs, node.rhs, walk.rhs),
    )


def _left_out(side: Side, ref: Ref | None, shown: dict[Ref, int]) -> int:
    if ref is None:
        return 0
    return sum(r not in shown for r in {*side.operands(ref), *side.users(ref)})
