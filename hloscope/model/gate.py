"""What a gate asks of programs, what it remembers of them, and what it found."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hloscope.model.comparison import Comparison, EnvironmentDifference
from hloscope.model.finding import Finding
from hloscope.model.showing import Shown, known, reason, with_units
from hloscope.model.units import Maybe

if TYPE_CHECKING:
    import pandas as pd

BASELINE_SCHEMA = 1
"""Version of `Baseline` as files hold it."""


NOISY = "compile-seconds"
"""The metric that is never the same twice."""


class Direction(StrEnum):
    """Which way a metric gets worse."""

    HIGHER_IS_WORSE = "higher is worse"
    LOWER_IS_WORSE = "lower is worse"


class GraphBudget(StrEnum):
    """How alike a program's optimized HLO has to stay."""

    SAME_GRAPH = "same-graph"  # equal without noise, layouts and schedule included
    SAME_UP_TO_SCHEDULE = "same-up-to-schedule"  # layouts and schedule may differ
    ANY = "any"


class ToolchainBudget(StrEnum):
    """What becomes of a difference that another toolchain makes to the baseline's own code."""

    JUDGED = "judged"  # as one that the code makes
    SHOWN = "shown"


class Allowance(NamedTuple):
    """How far a metric may get worse: by the larger of the two.

    Attributes:
      absolute: in the metric's unit.
      relative: of the baseline, 0.01 for 1 %; of a baseline of 0 it allows nothing.
    """

    absolute: float = 0
    relative: float = 0
    direction: Direction = Direction.HIGHER_IS_WORSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated(Shown):
    """One program on one target, with what is asked of it.

    Attributes:
      name: the key in the configuration; with several targets one `Gated` for each.
      program: a spec, `package.module:factory?option=value`.
      budgets: metric to allowance; a metric without a budget is shown and not judged.
      forbid: patterns of finding codes that may never appear (`DON001`, `SHARD*`).
    """

    name: str
    program: str
    target: str
    budgets: Mapping[str, Allowance]
    graph: GraphBudget
    forbid: tuple[str, ...] = ()
    xla_flags: Mapping[str, str] = field(default_factory=dict)
    toolchain: ToolchainBudget = ToolchainBudget.JUDGED

    @property
    def label(self) -> str:
        """Name and target."""
        return f"{self.name} on {self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver(Shown):
    """A check that may fail for a while.

    Attributes:
      program: pattern of names.
      check: a metric, `graph`, or a pattern of finding codes.
      expires: the last day on which it holds.
    """

    program: str
    check: str
    reason: str
    expires: datetime.date


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Shown):
    """Everything that a gate's configuration says.

    Attributes:
      file: the configuration file.
      baselines: folder of baselines: absolute, relative to `file`, or a URL (`gs://...`).
      series: whether baselines are kept apart by jax series (`jax-0.12`).
    """

    file: str
    baselines: str
    series: bool
    programs: tuple[Gated, ...]
    waivers: tuple[Waiver, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Shown):
    """One metric of one program.

    Attributes:
      unit: `B`, `FLOP`, `s`, or empty for a count.
      unknown: reason to the number of instructions left out for it; unless empty, the value is a
        lower bound.
    """

    value: Maybe[float]
    unit: str
    unknown: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopBuffer(Shown):
    """One of the largest buffers at the memory peak."""

    bytes: int
    category: str
    shape: str
    module_path: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(Shown):
    """What one metric came to in compiles of the same program."""

    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Shown):
    """What varies between compiles of one program, each in a process of its own.

    Attributes:
      runs: how many there were.
      figures: metric to what it came to, of those that varied; without the compile's time.
      graphs: distinct graphs among them, layouts and schedule included.
      parts: where the graph varied: computations and module paths, sorted.
    """

    runs: int
    figures: Mapping[str, Spread]
    graphs: int
    parts: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per metric that varied: `metric`, `least`, `most`."""
        import pandas as pd

        rows = [(name, each.least, each.most) for name, each in sorted(self.figures.items())]
        return pd.DataFrame(rows, columns=["metric", "least", "most"])

    def shown_title(self) -> str:
        """What stands above the metrics that varied."""
        parts = f"; what varies: {', '.join(self.parts)}" if self.parts else ""
        return f"{self.runs} compiles, {self.graphs} different graphs{parts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Shown):
    """What is remembered of a program; the module lies beside it.

    Attributes:
      schema: version of this record.
      figures: metric to figure.
      graph_fingerprint: of the optimized module without noise, layouts and schedule.
      full_fingerprint: of the optimized module without noise.
      interface: one hash of all input and output leaves.
      environment: versions, XLA flags, variables that steer the compiler, and for CPU targets what
        the machine can compute, by `part name`.
      git_revision: of the program's source; `None` outside a repository, or with changes that were
        not committed.
      top_buffers: largest first.
      noise: what compiling it several times showed to vary; `None` where nobody tried.
    """

    schema: int
    program: str
    target: str
    figures: Mapping[str, Figure]
    graph_fingerprint: str
    full_fingerprint: str
    interface: str
    environment: Mapping[str, str]
    git_revision: str | None
    top_buffers: tuple[TopBuffer, ...]
    noise: Noise | None = None

    def frame(self) -> pd.DataFrame:
        """One row per metric.

        Columns: `metric`, `unit`, `value` (NA where unknown), `unknown` (why, or what it leaves
        out).
        """
        import pandas as pd

        rows = [
            (name, figure.unit, known(figure.value), _unknown(figure))
            for name, figure in sorted(self.figures.items())
        ]
        table = pd.DataFrame(rows, columns=["metric", "unit", "value", "unknown"])
        return table.astype({"value": "Float64"})

    def shown_title(self) -> str:
        """What stands above the metrics."""
        return f"baseline of {self.program} on {self.target}"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The metrics, each in its unit."""
        frame = self.frame()
        readable = with_units(frame, ("value",), list(frame["unit"]))
        yield self.shown_title(), readable.drop(columns="unit")

    def same_program(self, other: Baseline) -> bool:
        """Whether nothing differs that a comparison could show."""
        kept = [
            (b.full_fingerprint, b.interface, {k: v for k, v in b.figures.items() if k != NOISY})
            for b in (self, other)
        ]
        return kept[0] == kept[1]


class Status(StrEnum):
    """How a check ended, worst last."""

    SHOWN = "shown"  # no budget asks for it
    PASSED = "passed"
    IMPROVED = "improved"  # beyond the allowance: the baseline should be tightened
    WAIVED = "waived"
    UNDECIDED = "undecided"
    REGRESSED = "regressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Shown):
    """One thing that was asked.

    Attributes:
      name: a metric, `graph`, `findings`, `baseline`, `environment` or `capture`.
      before, now: the figures of a metric.
      allowed: how far the metric may get worse, in its unit; `None` where it is no metric.
      reason: why it ended so, one sentence; empty for a pass.
      remedy: what to do, for one that could not be decided, has regressed or has improved.
      finding: the finding that is forbidden, of a `findings` check.
    """

    name: str
    status: Status
    before: Figure | None = None
    now: Figure | None = None
    allowed: float | None = None
    reason: str = ""
    remedy: str = ""
    finding: Finding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Shown):
    """One program's checks.

    Attributes:
      cause: the finding that explains most of what has regressed, in one line; empty where nothing
        has, or nothing explains it.
      comparison: baseline against now; `None` where they are equal, or one is not at hand.
      toolchain: what differs in versions alone, where code and tools were judged apart.
      seconds: wall-clock time of taking the capture, for a report to show.
    """

    gated: Gated
    checks: tuple[Check, ...]
    cause: str = ""
    comparison: Comparison | None = None
    toolchain: tuple[EnvironmentDifference, ...] = ()
    seconds: float | None = None

    def frame(self) -> pd.DataFrame:
        """One row per check.

        Columns: `program`, `target`, `check`, `status`, `unit`, `before`, `now`, `allowed` (NA
        where unknown), `reason`, `remedy`.
        """
        import pandas as pd

        head = self.gated.name, self.gated.target
        rows = [(*head, *_check_row(check)) for check in self.checks]
        table = pd.DataFrame(rows, columns=["program", "target", *_CHECK_COLUMNS])
        return table.astype(dict.fromkeys(_AMOUNTS, "Float64"))

    def shown_title(self) -> str:
        """What stands above the checks."""
        cause = f": {self.cause}" if self.cause else ""
        return f"{self.status} {self.gated.name} on {self.gated.target}{cause}"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The checks, each in its unit."""
        frame = self.frame()
        readable = with_units(frame, _AMOUNTS, list(frame["unit"]))
        yield self.shown_title(), readable.drop(columns=["program", "target", "unit"])

    @property
    def status(self) -> Status:
        """The worst of the checks."""
        order = list(Status)
        return max((c.status for c in self.checks), key=order.index, default=Status.UNDECIDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport(Shown):
    """What a gate found.

    Attributes:
      notes: about the configuration: waivers that have expired or that nothing needed.
    """

    judgements: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 passed, 1 regressed, 2 cannot decide; a gate without programs cannot decide."""
        statuses = [judgement.status for judgement in self.judgements]
        if Status.REGRESSED in statuses:
            return 1
        return 2 if Status.UNDECIDED in statuses or not statuses else 0

    def frame(self) -> pd.DataFrame:
        """The checks of all programs; columns as those of `Judgement.frame`."""
        import pandas as pd

        frames = [judgement.frame() for judgement in self.judgements]
        columns = ["program", "target", *_CHECK_COLUMNS]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """How each program ended, then the checks of those that did not pass."""
        import pandas as pd

        judged = self.judgements
        rows = [(j.gated.name, j.gated.target, str(j.status), j.cause) for j in judged]
        title = "; ".join([f"gate, exit code {self.exit_code}", *self.notes])
        yield title, pd.DataFrame(rows, columns=["program", "target", "status", "cause"])
        for judgement in judged:
            if judgement.status in (Status.UNDECIDED, Status.REGRESSED):
                yield from judgement.shown_tables()


_AMOUNTS = ("before", "now", "allowed")
_CHECK_COLUMNS = ("check", "status", "unit", *_AMOUNTS, "reason", "remedy")


def _check_row(check: Check) -> tuple[object, ...]:
    sides = (check.before, check.now)
    unit = next((figure.unit for figure in sides if figure is not None), "")
    amounts = [None if figure is None else known(figure.value) for figure in sides]
    return check.name, str(check.status), unit, *amounts, check.allowed, check.reason, check.remedy


def _unknown(figure: Figure) -> str:
    left_out = [f"{count}x {why}" for why, count in sorted(figure.unknown.items())]
    return "; ".join([reason(figure.value), *left_out]).removeprefix("; ")
