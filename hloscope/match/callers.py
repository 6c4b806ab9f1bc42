"""Nodes of computations that are called by value: who calls them has a say in their pairs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from hloscope.hlo.edges import Numbers
from hloscope.match.partners import Partners
from hloscope.model.canonical import CanonicalModule

Calls = dict[int, list[tuple[str, int]]]  # computation to (role, caller)


class Callers:
    """Reducers, comparators, shared functions: equal ones are told apart by their callers."""

    def __init__(self, partners: Partners) -> None:
        self._partners = partners
        sides = partners.lhs, partners.rhs
        self._calls = _calls(sides[0]), _calls(sides[1])
        self._around = tuple(map(_around, sides, partners.owners, self._calls))

    def orphans(self, number: int, nodes: Numbers) -> Numbers:
        """Those of one side's nodes that live where no caller is paired."""
        partner = (self._partners.forward, self._partners.backward)[number]
        alone = [
            computation
            for computation, callers in self._calls[number].items()
            if all(partner[caller] < 0 for _, caller in callers)
        ]
        return nodes[np.isin(self._around[number][nodes], alone)]

    def tell(self, left: Numbers, right: Numbers) -> NDArray[np.bool_]:
        """Of pairs of nodes, for which nothing is missing: callers that are paired themselves."""
        mine, others = self._around[0][left], self._around[1][right]
        asked = (mine >= 0) | (others >= 0)
        telling = ~asked
        for place in np.flatnonzero(asked).tolist():
            telling[place] = self._agree(int(mine[place]), int(others[place]))
        return telling

    def _agree(self, left: int, right: int) -> bool:
        """Whether two paired instructions call the two computations in the same role."""
        there, forward = set(self._calls[1].get(right, ())), self._partners.forward
        calls = self._calls[0].get(left, ())
        return any((role, forward[caller]) in there for role, caller in calls)


def _calls(side: CanonicalModule) -> Calls:
    """The callers of each computation that is called by value."""
    found: Calls = defaultdict(list)
    for node, called in side.flow.called.items():
        for role, root in called:
            ref = side.ref(root)
            if ref is not None and side.inlined[ref.computation] < 0:
                found[ref.computation].append((role, node))
    return found


def _around(side: CanonicalModule, owners: list[int], calls: Calls) -> Numbers:
    """Node to the computation called by value that it lives in, if inside a fusion; -1 for none."""
    called = [number if number in calls else -1 for number in range(len(side.inlined))]
    # callees come before their callers
    for number in range(len(called) - 1, -1, -1):
        wrapper = side.inlined[number]
        if wrapper >= 0:
            called[number] = called[owners[wrapper]]
    around = np.full(len(side.label_of), -1)
    around[: len(owners)] = np.array(called, np.int64)[np.array(owners, np.int64)]
    return around
