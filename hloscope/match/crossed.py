"""Inputs of one instruction that classes paired crosswise."""

from __future__ import annotations

from hloscope.hlo.edges import Edges
from hloscope.match.partners import Partners
from hloscope.model.canonical import Label


def uncrossed(partners: Partners, lefts: list[int], rights: list[int]) -> list[int]:
    """`rights` with pairs exchanged that are each other's equals.

    Of two constants that one instruction reads, each became the other: the instruction reads them
    in another order, which is one change and not two.
    """
    lhs, rhs = partners.lhs, partners.rhs
    exchanged = list(rights)
    waiting: dict[tuple[Label, Label, frozenset[int]], int] = {}
    for place, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        mine, other = lhs.labels[lhs.label_of[left]], rhs.labels[rhs.label_of[right]]
        if mine == other or lhs.flow.sources[left] or rhs.flow.sources[right]:
            continue
        readers = _readers(partners.edges[0], left)
        twin = waiting.pop((other, mine, readers), None)
        if twin is None:
            waiting[mine, other, readers] = place
        else:
            exchanged[place], exchanged[twin] = exchanged[twin], exchanged[place]
    return exchanged


def _readers(edges: Edges, node: int) -> frozenset[int]:
    return frozenset(user for user, _ in edges.uses(node))
