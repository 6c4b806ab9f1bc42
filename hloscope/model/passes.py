"""Where two compiles part: the passes of both sides beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hloscope.model.showing import Shown, with_units
from hloscope.model.units import Bytes, Maybe

if TYPE_CHECKING:
    import pandas as pd


class PassMetric(StrEnum):
    """What is followed through the passes."""

    GRAPH = "graph"  # the program itself, noise removed
    PEAK = "peak"  # device memory at peak, estimated: buffers are assigned after the last pass
    FLOPS = "flops"  # of one step on one device, loops counted as often as they run
    BYTES = "bytes"  # read and written in one step on one device, likewise


class PassStep(NamedTuple):
    """A module that XLA dumped while it ran its passes.

    XLA dumps where a pass changed the module, and where a pipeline starts.

    Attributes:
      number: XLA's number of the dump.
      pipeline: the pipeline that the pass belongs to.
      name: the pass, or `pipeline-start`.
      payload: the capture's payload that holds the module.
    """

    number: int
    pipeline: str
    name: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedStep:
    """A moment of both compiles, and the modules at that moment.

    Attributes:
      lhs_passes: what lhs ran since the moment before; empty where it changed nothing.
      lhs_module: payload of lhs's module at this moment.
    """

    lhs_passes: tuple[PassStep, ...]
    rhs_passes: tuple[PassStep, ...]
    lhs_module: str
    rhs_module: str


class FirstOperation(NamedTuple):
    """An operation of one side's program as the compiler is given it.

    Attributes:
      text: the operation, without its operands' names.
      source: `file:line`, `""` where the program does not say.
    """

    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsPart(Shown):
    """How the programs that the two compilers are given differ.

    Attributes:
      kind: `StableHLO`, or `HLO before optimization` where StableHLO cannot be read here.
      lhs: the first operation that differs; `None` where lhs has nothing there.
      note: what the operations rest on.
    """

    kind: str
    lhs: FirstOperation | None
    rhs: FirstOperation | None
    note: str = ""


class GapChange(NamedTuple):
    """A moment at which the gap (rhs - lhs) of the metric changes.

    Attributes:
      step: position in `PassBisection.steps`; -1 for the input.
      before: the gap before it.
      after: the gap after it.
    """

    step: int
    before: float
    after: float

    @property
    def size(self) -> float:
        """By how much the gap changes."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class PassBisection(Shown):
    """Where two compiles part.

    Attributes:
      lhs, rhs: what reports call the sides.
      lhs_count: modules that lhs dumped.
      inputs: how the inputs of the two compilers differ; `None` where they are the same.
      graph: position in `steps` after which the graphs first differ; -1 where the inputs do,
        `None` where they never do.
      rejoined: position after which the graphs are the same again, to the end; `None` where they
        are not.
      same_at_end: whether the optimized modules are the same.
      figures: the metric at some moments (-1 is the input): (lhs, rhs).
      parts: the first moment at which the gap is not 0; `None` where it always is, or for the
        metric `graph`.
      changes: the largest changes of the gap, largest first.
      totals: the metric's true figures of the optimized modules.
      shown: the step whose two modules are compared in detail.
      modules: how many modules were read, of how many.
      notes: what was estimated, cut short or skipped, one sentence each.
    """

    lhs: str
    rhs: str
    metric: PassMetric
    steps: tuple[AlignedStep, ...]
    lhs_count: int
    rhs_count: int
    inputs: InputsPart | None
    graph: int | None
    rejoined: int | None
    same_at_end: bool
    figures: Mapping[int, tuple[float, float]]
    parts: GapChange | None
    changes: tuple[GapChange, ...]
    totals: tuple[Maybe[Bytes], Maybe[Bytes]] | None
    shown: int | None
    modules: tuple[int, int]
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row per moment of both compiles; -1 is the input.

        Columns: `step`, `lhs`, `rhs` (passes run since the moment before, `, ` between),
        `lhs_metric`, `rhs_metric` (NA where not looked at), `graph` (`differs first`, `same
        again`, or empty).
        """
        import pandas as pd

        marks = {self.rejoined: "same again", self.graph: "differs first"}
        rows = [
            (at, *sides, *self.figures.get(at, (None, None)), marks.get(at, ""))
            for at, sides in enumerate(self._sides(), start=-1)
        ]
        columns = ["step", "lhs", "rhs", "lhs_metric", "rhs_metric", "graph"]
        table = pd.DataFrame(rows, columns=columns)
        return table.astype({"lhs_metric": "Float64", "rhs_metric": "Float64"})

    def _sides(self) -> list[tuple[str, str]]:
        sides = [(_names(step.lhs_passes), _names(step.rhs_passes)) for step in self.steps]
        return [("input", "input"), *sides]

    def shown_title(self) -> str:
        """What stands above the moments."""
        return f"{self.lhs} against {self.rhs}: {self.metric} through the passes"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The moments around the one where the two part."""
        frame = self.frame()
        parted = self.graph if self.parts is None else self.parts.step
        first = max(0, (parted or 0) + 1 - _BEFORE)
        unit = {PassMetric.FLOPS: "FLOP", PassMetric.GRAPH: ""}.get(self.metric, "B")
        near = frame.iloc[first:]
        yield self.shown_title(), with_units(near, ("lhs_metric", "rhs_metric"), [unit] * len(near))


_BEFORE = 3  # moments shown before the one where the two part


def _names(passes: tuple[PassStep, ...]) -> str:
    return ", ".join(each.name for each in passes)
