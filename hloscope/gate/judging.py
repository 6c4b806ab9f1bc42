"""Judges a program against what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from hloscope.errors import HloscopeError
from hloscope.gate.causing import cause_of
from hloscope.gate.surrounding import changes_text, environment_changes
from hloscope.model.comparison import Comparison, EnvironmentDifference
from hloscope.model.finding import Direction as Better
from hloscope.model.finding import Finding
from hloscope.model.gate import (
    Allowance,
    Baseline,
    Check,
    Direction,
    Figure,
    Gated,
    GraphBudget,
    Judgement,
    Status,
    ToolchainBudget,
)
from hloscope.model.units import Measured, Missing

UPDATE = "hloscope gate --update {name}"


def judge(
    gated: Gated,
    before: Baseline,
    now: Baseline,
    comparison: Comparison | None,
    *,
    seconds: float | None = None,
) -> Judgement:
    """Judges figures, graph and findings.

    Args:
      gated: what is asked.
      before: what is remembered.
      now: the program as it is.
      comparison: of the two; `None` where the two modules, inputs and figures are equal.
      seconds: how long the capture took.
    """
    elsewhere = environment_changes(before, now)
    if elsewhere:
        return Judgement(gated=gated, checks=_elsewhere(gated, before, now, elsewhere),
                         seconds=seconds)  # fmt: skip
    checks = [
        *_figures(gated, before, now),
        _graph(gated, before, now),
        *_findings(gated, comparison),
    ]
    regressed = any(check.status is Status.REGRESSED for check in checks)
    cause = cause_of(comparison, checks) if regressed and comparison is not None else ""
    return Judgement(
        gated=gated, checks=tuple(checks), cause=cause, comparison=comparison, seconds=seconds
    )


def judge_failure(gated: Gated, name: str, error: HloscopeError) -> Judgement:
    """A judgement that could not be reached: `name` (`capture`, `baseline`) failed."""
    where = f"{error.where}: " if error.where else ""
    remedy = error.remedy or ""
    check = Check(
        name=name, status=Status.UNDECIDED, reason=f"{where}{error.problem}", remedy=remedy
    )
    return Judgement(gated=gated, checks=(check,))


def judge_tools(
    gated: Gated, before: Baseline, again: Baseline, changes: tuple[EnvironmentDifference, ...]
) -> Judgement:
    """Judges what another toolchain makes of the baseline's own code, by figures alone.

    Args:
      gated: what is asked.
      before: what is remembered.
      again: the same code under the toolchain that is installed.
      changes: how the two toolchains differ.
    """
    moved = replace(before, environment=again.environment)
    checks = tuple(
        _of_tools(gated, check)
        for check in _figures(gated, moved, again)
        if check.name in gated.budgets
    )
    regressed = any(check.status is Status.REGRESSED for check in checks)
    cause = f"the toolchain changed: {changes_text(changes)}" if regressed else ""
    return Judgement(gated=gated, checks=checks, cause=cause, toolchain=changes)


def judge_unparted(
    gated: Gated,
    before: Baseline,
    now: Baseline,
    changes: tuple[EnvironmentDifference, ...],
    error: HloscopeError,
) -> Judgement:
    """A judgement where the baseline's code cannot be had under the toolchain that is installed."""
    other, *figures = _elsewhere(gated, before, now, changes)
    where = f" ({error.where})" if error.where else ""
    reason = f"{other.reason}; code and tools cannot be told apart: {error.problem}{where}"
    remedy = f"make the revision available (git fetch --unshallow), or {other.remedy}"
    failed = replace(other, reason=reason, remedy=remedy)
    return Judgement(gated=gated, checks=(failed, *figures), toolchain=changes)


def _of_tools(gated: Gated, check: Check) -> Check:
    """A check of what the toolchain alone changed."""
    named = replace(check, name=f"toolchain: {check.name}")
    return named if gated.toolchain is ToolchainBudget.JUDGED else _shown(named)


def _elsewhere(
    gated: Gated, before: Baseline, now: Baseline, changes: tuple[EnvironmentDifference, ...]
) -> tuple[Check, ...]:
    """Figures of another environment say nothing about the code: they are shown."""
    reason = f"the baseline is of another environment: {changes_text(changes)}"
    remedy = f"go back to that environment, or {UPDATE.format(name=gated.name)}"
    environment = Check(name="environment", status=Status.UNDECIDED, reason=reason, remedy=remedy)
    return (environment, *map(_shown, _figures(gated, before, now)))


def _shown(check: Check) -> Check:
    return replace(check, status=Status.SHOWN, reason="", remedy="")


def _figures(gated: Gated, before: Baseline, now: Baseline) -> Iterator[Check]:
    for name in sorted({*gated.budgets, *before.figures, *now.figures}):
        old, new = before.figures.get(name), now.figures.get(name)
        allowance = gated.budgets.get(name)
        if allowance is None:
            yield Check(name=name, status=Status.SHOWN, before=old, now=new)
            continue
        check = _figure(gated, name, allowance, old, new)
        noise = _noise(name, before) if check.status is not Status.PASSED else ""
        yield replace(check, reason=check.reason + noise)


def _figure(
    gated: Gated, name: str, allowance: Allowance, before: Figure | None, now: Figure | None
) -> Check:
    if name.startswith("sent.") and (before is None) != (now is None):
        # an axis along which nothing was sent, or is any more
        known = before or now
        assert known is not None  # noqa: S101 - one of the two is there
        nothing = Figure(value=Measured(0), unit=known.unit)
        before, now = before or nothing, now or nothing
    problem = _unusable(before, "the baseline") or _unusable(now, "this capture")
    if not problem and before is not None and now is not None and before.unknown != now.unknown:
        problem = "the two leave out different instructions, so their sums cannot be compared"
    if problem:
        remedy = UPDATE.format(name=gated.name)
        if before is not None and isinstance(before.value, Measured):
            remedy = f"a backend that gives it, or no budget for '{name}'"
        return Check(name=name, status=Status.UNDECIDED, before=before, now=now, reason=problem,
                     remedy=remedy)  # fmt: skip
    assert before is not None  # noqa: S101 - `_unusable` says so otherwise
    assert now is not None  # noqa: S101
    return _decided(gated, name, allowance, before, now)


def _unusable(figure: Figure | None, whose: str) -> str:
    if figure is None:
        return f"{whose} does not have it"
    if isinstance(figure.value, Missing):
        return f"{whose} does not know it: {figure.value.reason}"
    return ""


def _noise(name: str, baseline: Baseline) -> str:
    """What is known of a metric that varies from compile to compile; nothing is widened for it."""
    found = baseline.noise.figures.get(name) if baseline.noise is not None else None
    if found is None or baseline.noise is None:
        return ""
    return (
        f"; {baseline.noise.runs} compiles of the baseline came to between {found.least:,.0f} "
        f"and {found.most:,.0f}"
    )


def _decided(gated: Gated, name: str, allowance: Allowance, before: Figure, now: Figure) -> Check:
    old, new = (f.value.value for f in (before, now) if isinstance(f.value, Measured))
    sign = 1 if allowance.direction is Direction.HIGHER_IS_WORSE else -1
    worse = sign * (new - old)
    allowed = max(allowance.absolute, allowance.relative * abs(old))
    status, reason, remedy = Status.PASSED, "", ""
    if worse > allowed:
        status, reason = Status.REGRESSED, "beyond its allowance"
        remedy = f"mend it, or take it on: {UPDATE.format(name=gated.name)}"
    elif worse < -allowed:
        status, reason = Status.IMPROVED, "better by more than its allowance"
        remedy = f"keep it so: {UPDATE.format(name=gated.name)}"
    return Check(name=name, status=status, before=before, now=now, allowed=allowed, reason=reason,
                 remedy=remedy)  # fmt: skip


def _graph(gated: Gated, before: Baseline, now: Baseline) -> Check:
    same_graph = before.graph_fingerprint == now.graph_fingerprint
    same = same_graph and before.full_fingerprint == now.full_fingerprint
    found = "same-graph" if same else "same-up-to-schedule" if same_graph else "different"
    if gated.graph is GraphBudget.ANY:
        return Check(name="graph", status=Status.SHOWN, reason=found)
    held = same or (same_graph and gated.graph is GraphBudget.SAME_UP_TO_SCHEDULE)
    if held:
        return Check(name="graph", status=Status.PASSED, reason=found)
    return Check(
        name="graph",
        status=Status.REGRESSED,
        reason=f"{found}, where {gated.graph} is asked for",
        remedy=f"mend it, or take it on: {UPDATE.format(name=gated.name)}",
    )


def _findings(gated: Gated, comparison: Comparison | None) -> Iterator[Check]:
    if not gated.forbid:
        return
    if comparison is None:
        yield Check(name="findings", status=Status.PASSED)
        return
    explanation = comparison.explanation
    for crash in explanation.crashes:
        yield Check(
            name="findings",
            status=Status.UNDECIDED,
            reason=f"analyzer '{crash.analyzer}' failed: {crash.message}",
            remedy="mend the analyzer, or uninstall it",
        )
    found = [f for f in explanation.findings if _is_forbidden(f, gated.forbid)]
    for finding in found:
        yield Check(
            name="findings",
            status=Status.REGRESSED,
            reason=f"{finding.code} may never appear: {finding.title}",
            remedy=f"hloscope explain {finding.code}",
            finding=finding,
        )
    if not found and not explanation.crashes:
        yield Check(name="findings", status=Status.PASSED)


def _is_forbidden(finding: Finding, patterns: tuple[str, ...]) -> bool:
    """An improvement is nothing to forbid."""
    return finding.direction is not Better.BETTER and any(
        fnmatchcase(finding.code, pattern) for pattern in patterns
    )
