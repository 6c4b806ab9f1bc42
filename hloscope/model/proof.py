"""What came back when suspected remedies were tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hloscope.model.capture import MemoryFigures
from hloscope.model.finding import Confidence, Finding, Metric
from hloscope.model.showing import Shown, with_units
from hloscope.model.units import Maybe, Measured, Missing

if TYPE_CHECKING:
    import pandas as pd


class ProbeName:
    """Names of the probes; a remedy of a finding names one."""

    DONATE = "donate"
    ARGUMENT_SHARDINGS = "argument-shardings"
    OUTPUT_SHARDINGS = "output-shardings"
    CONSTRAINTS = "constraints"
    BARRIERS = "barriers"
    DTYPES = "dtypes"
    DROP_OUTPUTS = "drop-outputs"
    FLAGS = "flags"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeHelp:
    """What a probe does.

    Attributes:
      does: one phrase.
      keeps_meaning: whether the edited program computes what it did before.
      why: what that rests on, or how far it does not.
    """

    name: str
    does: str
    keeps_meaning: bool
    why: str


PROBES: tuple[ProbeHelp, ...] = (
    ProbeHelp(
        name=ProbeName.DONATE,
        does="donates the arguments that lhs donates",
        keeps_meaning=True,
        why="donation says where results may lie; the caller loses the donated arrays",
    ),
    ProbeHelp(
        name=ProbeName.ARGUMENT_SHARDINGS,
        does="gives arguments the shardings that they have on lhs",
        keeps_meaning=True,
        why="shardings say where parts lie, not what they hold",
    ),
    ProbeHelp(
        name=ProbeName.OUTPUT_SHARDINGS,
        does="gives outputs the shardings that they have on lhs",
        keeps_meaning=True,
        why="shardings say where parts lie, not what they hold",
    ),
    ProbeHelp(
        name=ProbeName.CONSTRAINTS,
        does="constrains the sharding of the values that lhs constrains, and of no others",
        keeps_meaning=True,
        why="shardings say where parts lie, not what they hold",
    ),
    ProbeHelp(
        name=ProbeName.BARRIERS,
        does="puts optimization barriers where lhs has them, and nowhere else",
        keeps_meaning=True,
        why="a barrier hands on its operands as they are",
    ),
    ProbeHelp(
        name=ProbeName.DTYPES,
        does="computes in the dtypes of lhs, parameters and casts included",
        keeps_meaning=False,
        why="results are rounded otherwise",
    ),
    ProbeHelp(
        name=ProbeName.DROP_OUTPUTS,
        does="drops outputs that lhs has not, and reads what a loop stacks unchanged off its input",
        keeps_meaning=False,
        why="the caller no longer gets the outputs that are dropped; all others are the same",
    ),
    ProbeHelp(
        name=ProbeName.FLAGS,
        does="compiles with the XLA flags of lhs",
        keeps_meaning=True,
        why="as far as XLA's flags keep it",
    ),
)
PROBE_NAMES = tuple(probe.name for probe in PROBES)


class Closed(NamedTuple):
    """What a probe brought back of one metric.

    Attributes:
      gap: rhs - lhs, positive is worse.
      closed: rhs - rhs with the probe; what is more than the gap overshoots.
    """

    gap: Maybe[float]
    closed: Maybe[float]

    @property
    def share(self) -> Maybe[float]:
        """Closed part of the gap; 1 is all of it."""
        match self.gap, self.closed:
            case Measured(gap), Measured(closed):
                if gap == 0:
                    return Missing("there is no gap")
                return Measured(closed / gap)
            case Missing(reason), _:
                return Missing(reason)
            case _, Missing(reason):
                return Missing(reason)
        raise AssertionError


class EntryShare(NamedTuple):
    """What a probe brought back of one entry of the memory ledger.

    Attributes:
      entry: position in the ledger delta's entries.
      gap: the entry's bytes, rhs - lhs.
      closed: those of them that the probe brought back.
    """

    entry: int
    gap: int
    closed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult(Shown):
    """rhs with one probe, or with several at once.

    Attributes:
      probes: what was applied.
      done: what was edited, one line each; empty where there was nothing to do.
      skipped: what could not be edited, with the reason.
      failure: why there is no result; empty where there is one.
      figures: device memory of the edited program, `None` where there is no result.
      metrics: what came back; empty where there is no result.
      entries: what came back of each ledger entry; those whose bytes did not move are left out.
      elsewhere: bytes brought back that belong to no entry of the gap; with `entries` they add up
        to what came back in all.
    """

    probes: tuple[str, ...]
    done: tuple[str, ...]
    skipped: tuple[str, ...]
    failure: str = ""
    figures: MemoryFigures | None = None
    metrics: Mapping[Metric, Closed]
    entries: tuple[EntryShare, ...] = ()
    elsewhere: int = 0

    @property
    def ran(self) -> bool:
        """Whether the edited program was compiled."""
        return self.figures is not None

    def frame(self) -> pd.DataFrame:
        """One row per metric; columns as those of `Proof.frame`."""
        return _frame((self,))

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """What came back, each metric in its unit."""
        yield " + ".join(self.probes), _readable(self.frame())


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof(Shown):
    """What came back of the gap between two sides when remedies were tried on rhs.

    Attributes:
      lhs, rhs: what reports call the sides.
      toolchain: how the compiler used here differs from the one of the captures, a text for each
        package; both sides were then compiled anew.
      lhs_figures, rhs_figures: device memory of the sides that the probes are held against.
      entry_names: what each entry of the ledger's delta is.
      alone: each probe by itself.
      together: all that had something to do at once; `None` where fewer than two had.
      overlap: what the probes close alone, added up, less what they close together.
      findings: those of the comparison, PROVEN where their probe closed their claim.
      notes: what the figures leave out, one sentence each.
    """

    lhs: str
    rhs: str
    target: str
    toolchain: tuple[str, ...]
    lhs_figures: MemoryFigures
    rhs_figures: MemoryFigures
    entry_names: tuple[str, ...]
    alone: tuple[ProbeResult, ...]
    together: ProbeResult | None
    overlap: Mapping[Metric, Maybe[float]]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row per probe and metric.

        Columns: `probes` (`+` between), `metric`, `gap`, `closed` (NA where unknown), `share`
        (1 is all of the gap), `edits`, `failure`.
        """
        return _frame((*self.alone, *([self.together] if self.together else [])))

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.lhs} against {self.rhs} on {self.target}, with remedies"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """What came back, each metric in its unit, then the findings that were proven."""
        yield self.shown_title(), _readable(self.frame())
        for finding in self.findings:
            if finding.confidence is Confidence.PROVEN:
                yield from finding.shown_tables()


_UNITS = {
    Metric.BYTES: "B", Metric.MOVED: "B", Metric.SENT: "B", Metric.FLOPS: "FLOP",
    Metric.SECONDS: "s",
}  # fmt: skip


def _frame(results: Sequence[ProbeResult]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        ("+".join(result.probes), str(metric), *map(_value, (*closed, closed.share)),
         len(result.done), result.failure)
        for result in results
        for metric, closed in (result.metrics or _NOTHING).items()
    ]  # fmt: skip
    columns = ["probes", "metric", "gap", "closed", "share", "edits", "failure"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype(dict.fromkeys(("gap", "closed", "share"), "Float64"))


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Figures in their metric's unit, and the share in percent."""
    units = [_UNITS[Metric(name)] for name in frame["metric"]]
    shares = [f"{share:.0%}" for share in frame["share"].fillna(0)]
    frame["share"] = [
        "" if known else text for known, text in zip(frame["share"].isna(), shares, strict=True)
    ]
    return with_units(frame, ("gap", "closed"), units)


_NOTHING = {Metric.BYTES: Closed(Missing("no result"), Missing("no result"))}


def _value(figure: Maybe[float]) -> float | None:
    return figure.value if isinstance(figure, Measured) else None
