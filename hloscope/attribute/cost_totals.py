"""Sums of figures of which some are unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hloscope.model.cost import Total
from hloscope.model.units import Maybe, Measured


def total_of(figures: Iterable[Maybe[int]]) -> Total:
    """The sum of the known figures, with the reasons of the others."""
    known = 0
    unknown: Counter[str] = Counter()
    for figure in figures:
        if isinstance(figure, Measured):
            known += figure.value
        else:
            unknown[figure.reason] += 1
    return Total(known, tuple(sorted(unknown.items())))


def seconds_total(figures: Iterable[Maybe[float]]) -> Total:
    """As `total_of`, of times."""
    known = 0.0
    unknown: Counter[str] = Counter()
    for figure in figures:
        if isinstance(figure, Measured):
            known += figure.value
        else:
            unknown[figure.reason] += 1
    return Total(known, tuple(sorted(unknown.items())))
