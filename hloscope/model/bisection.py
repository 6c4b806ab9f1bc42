"""The search for the first commit that is over a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hloscope.model.comparison import Comparison
from hloscope.model.units import Maybe


class Standing(StrEnum):
    """What a commit was found to be."""

    GOOD = "good"
    BAD = "bad"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A commit whose program was captured, or could not be.

    Attributes:
      commit: full hash.
      subject: the first line of its message.
      value: the metric's; the reason where there is none.
    """

    commit: str
    subject: str
    standing: Standing
    value: Maybe[int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """What a search found.

    Attributes:
      threshold: the highest value that is good.
      tried: every commit looked at, in the order of looking.
      first_bad: the first commit over the threshold; one of `suspects` where there are several.
      last_good: the good commit nearest before it.
      suspects: hashes that the first bad one is among: more than one where commits were skipped.
      comparison: of `last_good` with `first_bad`.
    """

    program: str
    target: str
    metric: str
    over: str
    threshold: float
    tried: tuple[Tried, ...]
    first_bad: Tried
    last_good: Tried
    suspects: tuple[str, ...]
    comparison: Comparison
