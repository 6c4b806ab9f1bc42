"""How alike two stages are."""

from __future__ import annotations

from collections import Counter

from hloscope.model.buffers import Allocation, BufferAssignment
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import Stage, StageVerdict, Verdict
from hloscope.model.comparison import LeavesDelta
from hloscope.model.units import Measured, Missing


def module_verdict(lhs: CanonicalModule, rhs: CanonicalModule) -> Verdict:
    """By fingerprint; identical means that not even names or metadata differ."""
    if lhs.full_fingerprint == rhs.full_fingerprint:
        return Verdict.IDENTICAL if lhs.module == rhs.module else Verdict.SAME_GRAPH
    if lhs.graph_fingerprint == rhs.graph_fingerprint:
        return Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT
    return Verdict.DIFFERENT


def hlo_verdict(stage: Stage, lhs: CanonicalModule, rhs: CanonicalModule) -> StageVerdict:
    """The verdict on HLO before or after optimization."""
    reason = "fingerprints of the modules without noise, with and without layouts and schedule"
    return StageVerdict(stage=stage, verdict=Measured(module_verdict(lhs, rhs)), reason=reason)


def inputs_verdict(delta: LeavesDelta | None) -> StageVerdict:
    """The verdict on inputs; the same leaves under other paths are the same graph."""
    if delta is None:
        return missing_verdict(Stage.INPUTS, True, True)
    verdict = Verdict.IDENTICAL
    if delta.renamed:
        verdict = Verdict.SAME_GRAPH
    if not delta.same:
        verdict = Verdict.DIFFERENT
    reason = "tree paths, shapes, dtypes, shardings, layouts and donation of the inputs"
    return StageVerdict(stage=Stage.INPUTS, verdict=Measured(verdict), reason=reason)


def buffers_verdict(lhs: BufferAssignment | None, rhs: BufferAssignment | None) -> StageVerdict:
    """The verdict on buffers: the same allocations in another order are the same graph."""
    if lhs is None or rhs is None:
        return missing_verdict(Stage.BUFFERS, lhs is None, rhs is None)
    verdict = Verdict.DIFFERENT
    if lhs == rhs:
        verdict = Verdict.IDENTICAL
    elif _allocations(lhs) == _allocations(rhs):
        verdict = Verdict.SAME_GRAPH
    reason = "sizes, memory spaces and kinds of the allocations, whatever their order"
    return StageVerdict(stage=Stage.BUFFERS, verdict=Measured(verdict), reason=reason)


def _allocations(buffers: BufferAssignment) -> Counter[tuple[object, ...]]:
    return Counter(_kind(allocation) for allocation in buffers.allocations)


def _kind(a: Allocation) -> tuple[object, ...]:
    sizes = tuple(sorted(assigned.size for assigned in a.assigned))
    flags = (a.is_thread_local, a.is_tuple, a.is_constant, a.is_entry_parameter, a.maybe_live_out)
    return (a.size, a.color, flags, sizes)


def missing_verdict(stage: Stage, lhs: bool, rhs: bool) -> StageVerdict:
    """No verdict: `lhs` or `rhs` says which side has nothing to compare."""
    sides = "both sides" if lhs and rhs else "lhs" if lhs else "rhs"
    return StageVerdict(
        stage=stage,
        verdict=Missing(f"{sides} without {stage.value}"),
        reason="one side has nothing to compare with",
    )
