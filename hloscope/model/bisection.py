"""The search for the first commit that is over a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hloscope.model.comparison import Comparison
from hloscope.model.showing import Shown, known, reason, with_units
from hloscope.model.units import Maybe

if TYPE_CHECKING:
    import pandas as pd


class Standing(StrEnum):
    """What a commit was found to be."""

    GOOD = "good"
    BAD = "bad"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Shown):
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
class Bisection(Shown):
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

    def frame(self) -> pd.DataFrame:
        """One row per commit, in the order of looking.

        Columns: `commit`, `subject`, `standing`, `value` (NA where unknown), `unknown` (why).
        """
        import pandas as pd

        rows = [
            (each.commit, each.subject, str(each.standing), known(each.value), reason(each.value))
            for each in self.tried
        ]
        columns = ["commit", "subject", "standing", "value", "unknown"]
        return pd.DataFrame(rows, columns=columns).astype({"value": "Float64"})

    def shown_title(self) -> str:
        """What stands above the commits."""
        where = f"{self.first_bad.commit[:12]} {self.first_bad.subject}"
        more = f" (one of {len(self.suspects)})" if len(self.suspects) > 1 else ""
        return f"{self.metric} of {self.program} on {self.target}: {where}{more}"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The commits, then the last good one against the first bad."""
        unit = "FLOP" if self.metric == "flops" else "B"
        frame = self.frame()
        yield self.shown_title(), with_units(frame, ("value",), [unit] * len(frame))
        yield from self.comparison.shown_tables()
