"""Which computation is probably which, while pairs are still being made."""

from __future__ import annotations

from collections import Counter, defaultdict

from hloscope.match.partners import Partners


class Homes:
    """For each lhs computation, the rhs computation that holds most of its partners."""

    def __init__(self, partners: Partners) -> None:
        self.left, self.right = partners.owners
        votes: dict[int, Counter[int]] = defaultdict(Counter)
        hidden = partners.hidden[0]
        for node, other in enumerate(partners.forward[: len(self.left)]):
            if 0 <= other < len(self.right) and not hidden[node]:
                votes[self.left[node]][self.right[other]] += 1
        self.forward = {c: _most(counter) for c, counter in votes.items()}
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


def _most(counter: Counter[int]) -> int:
    return min(counter, key=lambda c: (-counter[c], c))
