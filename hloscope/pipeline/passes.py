"""Where two compiles part: every pass's module read, compared and counted as far as is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from hloscope import attribute, hlo
from hloscope.errors import HloscopeError
from hloscope.explain import passes_search
from hloscope.explain.passes_align import align, pass_steps
from hloscope.explain.passes_search import INPUT
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule
from hloscope.model.capture import Capture, Depth, PayloadName
from hloscope.model.changes import Place
from hloscope.model.comparison import Comparison
from hloscope.model.cost import Quantity
from hloscope.model.hlo import Module
from hloscope.model.passes import (
    FirstOperation,
    GapChange,
    InputsPart,
    PassBisection,
    PassMetric,
)
from hloscope.model.source import Source, SourceKind
from hloscope.model.units import Bytes, Maybe
from hloscope.normalize import NormalizeOptions, normalize
from hloscope.pipeline.comparing import compare, parameter_paths
from hloscope.pipeline.first_operation import ATTRIBUTES_ALONE, first_change, first_stablehlo

ESTIMATED = (
    "peak is estimated from how long arrays live in the order that each module lists its "
    "instructions, loops and updates in place: XLA assigns buffers after its last pass"
)
_SAMPLED = "the gap was followed on a grid of moments and closer where it changes"

Progress = Callable[[str], None]
FirstOperationOf = Callable[[Source, Source], InputsPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """Where two compiles part.

    Attributes:
      found: the search's outcome.
      change: lhs's module against rhs's at `found.shown`; `None` where nothing is shown.
    """

    found: PassBisection
    change: Comparison | None


class _Fingerprints(NamedTuple):
    graph: str
    full: str


class _Side:
    """One compile's modules; each content is read, hashed and counted once."""

    def __init__(self, source: Source, memo: dict[bytes, _Fingerprints]) -> None:
        self.label = source.label
        self.capture = _with_passes(source)
        self.paths = parameter_paths(source)
        self.steps = pass_steps(self.capture.payloads)
        self._contents: dict[str, bytes] = {}
        self._memo = memo
        self._figures: dict[bytes, float] = {}

    def content(self, payload: str) -> bytes:
        if payload not in self._contents:
            self._contents[payload] = self.capture.payloads[payload]
        return self._contents[payload]

    def canonical(self, payload: str) -> CanonicalModule:
        module = hlo.read_proto(self.content(payload))
        return normalize(module, options=NormalizeOptions(), parameter_paths=self.paths)

    def fingerprints(self, payload: str) -> _Fingerprints:
        content = self.content(payload)
        if content not in self._memo:
            canonical = self.canonical(payload)
            self._memo[content] = _Fingerprints(
                canonical.graph_fingerprint, canonical.full_fingerprint
            )
        return self._memo[content]

    def figure(self, payload: str, metric: PassMetric) -> float:
        content = self.content(payload)
        if content not in self._figures:
            self._figures[content] = _figure(hlo.read_proto(content), metric)
        return self._figures[content]

    def source(self, payload: str) -> Source:
        return Source(
            label=self.label,
            kind=SourceKind.PROTO,
            module=hlo.read_proto(self.content(payload)),
        )

    @property
    def read(self) -> int:
        return len(self._contents)


def _with_passes(source: Source) -> Capture:
    capture = source.capture
    if capture is None or not any(n.startswith(PayloadName.PASSES) for n in capture.payloads):
        raise HloscopeError(
            f"'{source.label}' does not hold the module after every pass",
            remedy=f"hloscope capture PROGRAM --depth {Depth.PASSES}, or name the program itself",
        )
    return capture


def _figure(module: Module, metric: PassMetric) -> float:
    if metric is PassMetric.PEAK:
        return attribute.live_estimate(module)
    totals = attribute.account(module, hlo.trip_count).cost.totals
    if metric is PassMetric.FLOPS:
        return totals[Quantity.FLOPS].known
    return totals[Quantity.BYTES_READ].known + totals[Quantity.BYTES_WRITTEN].known


def bisect_passes(
    lhs: Source,
    rhs: Source,
    metric: PassMetric = PassMetric.GRAPH,
    *,
    progress: Progress = lambda _: None,
    first_operation: FirstOperationOf | None = None,
) -> PassReport:
    """The first pass after which two sides differ, and the one after which a metric parts.

    Args:
      lhs: the baseline, a capture of depth `passes`.
      rhs: the candidate, alike.
      metric: what is followed beside the graph.
      progress: told what is being done.
      first_operation: reads the first operation that differs off the StableHLO of both sides; by
        default in a child process, since it takes jaxlib.

    Raises:
      HloscopeError: a side does not hold the module after every pass.
    """
    return _Bisection(lhs, rhs, metric, progress).run(first_operation or first_stablehlo)


class _Bisection:
    def __init__(self, lhs: Source, rhs: Source, metric: PassMetric, progress: Progress) -> None:
        memo: dict[bytes, _Fingerprints] = {}
        self.sources = lhs, rhs
        self.lhs, self.rhs = _Side(lhs, memo), _Side(rhs, memo)
        self.metric = metric
        self.progress = progress
        given = PayloadName.BEFORE_OPTIMIZATIONS
        self.steps = align(self.lhs.steps, self.rhs.steps, lhs_input=given, rhs_input=given)
        self.figures: dict[int, tuple[float, float]] = {}
        self.notes: list[str] = []

    def run(self, first_operation: FirstOperationOf) -> PassReport:
        count = len(self.steps)
        graph = passes_search.first_difference(count, self._same_graph)
        rejoined = None if graph is None else passes_search.rejoined(count, self._same_graph)
        changes, parts = self._metric(count)
        shown = self._shown(graph, changes)
        found = PassBisection(
            lhs=self.lhs.label,
            rhs=self.rhs.label,
            metric=self.metric,
            steps=self.steps,
            lhs_count=len(self.lhs.steps),
            rhs_count=len(self.rhs.steps),
            inputs=self._inputs(first_operation) if graph == INPUT else None,
            graph=graph,
            rejoined=rejoined,
            same_at_end=self._same_at_end(),
            figures=dict(sorted(self.figures.items())),
            parts=parts,
            changes=passes_search.largest(changes),
            totals=self._totals(),
            shown=shown,
            modules=(self.lhs.read + self.rhs.read, len(self.lhs.steps) + len(self.rhs.steps) + 4),
            notes=(*self._circumstances(), *self.notes),
        )
        return PassReport(found=found, change=self._change(shown))

    def _modules(self, step: int) -> tuple[str, str]:
        if step == INPUT:
            return PayloadName.BEFORE_OPTIMIZATIONS, PayloadName.BEFORE_OPTIMIZATIONS
        return self.steps[step].lhs_module, self.steps[step].rhs_module

    def _same_graph(self, step: int) -> bool:
        self._tell("comparing", step)
        left, right = self._modules(step)
        return self.lhs.content(left) == self.rhs.content(right) or (
            self.lhs.fingerprints(left).graph == self.rhs.fingerprints(right).graph
        )

    def _same_fully(self, step: int) -> bool:
        left, right = self._modules(step)
        return self.lhs.content(left) == self.rhs.content(right) or (
            self.lhs.fingerprints(left).full == self.rhs.fingerprints(right).full
        )

    def _same_at_end(self) -> bool:
        end = PayloadName.OPTIMIZED
        left, right = self.lhs.fingerprints(end), self.rhs.fingerprints(end)
        if left.graph == right.graph and left.full != right.full:
            first = passes_search.first_difference(len(self.steps), self._same_fully)
            where = "in the last stretch" if first is None else f"at moment {first + 1}"
            self.notes.append(f"layouts or schedule alone differ, first {where}")
        return left.graph == right.graph

    def _gap(self, step: int) -> float:
        if step not in self.figures:
            self._tell(f"counting {self.metric}", step)
            left, right = self._modules(step)
            self.figures[step] = (
                self.lhs.figure(left, self.metric),
                self.rhs.figure(right, self.metric),
            )
        return self.figures[step][1] - self.figures[step][0]

    def _metric(self, count: int) -> tuple[tuple[GapChange, ...], GapChange | None]:
        if self.metric is PassMetric.GRAPH:
            return (), None
        changes = passes_search.gap_changes(count, self._gap)
        if len(self.figures) < count + 1:
            self.notes.append(f"{_SAMPLED}: {len(self.figures)} of {count + 1}")
        if self.metric is PassMetric.PEAK:
            self.notes.append(ESTIMATED)
        return changes, passes_search.parting(count, self._gap)

    def _totals(self) -> tuple[Maybe[Bytes], Maybe[Bytes]] | None:
        if self.metric is not PassMetric.PEAK:
            return None
        return self.lhs.capture.memory.in_use, self.rhs.capture.memory.in_use

    def _shown(self, graph: int | None, changes: tuple[GapChange, ...]) -> int | None:
        """Where the metric's gap changes most; for the graph, where the sides part."""
        largest = passes_search.largest(changes)
        return largest[0].step if largest else graph

    def _change(self, shown: int | None) -> Comparison | None:
        if shown is None:
            return None
        self.progress("comparing the two modules where they part")
        left, right = self._modules(shown)
        return compare(self.lhs.source(left), self.rhs.source(right))

    def _inputs(self, first_operation: FirstOperationOf) -> InputsPart:
        self.progress("looking for the first operation that differs")
        try:
            return first_operation(*self.sources)
        except HloscopeError as error:
            self.notes.append(f"StableHLO cannot be read here: {error.problem}")
            return self._first_instruction()

    def _first_instruction(self) -> InputsPart:
        given = PayloadName.BEFORE_OPTIMIZATIONS
        left, right = self.lhs.canonical(given), self.rhs.canonical(given)
        first = first_change(left, right, match(left, right))
        return InputsPart(
            kind="HLO before optimization",
            lhs=_operation(first.lhs) if first else None,
            rhs=_operation(first.rhs) if first else None,
            note="" if first else ATTRIBUTES_ALONE,
        )

    def _circumstances(self) -> tuple[str, ...]:
        versions = [side.capture.provenance.versions for side in (self.lhs, self.rhs)]
        if versions[0] == versions[1]:
            return ()
        return (
            "the sides were compiled by other versions, whose passes may carry other names: "
            "passes without a counterpart are taken together",
        )

    def _tell(self, what: str, step: int) -> None:
        self.progress(f"{what}, pass {step + 1} of {len(self.steps)}")


def _operation(place: Place | None) -> FirstOperation | None:
    if place is None:
        return None
    source = f"{place.frame.file}:{place.frame.line}" if place.frame else ""
    return FirstOperation(place.text, source)
