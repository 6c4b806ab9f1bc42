"""Which computation is probably which, while pairs are still being made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hloscope.match.partners import Partners


class Homes:
    """For each lhs computation, the rhs computation that holds most of its partners."""

    def __init__(self, partners: Partners) -> None:
        self.left, self.right = partners.owners
        self.forward: dict[int, int] = {}
        for mine, other, _ in sorted(votes(partners), key=lambda vote: (-vote[2], vote[1])):
            self.forward.setdefault(mine, other)
        self.backward: dict[int, int] = {}
        for mine, other in sorted(self.forward.items()):
            self.backward.setdefault(other, mine)

    def note(self, left: int, right: int) -> None:
        """Takes note of a pair, where nothing is known of its computations."""
        if left < len(self.left) and right < len(self.right):
            mine, other = self.left[left], self.right[right]
            if mine not in self.forward and other not in self.backward:
                self.forward[mine] = other
                self.backward[other] = mine

    def agree(self, left: int, right: int) -> int:
        """1 where two nodes live in the same place, -1 where elsewhere, 0 where unknown."""
        if left >= len(self.left) or right >= len(self.right):
            return 0
        mine, other = self.left[left], self.right[right]
        expected = self.forward.get(mine)
        if expected is not None:
            return 1 if expected == other else -1
        return -1 if other in self.backward else 0


def votes(partners: Partners) -> Iterator[tuple[int, int, int]]:
    """(lhs computation, rhs computation, pairs between them) where there are any."""
    mine, others = (np.array(owners, np.int64) for owners in partners.owners)
    forward = np.frombuffer(partners.forward, np.int64)[: len(mine)]
    visible = np.frombuffer(partners.hidden[0], np.bool_)[: len(mine)] == 0
    counted = np.flatnonzero((forward >= 0) & (forward < len(others)) & visible)
    width = len(partners.rhs.module.computations)
    ballots, counts = np.unique(
        mine[counted] * width + others[forward[counted]], return_counts=True
    )
    lefts, rights = np.divmod(ballots, max(width, 1))
    return zip(lefts.tolist(), rights.tolist(), counts.tolist(), strict=True)
