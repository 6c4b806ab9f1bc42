"""How much of a delta is the code's, how much the tools'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hloscope.model.showing import Shown, known, reason, with_units
from hloscope.model.units import Maybe

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class BlameCell(Shown):
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
class Share(Shown):
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
class Blame(Shown):
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

    def frame(self) -> pd.DataFrame:
        """One row per metric.

        Columns: `metric`, `lhs`, `rhs`, `delta`, `code`, `tools`, `both` (NA where unknown),
        `unknown` (why `delta` is).
        """
        import pandas as pd

        rows = [
            (share.metric, *(known(getattr(share, name)) for name in _SHARES), reason(share.delta))
            for share in self.shares
        ]
        table = pd.DataFrame(rows, columns=["metric", *_SHARES, "unknown"])
        return table.astype(dict.fromkeys(_SHARES, "Float64"))

    def shown_title(self) -> str:
        """What stands above the shares."""
        return f"{self.lhs} against {self.rhs} on {self.target}: the code's part and the tools'"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The shares, then the captures."""
        import pandas as pd

        frame = self.frame()
        units = ["FLOP" if name == "flops" else "B" for name in frame["metric"]]
        yield self.shown_title(), with_units(frame, _SHARES, units)
        rows = [
            (cell.code, cell.tools, cell.label, cell.problem
             or ", ".join(f"{name} {version}" for name, version in sorted(cell.versions.items())))
            for cell in self.cells
        ]  # fmt: skip
        yield "captures", pd.DataFrame(rows, columns=["code", "tools", "program", "versions"])


_SHARES = ("lhs", "rhs", "delta", "code", "tools", "both")
