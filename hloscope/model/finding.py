"""Named causes of a difference, with what each has at stake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hloscope.model.hlo import StackFrame
from hloscope.model.showing import Shown
from hloscope.model.units import Maybe, Measured, Missing

if TYPE_CHECKING:
    import pandas as pd


class Confidence(StrEnum):
    """What a finding rests on, surest first."""

    PROVEN = "proven"  # a probe was run and brought the claim back
    STRUCTURAL = "structural"  # follows from the graphs, inputs or buffers of the two sides
    SUSPECTED = "suspected"  # fits what is seen; something else may be behind it


class Specificity(IntEnum):
    """How far a finding goes: what two findings claim goes to the one that says more."""

    SYMPTOM = 0  # what happened: a copy was added, a buffer grew
    MECHANISM = 1  # how: a residual is stacked in a loop
    CAUSE = 2  # why: a policy is absent, an argument is not donated
    EXACT = 3  # why, of one array whose part in the program is known


class Direction(StrEnum):
    """Which side is better off."""

    WORSE = "worse"  # rhs
    BETTER = "better"  # rhs: the finding is an improvement
    NEUTRAL = "neutral"  # neither, or it cannot be said


class Metric(StrEnum):
    """What a claim counts; each is the name of a field of `Claim`."""

    BYTES = "bytes"  # device memory at peak
    MOVED = "moved"  # bytes read and written in one step on one device
    SENT = "sent"  # bytes that one device sends in one step
    FLOPS = "flops"  # of one step on one device
    SECONDS = "seconds"  # of one step, one kernel after the other


WEIGHTS: Mapping[Metric, int] = {
    Metric.BYTES: 4,
    Metric.MOVED: 2,
    Metric.SENT: 2,
    Metric.FLOPS: 1,
}
"""How much a share of a side's total counts, by metric: memory is what a program fails for, and
work that is done twice mostly shows as traffic too."""

NOT_CLAIMED = Missing("not worked out yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is at stake, rhs - lhs: positive is worse. See `Metric` for the fields.

    A finding that claims nothing in a metric has 0 there; Missing is "it cannot be known".
    """

    bytes: Maybe[int] = NOT_CLAIMED
    moved: Maybe[int] = NOT_CLAIMED
    sent: Maybe[int] = NOT_CLAIMED
    flops: Maybe[int] = NOT_CLAIMED
    seconds: Maybe[float] = NOT_CLAIMED

    def of(self, metric: Metric) -> Maybe[int] | Maybe[float]:
        """The figure of one metric."""
        figure: Maybe[int] | Maybe[float] = getattr(self, metric.value)
        return figure

    def known(self, metric: Metric) -> float:
        """The figure for sorting: 0 where it is unknown."""
        figure = self.of(metric)
        return figure.value if isinstance(figure, Measured) else 0


class Evidence(NamedTuple):
    """One observation; `lhs` and `rhs` are what each side has, `None` where there is nothing."""

    text: str
    lhs: str | None = None
    rhs: str | None = None


class Remedy(NamedTuple):
    """Something worth trying; `probe` is the `hloscope prove` probe that tries it, if any."""

    text: str
    probe: str | None = None


class Shared(NamedTuple):
    """Ledger entries that a finding has a share in and another finding claims.

    Attributes:
      code: of the finding that claims them.
      bytes: device memory at peak that they hold, rhs - lhs.
    """

    code: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Shown):
    """A named cause of a difference.

    An analyzer says which ledger entries it claims. What they add up to (`held`), how much of the
    gap that is (`claim`), and which of them a stronger finding takes (`shared`) is worked out once
    all analyzers have run.

    Attributes:
      code: stable (`DON001`).
      title: one line in an engineer's words that names the thing.
      entries: positions in `Comparison.memory.entries`.
      cost_entries: positions in `Comparison.cost.entries`.
      communication_entries: positions in `Comparison.communication.changes`.
      path: module path, outermost first; empty where none is to be named.
      lhs_frames, rhs_frames: Python frames to look at, most telling first.
      unknown: what the finding does not know, one sentence each.
      first: whether it is to be looked at before all others, whatever it claims: something
        outside the program differs and may be behind everything else, or a side cannot run.
    """

    code: str
    title: str
    confidence: Confidence
    specificity: Specificity = Specificity.MECHANISM
    direction: Direction = Direction.WORSE
    entries: tuple[int, ...] = ()
    cost_entries: tuple[int, ...] = ()
    communication_entries: tuple[int, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    path: tuple[str, ...] = ()
    lhs_frames: tuple[StackFrame, ...] = ()
    rhs_frames: tuple[StackFrame, ...] = ()
    unknown: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    first: bool = False
    claim: Claim = field(default_factory=Claim)
    held: Claim = field(default_factory=Claim)
    shared: tuple[Shared, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row per observation.

        Columns: `evidence`, `lhs`, `rhs` (what each side has, missing where there is nothing).
        """
        import pandas as pd

        return pd.DataFrame(list(self.evidence), columns=["evidence", "lhs", "rhs"])

    def shown_title(self) -> str:
        """What stands above the evidence."""
        return f"{self.code} {self.title} ({self.confidence})"


class Crash(NamedTuple):
    """An analyzer that could not be loaded or run; `analyzer` is its entry point's name."""

    analyzer: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One metric's gap, split: `gap = claimed + unexplained`, exactly.

    A gap is what grew less what shrank. Where findings hold more growth than the gap, because
    something that no finding holds shrank, that much of their growth made up for it and is not
    claimed (`offset`); the same the other way round. So `claimed` is never beyond `gap`.

    Attributes:
      gap: rhs - lhs, as far as both sides are known.
      growth: the sum of all ledger entries that are positive.
      shrinkage: the sum of those that are negative.
      held_growth: the part of `growth` that findings hold.
      held_shrinkage: the part of `shrinkage` that findings hold.
      offset: what findings hold beyond the gap, with the sign of the gap.
    """

    gap: float
    growth: float
    shrinkage: float
    held_growth: float
    held_shrinkage: float
    offset: float

    @property
    def claimed(self) -> float:
        """What findings claim, rhs - lhs."""
        return self.held_growth + self.held_shrinkage - self.offset

    @property
    def unexplained(self) -> float:
        """What no finding claims, rhs - lhs."""
        return self.gap - self.claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Shown):
    """Why two sides differ.

    Attributes:
      findings: what to look at first comes first.
      crashes: analyzers that could not be loaded or run.
      analyzers: names of those that ran, sorted.
      accounts: of every metric; Missing where a side does not have the figure.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "code", "title", "confidence", "bytes", "moved", "sent", "flops", "module", "source_rhs",
    )  # fmt: skip

    findings: tuple[Finding, ...]
    crashes: tuple[Crash, ...]
    analyzers: tuple[str, ...]
    accounts: Mapping[Metric, Maybe[Account]]

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{len(self.findings)} findings"

    def frame(self) -> pd.DataFrame:
        """One row per finding, ranked.

        Columns: `code`, `title`, `confidence`, `direction`, `bytes`, `moved`, `sent`, `flops`,
        `seconds` (claims, rhs - lhs, NA where unknown), `module`, `source_lhs`, `source_rhs`,
        `entries` (ledger entries claimed).
        """
        import pandas as pd

        table = pd.DataFrame([_row(finding) for finding in self.findings], columns=_COLUMNS)
        counts = [metric.value for metric in Metric if metric is not Metric.SECONDS]
        return table.astype({**dict.fromkeys(counts, "Int64"), "seconds": "Float64"})


_COLUMNS = [
    "code", "title", "confidence", "direction", *(m.value for m in Metric), "module", "source_lhs",
    "source_rhs", "entries",
]  # fmt: skip


def _row(finding: Finding) -> dict[str, object]:
    figures = {metric.value: finding.claim.of(metric) for metric in Metric}
    return {
        "code": finding.code,
        "title": finding.title,
        "confidence": str(finding.confidence),
        "direction": str(finding.direction),
        **{name: f.value if isinstance(f, Measured) else None for name, f in figures.items()},
        "module": "/".join(finding.path),
        "source_lhs": _line(finding.lhs_frames),
        "source_rhs": _line(finding.rhs_frames),
        "entries": len(finding.entries),
    }


def _line(frames: tuple[StackFrame, ...]) -> str:
    return f"{frames[0].file}:{frames[0].line}" if frames else ""
