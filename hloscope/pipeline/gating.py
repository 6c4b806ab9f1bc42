"""A gate from its policy to its report: captures taken, baselines read, each program judged."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from hloscope import attribute, gate, sources
from hloscope.capture import parse_target
from hloscope.errors import HloscopeError
from hloscope.model.comparison import EnvironmentDifference
from hloscope.model.gate import Baseline, Check, Gated, Judgement, Policy, Status
from hloscope.model.source import Source
from hloscope.normalize import NormalizeOptions
from hloscope.pipeline.comparing import account_of, canonical_of, common_target, compare
from hloscope.pipeline.machine import instruction_set
from hloscope.pipeline.opening import CHILD_MEMORY, OpenOptions, is_file, open_source
from hloscope.store import Baselines


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A gated program, captured now."""

    source: Source
    now: Baseline
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """How a gate runs.

    Attributes:
      opening: how programs are captured; target and XLA flags are the policy's.
      jobs: captures at once, `None` for as many as cores and memory allow.
      runs: how often an update compiles each program to see what varies; 1 for not at all.
    """

    opening: OpenOptions = field(default_factory=OpenOptions)
    jobs: int | None = None
    runs: int = 1


def baselines_of(policy: Policy) -> Baselines:
    """Where a policy's baselines lie; with `series`, those of the jax that is installed."""
    root = policy.baselines
    if "://" not in root:
        root = str(Path(policy.file).parent / root)
    return Baselines(root=root, series=_series() if policy.series else "")


def _series() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return "jax-" + ".".join(version("jax").split(".")[:2])
    except PackageNotFoundError:
        raise HloscopeError(
            "jax is not installed, and baselines are kept by its series", remedy="pip install jax"
        ) from None


def judge_programs(
    policy: Policy, programs: Sequence[Gated], options: GateOptions
) -> tuple[Judgement, ...]:
    """Captures each program and judges it; a failure of one is its own judgement."""
    store = baselines_of(policy)
    return _each(programs, options, lambda gated: _judge(gated, store, options.opening))


def update_programs(
    policy: Policy, programs: Sequence[Gated], options: GateOptions
) -> tuple[Judgement, ...]:
    """Makes what the programs are now their baselines.

    Returns:
      How each was judged by its old baseline; a check `baseline` says what was written.
    """
    store = baselines_of(policy)
    return _each(programs, options, lambda gated: _update(gated, store, options))


def _each(
    programs: Sequence[Gated], options: GateOptions, work: Callable[[Gated], Judgement]
) -> tuple[Judgement, ...]:
    with ThreadPoolExecutor(options.jobs or _jobs()) as pool:
        try:
            return tuple(pool.map(work, programs))
        except BaseException:  # Ctrl-C reaches this thread alone
            options.opening.cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise


def _jobs() -> int:
    free = psutil.virtual_memory().available // CHILD_MEMORY
    return int(max(1, min(free, os.cpu_count() or 1)))


def take(gated: Gated, options: OpenOptions) -> Taken:
    """Captures a program and works out its figures.

    Raises:
      HloscopeError: it cannot be captured.
    """
    begun = time.monotonic()
    opening = replace(options, target=gated.target, xla_flags=gated.xla_flags)
    source = open_source(gated.program, opening)
    return Taken(source=source, now=remember(source), seconds=time.monotonic() - begun)


def remember(source: Source) -> Baseline:
    """What a gate remembers of a captured program.

    Raises:
      HloscopeError: the side is no capture.
    """
    if source.capture is None:
        raise HloscopeError(
            f"'{source.label}' is no capture, so nothing says how it was compiled",
            remedy="gate a program, or a file that 'hloscope capture' wrote",
        )
    canonical = canonical_of(source, NormalizeOptions())
    account = account_of(source, common_target(source, source))
    remembered = gate.remember(
        gate.Side(
            capture=source.capture,
            instructions=source.module.instruction_count,
            graph_fingerprint=canonical.graph_fingerprint,
            full_fingerprint=canonical.full_fingerprint,
            memory=attribute.source_memory(source) if source.buffers is not None else None,
            cost=account.cost,
            communication=account.communication,
        )
    )
    return _here(remembered)


def _here(now: Baseline) -> Baseline:
    """A CPU program's baseline with what this machine can compute, which its compiler goes by."""
    if parse_target(now.target).chip.platform != "cpu":
        return now
    machine = {gate.MACHINE: instruction_set()}
    return replace(now, environment=dict(sorted({**now.environment, **machine}.items())))


def _judge(gated: Gated, store: Baselines, options: OpenOptions) -> Judgement:
    try:
        before = store.read(gated.name, gated.target)
    except HloscopeError as error:
        return gate.judge_failure(gated, "baseline", error)
    try:
        taken = take(gated, options)
    except HloscopeError as error:
        return gate.judge_failure(gated, "capture", error)
    try:
        return _against(gated, before, taken, store, options)
    except HloscopeError as error:
        return gate.judge_failure(gated, "baseline", error)


def _against(
    gated: Gated, before: Baseline, taken: Taken, store: Baselines, options: OpenOptions
) -> Judgement:
    changed = gate.environment_changes(before, taken.now)
    has_revision = before.git_revision is not None and not is_file(gated.program)
    if gate.is_toolchain(changed) and has_revision:
        return _apart(gated, before, taken, changed, options)
    if changed or before.same_program(taken.now):
        return gate.judge(gated, before, taken.now, None, seconds=taken.seconds)
    remembered = sources.from_capture(
        store.read_module(gated.name, gated.target), label=f"baseline of {gated.name}"
    )
    before = _same_rules(before, remembered)
    comparison = compare(remembered, taken.source)
    return gate.judge(gated, before, taken.now, comparison, seconds=taken.seconds)


def _same_rules(before: Baseline, remembered: Source) -> Baseline:
    """The baseline with fingerprints as this version of hloscope makes them."""
    again = canonical_of(remembered, NormalizeOptions())
    return replace(
        before,
        graph_fingerprint=again.graph_fingerprint,
        full_fingerprint=again.full_fingerprint,
    )


def _apart(
    gated: Gated,
    before: Baseline,
    taken: Taken,
    changed: tuple[EnvironmentDifference, ...],
    options: OpenOptions,
) -> Judgement:
    """Only the toolchain differs: the baseline's code under the new one parts code from tools."""
    then = replace(gated, program=_at_revision(gated.program, str(before.git_revision)))
    try:
        old_code = taken if then == gated else take(then, options)
    except HloscopeError as error:
        return gate.judge_unparted(gated, before, taken.now, changed, error)
    same = old_code.now.same_program(taken.now)
    comparison = None if same else compare(old_code.source, taken.source)
    code = gate.judge(gated, old_code.now, taken.now, comparison, seconds=taken.seconds)
    tools = gate.judge_tools(gated, before, old_code.now, changed)
    checks = (*code.checks, *tools.checks)
    return replace(code, checks=checks, cause=code.cause or tools.cause, toolchain=changed)


def _at_revision(program: str, revision: str) -> str:
    """The program as it was; one that is of a revision already stays."""
    return program if "@" in program else f"{program}@{revision}"


def _of_figures(judgement: Judgement) -> tuple[Check, ...]:
    """The checks that need no comparison."""
    return tuple(check for check in judgement.checks if check.allowed is not None)


def _update(gated: Gated, store: Baselines, options: GateOptions) -> Judgement:
    try:
        taken = _with_noise(gated, take(gated, options.opening), options)
    except HloscopeError as error:
        return gate.judge_failure(gated, "capture", error)
    capture = taken.source.capture
    assert capture is not None  # noqa: S101 - `remember` has seen to it
    try:
        before = store.read(gated.name, gated.target)
    except HloscopeError:
        before = None
    if before is not None and _says_the_same(before, taken.now):
        return _written(gated, (), "unchanged")
    store.write(gated.name, taken.now, capture)
    if before is None:
        return _written(gated, (), "written")
    changes = gate.judge(gated, before, taken.now, None)
    return _written(gated, _of_figures(changes), "rewritten")


def _says_the_same(before: Baseline, now: Baseline) -> bool:
    """Whether writing the baseline anew would change nothing but what made it."""
    return (
        before.same_program(now)
        and not gate.environment_changes(before, now)
        and now.noise in (None, before.noise)
    )


def _with_noise(gated: Gated, taken: Taken, options: GateOptions) -> Taken:
    if options.runs < 2:
        return taken
    from hloscope.pipeline.noise import measure_noise

    opening = replace(options.opening, target=gated.target, xla_flags=gated.xla_flags)
    noise = measure_noise(gated.program, opening, options.runs)
    return replace(taken, now=replace(taken.now, noise=noise))


def _written(gated: Gated, checks: tuple[Check, ...], how: str) -> Judgement:
    said = Check(name="baseline", status=Status.PASSED, reason=how)
    return Judgement(gated=gated, checks=(said, *checks))
