"""Trying suspected remedies: rhs edited, compiled again, and held against both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hloscope import attribute, diff, sources, store
from hloscope.capture.errands import ErrandOptions, edit, read_programs
from hloscope.capture.identity import CaptureCache
from hloscope.capture.recapturing import other_toolchain, recapture
from hloscope.capture.taking import Options
from hloscope.errors import HloscopeError
from hloscope.explain.proof import closed_metrics, entry_shares, overlap, proven
from hloscope.match import match
from hloscope.model.capture import Capture, Leaf
from hloscope.model.cost import Quantity
from hloscope.model.edits import Edited, EditPlan, LeafPair
from hloscope.model.finding import Metric
from hloscope.model.ledger import DeltaEntry, LedgerDelta
from hloscope.model.proof import PROBE_NAMES, ProbeName, ProbeResult, Proof
from hloscope.model.source import Source
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.normalize import NormalizeOptions
from hloscope.pipeline.comparing import canonical_of, compare, parameter_paths
from hloscope.pipeline.tagged import pair_programs


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveOptions:
    """How remedies are tried.

    Attributes:
      probes: which, all of them where none is named.
      cache: where captures of edited programs may come from and go to.
      timeout: seconds that one compile may take.
      progress: told what is being done.
    """

    probes: tuple[str, ...] = ()
    cache: CaptureCache | None = field(default_factory=store.user_cache)
    timeout: float | None = None
    progress: Callable[[str], None] = lambda _: None


def prove(lhs: Source, rhs: Source, options: ProveOptions = ProveOptions()) -> Proof:
    """What each probe, and all of them together, bring back of the gap between two sides.

    Needs no code of the user's: a capture holds its StableHLO and compile options.

    Args:
      lhs: the baseline, a capture.
      rhs: the candidate, a capture for the same target.
      options: which probes, and how.

    Raises:
      HloscopeError: a side is no capture, the targets differ, a probe does not exist, or the
        toolchain cannot compile what the captures hold.
    """
    return _Proving(lhs, rhs, options).run()


def check_probes(names: Sequence[str]) -> tuple[str, ...]:
    """The probes of those names, all of them for none.

    Raises:
      HloscopeError: there is no such probe.
    """
    for name in names:
        if name not in PROBE_NAMES:
            raise HloscopeError(
                f"unknown probe '{name}'",
                where="--probe",
                remedy=f"one of {', '.join(PROBE_NAMES)}",
            )
    return tuple(dict.fromkeys(names)) or PROBE_NAMES


class _Proving:
    def __init__(self, lhs: Source, rhs: Source, options: ProveOptions) -> None:
        self.options = options
        self.probes = check_probes(options.probes)
        left, right = _capture_of(lhs), _capture_of(rhs)
        if left.target != right.target:
            raise HloscopeError(
                f"the sides are for other targets: '{left.target}' and '{right.target}'",
                remedy="capture both for one target",
            )
        self.toolchain = tuple(dict.fromkeys((*other_toolchain(left), *other_toolchain(right))))
        self.notes: list[str] = []
        self.rhs = self._again(rhs, right)
        # what the probes are held against is what this compiler makes of the other side
        self.lhs = self._again(lhs, left) if other_toolchain(left) else lhs
        self.comparison = compare(self.lhs, self.rhs)

    def run(self) -> Proof:
        gap = self._gap()
        alone, applied = self._alone()
        together = None
        if len(applied) > 1:
            (edited,) = self._edited((tuple(applied),))
            together = self._result(tuple(applied), edited)
        return Proof(
            lhs=self.lhs.label,
            rhs=self.rhs.label,
            target=_capture_of(self.rhs).target,
            toolchain=self.toolchain,
            lhs_figures=_capture_of(self.lhs).memory,
            rhs_figures=_capture_of(self.rhs).memory,
            entry_names=tuple(_entry_name(entry) for entry in gap.entries),
            alone=alone,
            together=together,
            overlap=overlap(alone, together),
            findings=proven(self.comparison.explanation.findings, alone),
            notes=tuple(self.notes),
        )

    def _alone(self) -> tuple[tuple[ProbeResult, ...], list[str]]:
        """Each probe by itself, and those that had something to edit."""
        sets = tuple((name,) for name in self.probes)
        alone = [
            self._result(probes, edited)
            for probes, edited in zip(sets, self._edited(sets), strict=True)
        ]
        return tuple(alone), [result.probes[0] for result in alone if result.done]

    def _edited(self, sets: tuple[tuple[str, ...], ...]) -> tuple[Edited, ...]:
        self.options.progress("editing StableHLO")
        lhs, rhs = _capture_of(self.lhs), _capture_of(self.rhs)
        return edit(lhs, rhs, replace(self.plan, probes=sets), self._errand())

    @property
    def plan(self) -> EditPlan:
        if not hasattr(self, "_plan"):
            self.options.progress("pairing the two programs")
            lhs, rhs = _capture_of(self.lhs), _capture_of(self.rhs)
            left, right = read_programs((lhs, rhs), self._errand())
            paths = parameter_paths(self.lhs), parameter_paths(self.rhs)
            self._plan = EditPlan(
                arguments=_pairs(lhs.inputs, rhs.inputs),
                outputs=_pairs(lhs.outputs, rhs.outputs),
                operations=pair_programs(left, right, *paths).operations,
                probes=(),
            )
        return self._plan

    def _errand(self) -> ErrandOptions:
        return ErrandOptions(timeout=self.options.timeout)

    def _again(self, source: Source, capture: Capture) -> Source:
        """A side compiled anew from its StableHLO, as the probes are."""
        self.options.progress(f"compiling {source.label} again")
        again = recapture(capture, name=capture.program, options=self._taking())
        if not other_toolchain(capture) and again.memory.in_use != capture.memory.in_use:
            self.notes.append(
                f"'{source.label}' compiled again needs other memory than its capture; "
                "the probes are held against the new compile"
            )
        return sources.from_capture(again, label=source.label)

    def _taking(self) -> Options:
        return Options(
            cache=self.options.cache, timeout=self.options.timeout, progress=self.options.progress
        )

    def _result(self, probes: tuple[str, ...], edited: Edited) -> ProbeResult:
        nothing = ProbeResult(probes=probes, done=edited.done, skipped=edited.skipped, metrics={})
        environment = self._environment(probes)
        changed = environment != _capture_of(self.rhs).provenance.environment
        if edited.problem:
            return replace(nothing, failure=f"the edit makes no valid program: {edited.problem}")
        if not edited.stablehlo and not changed:
            return nothing
        self.options.progress(f"compiling {self.rhs.label} with {', '.join(probes)}")
        try:
            capture = recapture(
                _with_leaves(_capture_of(self.rhs), _capture_of(self.lhs), edited),
                name=f"{_capture_of(self.rhs).program}+{'+'.join(probes)}",
                stablehlo=edited.stablehlo or None,
                compile_options=edited.options,
                environment=environment,
                options=self._taking(),
            )
        except HloscopeError as error:
            return replace(nothing, failure=error.problem)
        if changed:
            nothing = replace(nothing, done=(*nothing.done, "environment variables of lhs"))
        return self._measured(nothing, sources.from_capture(capture, label=" + ".join(probes)))

    def _environment(self, probes: Sequence[str]) -> Mapping[str, str]:
        side = self.lhs if ProbeName.FLAGS in probes else self.rhs
        return _capture_of(side).provenance.environment

    def _measured(self, result: ProbeResult, probed: Source) -> ProbeResult:
        entries, elsewhere = entry_shares(
            self._gap(), _memory(self.lhs, probed), _memory(self.rhs, probed)
        )
        return replace(
            result,
            figures=_capture_of(probed).memory,
            metrics=closed_metrics(*(_totals(side) for side in (self.lhs, self.rhs, probed))),
            entries=entries,
            elsewhere=elsewhere,
        )

    def _gap(self) -> LedgerDelta:
        assert self.comparison.memory is not None  # noqa: S101 - captures have their buffers
        return self.comparison.memory


def _capture_of(source: Source) -> Capture:
    if source.capture is None:
        raise HloscopeError(
            f"'{source.label}' is no capture, so it cannot be compiled again",
            remedy="hloscope capture PROGRAM --target TARGET, or name the program itself",
        )
    return source.capture


def _pairs(lhs: Sequence[Leaf], rhs: Sequence[Leaf]) -> tuple[LeafPair, ...]:
    """Leaves that both sides have and that are part of the compiled programs."""
    pairs = []
    for left, right in diff.pair_leaves(lhs, rhs):
        a, b = lhs[left].parameter, rhs[right].parameter
        if a is not None and b is not None:
            pairs.append(LeafPair(a, b, rhs[right].path))
    return tuple(pairs)


def _with_leaves(rhs: Capture, lhs: Capture, edited: Edited) -> Capture:
    """Rhs's records as the edits make them."""
    inputs = _leaves(rhs.inputs, lhs.inputs, edited.arguments)
    outputs = _leaves(rhs.outputs, lhs.outputs, edited.outputs)
    if edited.dropped:
        kept = [leaf for leaf in outputs if leaf.parameter not in edited.dropped]
        outputs = tuple(replace(leaf, parameter=place) for place, leaf in enumerate(kept))
    return replace(rhs, inputs=inputs, outputs=outputs)


def _leaves(
    rhs: Sequence[Leaf], lhs: Sequence[Leaf], edited: Mapping[str, Sequence[LeafPair]]
) -> tuple[Leaf, ...]:
    there = {leaf.parameter: leaf for leaf in lhs}
    changed = {leaf.parameter: leaf for leaf in rhs}
    for probe, pairs in edited.items():
        for pair in pairs:
            leaf, other = changed[pair.rhs], there[pair.lhs]
            changed[pair.rhs] = _like(leaf, other, probe)
    return tuple(leaf if leaf.parameter is None else changed[leaf.parameter] for leaf in rhs)


def _like(leaf: Leaf, other: Leaf, probe: str) -> Leaf:
    if probe == ProbeName.DONATE:
        return replace(leaf, donated=True)
    if probe == ProbeName.DTYPES:
        return replace(leaf, dtype=other.dtype)
    return replace(leaf, sharding=other.sharding, mesh=other.mesh)


def _memory(lhs: Source, rhs: Source) -> LedgerDelta:
    left, right = (canonical_of(side, NormalizeOptions()) for side in (lhs, rhs))
    ledgers = attribute.source_memory(lhs), attribute.source_memory(rhs)
    return attribute.memory_delta(*ledgers, match(left, right))


def _totals(source: Source) -> dict[Metric, Maybe[float]]:
    account = attribute.account_source(source)
    totals = account.cost.totals
    quantities = {
        Metric.FLOPS: totals[Quantity.FLOPS].known,
        Metric.MOVED: totals[Quantity.BYTES_READ].known + totals[Quantity.BYTES_WRITTEN].known,
        Metric.SENT: account.communication.wire_bytes.known,
    }
    in_use = _capture_of(source).memory.in_use
    memory: Maybe[float] = (
        Measured(float(in_use.value)) if isinstance(in_use, Measured) else Missing(in_use.reason)
    )
    return {Metric.BYTES: memory, **{m: Measured(float(v)) for m, v in quantities.items()}}


def _entry_name(entry: DeltaEntry) -> str:
    shown = entry.shown
    where = "/".join(shown.state or entry.path)
    return f"{entry.kind}: {where or shown.name}"
