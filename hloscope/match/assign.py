"""The best assignment among what is left, computation by computation."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from hloscope.match.classes import Sides
from hloscope.match.follow import ACCEPTED, Follower
from hloscope.match.partners import Partners
from hloscope.model.pairing import Rule

# half of what following data flow asks for: here no neighbour needs to be paired
ENOUGH = ACCEPTED / 2 + 0.5


def assign_rest(partners: Partners, sides: Sides) -> None:
    """Pairs leftovers of paired computations where labels and surroundings are close enough."""
    follower = Follower(partners, sides)
    cells = 0
    for lefts, rights in _problems(partners, follower):
        size = len(lefts) * len(rights)
        if size > partners.budget.assignment_size**2:
            partners.notes.append(
                f"left {len(lefts)} and {len(rights)} instructions of one computation unassigned:"
                f" more than the budget of {partners.budget.assignment_size}"
            )
            continue
        cells += size
        if cells > partners.budget.assignment_cells:
            partners.notes.append(
                f"stopped assigning leftovers after {partners.budget.assignment_cells} comparisons"
            )
            return
        _assign(partners, follower, lefts, rights)


def _problems(partners: Partners, follower: Follower) -> list[tuple[list[int], list[int]]]:
    """Unpaired nodes of paired computations, split by opcode, the smallest first."""
    lhs, rhs, homes = partners.lhs, partners.rhs, follower.homes
    left: dict[tuple[int, str], list[int]] = defaultdict(list)
    right: dict[tuple[int, str], list[int]] = defaultdict(list)
    for node in follower.left.open:
        if node < lhs.count:
            computation = homes.forward.get(homes.left[node], -1)
            left[computation, lhs.labels[lhs.label_of[node]].opcode].append(node)
    for node in follower.right.open:
        if node < rhs.count:
            right[homes.right[node], rhs.labels[rhs.label_of[node]].opcode].append(node)
    found = [(left[key], right[key]) for key in sorted(left) if key in right]
    return sorted(found, key=lambda pair: len(pair[0]) * len(pair[1]))


def _assign(partners: Partners, follower: Follower, lefts: list[int], rights: list[int]) -> None:
    scores: NDArray[np.float64] = np.array(
        [[follower.score(a, b) for b in rights] for a in lefts], dtype=np.float64
    )
    rows, columns = linear_sum_assignment(scores, maximize=True)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        score = float(scores[row, column])
        if score >= ENOUGH:
            left, right = lefts[row], rights[column]
            partners.pair(left, right, Rule.SIMILAR, round(min(0.7, score / 10), 2))
