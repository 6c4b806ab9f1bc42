"""How much of a delta is the code's, how much the tools'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloscope.model.units import Maybe


@dataclass(frozen=True, slots=True, kw_only=True)
class BlameCell:
    """One of the four captures.

    Attributes:
      code: `lhs` or `rhs`, whose program it is.
      tools: `lhs` or `rhs`, whose packages compiled it.
      label: what reports call it.
      figures: metric to value.
      versions: package to version, empty where there is no capture.
      problem: why there is no capture, `None` where there is one.
    """

    code: str
    tools: str
    label: str
    figures: Mapping[str, Maybe[int | float]]
    versions: Mapping[str, str]
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One metric's delta, new code by new tools less old code by old tools.

    Attributes:
      code: what the new code adds by the old tools.
      tools: what the new tools add to the old code.
      both: what is left, that neither adds alone; `code + tools + both = delta`.
    """

    metric: str
    lhs: Maybe[int | float]
    rhs: Maybe[int | float]
    delta: Maybe[int | float]
    code: Maybe[int | float]
    tools: Maybe[int | float]
    both: Maybe[int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Old and new code by old and new tools.

    Attributes:
      cells: old code by old tools, new code by old tools, old code by new tools, new by new.
      shares: one for each metric.
      notes: what figures leave out, one sentence each.
    """

    lhs: str
    rhs: str
    target: str
    cells: tuple[BlameCell, ...]
    shares: tuple[Share, ...]
    notes: tuple[str, ...]
