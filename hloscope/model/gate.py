"""What a gate asks of programs, what it remembers of them, and what it found."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from hloscope.model.comparison import Comparison, EnvironmentDifference
from hloscope.model.finding import Finding
from hloscope.model.units import Maybe

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
class Gated:
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

    @property
    def label(self) -> str:
        """Name and target."""
        return f"{self.name} on {self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
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
class Policy:
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
class Figure:
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
class TopBuffer:
    """One of the largest buffers at the memory peak."""

    bytes: int
    category: str
    shape: str
    module_path: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What one metric came to in compiles of the same program."""

    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What is remembered of a program; the module lies beside it.

    Attributes:
      schema: version of this record.
      figures: metric to figure.
      graph_fingerprint: of the optimized module without noise, layouts and schedule.
      full_fingerprint: of the optimized module without noise.
      interface: one hash of all input and output leaves.
      environment: versions, XLA flags, and variables that steer the compiler, by `part name`.
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
class Check:
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
class Judgement:
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

    @property
    def status(self) -> Status:
        """The worst of the checks."""
        order = list(Status)
        return max((c.status for c in self.checks), key=order.index, default=Status.UNDECIDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
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
