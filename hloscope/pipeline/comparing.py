"""From two sides to everything that is known about their difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from hloscope import attribute, diff, match
from hloscope.capture import parse_target
from hloscope.diff.verdict import missing_verdict
from hloscope.errors import HloscopeError
from hloscope.hlo.entry_leaves import entry_leaves
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import Stage, StageVerdict
from hloscope.model.comparison import (
    Comparison,
    EnvironmentDifference,
    LeavesDelta,
    SideSummary,
)
from hloscope.model.hlo import Module
from hloscope.model.ledger import LedgerDelta, MemoryLedger
from hloscope.model.pairing import Pairing
from hloscope.model.source import Source
from hloscope.model.target import Target
from hloscope.normalize import NormalizeOptions, normalize
from hloscope.pipeline.collector import collector_paused
from hloscope.pipeline.explaining import Explainer


def compare(lhs: Source, rhs: Source, *, options: NormalizeOptions | None = None) -> Comparison:
    """Runs every stage on two sides.

    Args:
      lhs: the baseline.
      rhs: the candidate.
      options: which noise is removed, all of it by default.
    """
    with collector_paused():
        return _compare(lhs, rhs, options or NormalizeOptions())


def _compare(lhs: Source, rhs: Source, options: NormalizeOptions) -> Comparison:
    left, right = canonical_pair(lhs, rhs, options)
    pairing = match.match(left, right)
    inputs, outputs = _leaves(lhs, rhs)
    target = common_target(lhs, rhs)
    before = ledgers_of(lhs, target)
    after = _relabelled(before, rhs) if _same(lhs, rhs) else ledgers_of(rhs, target)
    return Comparison(
        lhs=lhs,
        rhs=rhs,
        target=target,
        verdicts=_verdicts(lhs, rhs, inputs, left, right, options),
        environment=_environment(lhs, rhs),
        inputs=inputs,
        outputs=outputs,
        lhs_summary=_summary(left),
        rhs_summary=_summary(right),
        pairing=pairing,
        changes=diff.compare(left, right, pairing),
        memory=_memory(lhs, rhs, (before.memory, after.memory), pairing),
        cost=attribute.cost_delta(before.account.cost, after.account.cost, pairing),
        communication=attribute.communication_delta(
            before.account.communication, after.account.communication, pairing
        ),
        explain=Explainer(),
    )


def canonical_of(source: Source, options: NormalizeOptions) -> CanonicalModule:
    """The optimized module of a side without noise; a capture knows its parameters' paths."""
    return normalize(source.module, options=options, parameter_paths=parameter_paths(source))


def canonical_pair(
    lhs: Source, rhs: Source, options: NormalizeOptions
) -> tuple[CanonicalModule, CanonicalModule]:
    """The optimized modules of both sides without noise, worked out once where they are equal."""
    return _canonical_pair((lhs, lhs.module), (rhs, rhs.module), options)


def _canonical_pair(
    lhs: tuple[Source, Module], rhs: tuple[Source, Module], options: NormalizeOptions
) -> tuple[CanonicalModule, CanonicalModule]:
    (left, module), (right, other) = lhs, rhs
    paths, other_paths = parameter_paths(left), parameter_paths(right)
    one = normalize(module, options=options, parameter_paths=paths)
    if module == other and paths == other_paths:
        return one, one
    return one, normalize(other, options=options, parameter_paths=other_paths)


def account_of(source: Source, target: Target | None) -> attribute.Account:
    """What a side computes, moves and sends; with a target, estimated times too."""
    return attribute.account_source(source, chip=target.chip if target else None)


class Ledgers(NamedTuple):
    """All ledgers of one side; `memory` is `None` where it has no buffer assignment."""

    account: attribute.Account
    memory: MemoryLedger | None


def ledgers_of(source: Source, target: Target | None) -> Ledgers:
    """What a side computes, moves, sends and holds."""
    paths = attribute.source_paths(source)
    held = attribute.source_memory(source, paths=paths) if source.buffers is not None else None
    chip = target.chip if target else None
    return Ledgers(attribute.account_source(source, chip=chip, paths=paths), held)


def _same(lhs: Source, rhs: Source) -> bool:
    """Whether both sides are the same but for what they are called."""
    return rhs is lhs or replace(rhs, label=lhs.label) == lhs


def _relabelled(ledgers: Ledgers, source: Source) -> Ledgers:
    """The ledgers of another side that is the same."""
    account = ledgers.account._replace(
        cost=replace(ledgers.account.cost, label=source.label),
        communication=replace(ledgers.account.communication, label=source.label),
    )
    return ledgers._replace(account=account)


def _memory(
    lhs: Source,
    rhs: Source,
    ledgers: tuple[MemoryLedger | None, MemoryLedger | None],
    pairing: Pairing,
) -> LedgerDelta | None:
    before, after = ledgers
    if before is None or after is None:
        return None
    wholes = attribute.whole_of(lhs), attribute.whole_of(rhs)
    return attribute.memory_delta(before, after, pairing, wholes)


def common_target(lhs: Source, rhs: Source) -> Target | None:
    """The target of both sides, `None` where they differ or a side does not say."""
    specs = {source.capture.target if source.capture else None for source in (lhs, rhs)}
    spec = specs.pop() if len(specs) == 1 else None
    if spec is None:
        return None
    try:
        return parse_target(spec)
    except HloscopeError:  # the capture comes from a version that knows more targets
        return None


def parameter_paths(source: Source) -> Mapping[int, str] | None:
    """Tree paths of the entry parameters by number, where the side is a capture."""
    if source.capture is None:
        return None
    return {
        leaf.parameter: leaf.path for leaf in source.capture.inputs if leaf.parameter is not None
    }


def _environment(lhs: Source, rhs: Source) -> tuple[EnvironmentDifference, ...] | None:
    if lhs.capture is None or rhs.capture is None:
        return None
    return diff.compare_environments(lhs.capture, rhs.capture)


def _leaves(lhs: Source, rhs: Source) -> tuple[LeavesDelta | None, LeavesDelta | None]:
    if lhs.capture is not None and rhs.capture is not None:
        return (
            diff.compare_leaves(lhs.capture.inputs, rhs.capture.inputs),
            diff.compare_leaves(lhs.capture.outputs, rhs.capture.outputs),
        )
    if lhs.module.entry is None or rhs.module.entry is None:
        return None, None
    # an entry computation names its parameters, but not its outputs
    left, right = entry_leaves(lhs.module), entry_leaves(rhs.module)
    return diff.compare_leaves(left, right), None


def _verdicts(
    lhs: Source,
    rhs: Source,
    inputs: LeavesDelta | None,
    left: CanonicalModule,
    right: CanonicalModule,
    options: NormalizeOptions,
) -> tuple[StageVerdict, ...]:
    if lhs.before is not None and rhs.before is not None:
        pair = _canonical_pair((lhs, lhs.before), (rhs, rhs.before), options)
        before = diff.hlo_verdict(Stage.BEFORE, *pair)
    else:
        before = missing_verdict(Stage.BEFORE, lhs.before is None, rhs.before is None)
    return (
        diff.inputs_verdict(inputs),
        before,
        diff.hlo_verdict(Stage.OPTIMIZED, left, right),
        diff.buffers_verdict(lhs.buffers, rhs.buffers),
    )


def _summary(canonical: CanonicalModule) -> SideSummary:
    return SideSummary(
        graph_fingerprint=canonical.graph_fingerprint,
        full_fingerprint=canonical.full_fingerprint,
        opcodes=_opcodes(canonical.module),
    )


def _opcodes(module: Module) -> Mapping[str, int]:
    count = Counter(i.opcode for c in module.computations for i in c.instructions)
    return dict(sorted(count.items()))
