"""Colours that both sides have exactly once."""

from __future__ import annotations

from random import Random

import numpy as np

from hloscope.match.surroundings import alone_on_both


def test_alone_on_both_sides() -> None:
    left = np.array([7, 5, 5, 9, 1, 4], np.uint64)
    right = np.array([1, 5, 8, 7, 4, 4, 9], np.uint64)
    found = alone_on_both(left, right)
    assert [at.tolist() for at in found] == [[0, 3, 4], [3, 6, 0]]


def test_alone_on_both_sides_is_what_counting_says() -> None:
    rng = Random(3)  # noqa: S311 - seeded on purpose
    for _ in range(50):
        left, right = ([rng.randrange(9) for _ in range(rng.randrange(9))] for _ in range(2))
        expected = [
            (k, right.index(c)) for k, c in enumerate(left) if left.count(c) == right.count(c) == 1
        ]
        found = alone_on_both(np.array(left, np.uint64), np.array(right, np.uint64))
        assert list(zip(*(at.tolist() for at in found), strict=True)) == expected
