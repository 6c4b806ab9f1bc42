"""Every check, passed and failed."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace

import pytest

from hloscope.errors import HloscopeError
from hloscope.gate import judge, judge_failure, waive
from hloscope.model.gate import (
    Allowance,
    Baseline,
    Check,
    Direction,
    Figure,
    Gated,
    GateReport,
    GraphBudget,
    Judgement,
    Status,
    Waiver,
)
from hloscope.model.units import Measured, Missing

MakeBaseline = Callable[..., Baseline]
MakeGated = Callable[..., Gated]
TODAY = datetime.date(2026, 6, 1)


def only(judgement: Judgement, name: str) -> Check:
    (check,) = (check for check in judgement.checks if check.name == name)
    return check


@pytest.mark.parametrize(
    ("allowance", "before", "now", "status"),
    [
        (Allowance(), 100, 100, Status.PASSED),
        (Allowance(), 100, 101, Status.REGRESSED),
        (Allowance(), 100, 99, Status.IMPROVED),
        (Allowance(10), 100, 110, Status.PASSED),
        (Allowance(10), 100, 111, Status.REGRESSED),
        (Allowance(0, 0.01), 1000, 1010, Status.PASSED),
        (Allowance(0, 0.01), 1000, 1011, Status.REGRESSED),
        (Allowance(20, 0.01), 1000, 1020, Status.PASSED),  # the larger of the two
        (Allowance(0, 0.5), 0, 1, Status.REGRESSED),  # no share of nothing
        (Allowance(10, 0, Direction.LOWER_IS_WORSE), 100, 89, Status.REGRESSED),
        (Allowance(10, 0, Direction.LOWER_IS_WORSE), 100, 90, Status.PASSED),
        (Allowance(10, 0, Direction.LOWER_IS_WORSE), 100, 111, Status.IMPROVED),
    ],
)
def test_figures(
    baseline: MakeBaseline,
    gated: MakeGated,
    allowance: Allowance,
    before: int,
    now: int,
    status: Status,
) -> None:
    judged = judge(
        gated({"hbm-total": allowance}),
        baseline({"hbm-total": before}),
        baseline({"hbm-total": now}),
        None,
    )
    assert only(judged, "hbm-total").status is status
    assert GateReport(judgements=(judged,)).exit_code == (1 if status is Status.REGRESSED else 0)


def _figure(**fields: object) -> Figure:
    return Figure(**{"value": Measured(1), "unit": "B", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        (None, _figure(), "the baseline does not have it"),
        (_figure(), None, "this capture does not have it"),
        (_figure(value=Missing("no plan")), _figure(), "the baseline does not know it: no plan"),
        (_figure(), _figure(value=Missing("no plan")), "this capture does not know it: no plan"),
        (
            _figure(unknown={"custom call": 1}),
            _figure(unknown={"custom call": 2}),
            "the two leave out different instructions, so their sums cannot be compared",
        ),
    ],
)
def test_a_missing_figure_decides_nothing(
    baseline: MakeBaseline, gated: MakeGated, before: Figure | None, now: Figure | None, reason: str
) -> None:
    sides = [
        replace(baseline(), figures={} if figure is None else {"flops": figure})
        for figure in (before, now)
    ]
    judged = judge(gated({"flops": Allowance()}), sides[0], sides[1], None)
    check = only(judged, "flops")
    assert (check.status, check.reason) == (Status.UNDECIDED, reason)
    assert check.remedy
    assert GateReport(judgements=(judged,)).exit_code == 2


def test_an_axis_that_is_new_starts_from_nothing(baseline: MakeBaseline, gated: MakeGated) -> None:
    program = gated({"sent.fsdp": Allowance()})
    judged = judge(program, baseline(), baseline({"sent.fsdp": 8}), None)
    assert only(judged, "sent.fsdp").status is Status.REGRESSED
    judged = judge(program, baseline({"sent.fsdp": 8}), baseline(), None)
    assert only(judged, "sent.fsdp").status is Status.IMPROVED


def test_what_has_no_budget_is_shown(baseline: MakeBaseline, gated: MakeGated) -> None:
    judged = judge(gated(), baseline({"flops": 1}), baseline({"flops": 9}), None)
    assert only(judged, "flops").status is Status.SHOWN
    assert judged.status is Status.SHOWN


def test_another_environment_decides_nothing(baseline: MakeBaseline, gated: MakeGated) -> None:
    now = baseline(environment={"target": "cpu:1", "compile option xla_x": "true"})
    judged = judge(gated(), baseline(), now, None)
    check = only(judged, "environment")
    assert check.status is Status.UNDECIDED
    assert check.reason == (
        "the baseline is of another environment: compile option xla_x not set -> true, "
        "version jax 0.10.2 -> not set"
    )


@pytest.mark.parametrize(
    ("budget", "graph", "full", "status"),
    [
        (GraphBudget.SAME_GRAPH, "g", "f", Status.PASSED),
        (GraphBudget.SAME_GRAPH, "g", "other", Status.REGRESSED),
        (GraphBudget.SAME_GRAPH, "other", "other", Status.REGRESSED),
        (GraphBudget.SAME_UP_TO_SCHEDULE, "g", "other", Status.PASSED),
        (GraphBudget.SAME_UP_TO_SCHEDULE, "other", "other", Status.REGRESSED),
        (GraphBudget.ANY, "other", "other", Status.SHOWN),
    ],
)
def test_graphs(
    baseline: MakeBaseline,
    gated: MakeGated,
    budget: GraphBudget,
    graph: str,
    full: str,
    status: Status,
) -> None:
    now = baseline(graph_fingerprint=graph, full_fingerprint=full)
    judged = judge(gated(graph=budget), baseline(), now, None)
    assert only(judged, "graph").status is status


def test_a_failed_capture_decides_nothing(gated: MakeGated) -> None:
    error = HloscopeError("no module named 'pkg'", where="pkg:step", remedy="check the path")
    judged = judge_failure(gated(), "capture", error)
    assert judged.checks == (
        Check(
            name="capture",
            status=Status.UNDECIDED,
            reason="pkg:step: no module named 'pkg'",
            remedy="check the path",
        ),
    )


def test_nothing_judged_is_no_pass() -> None:
    assert GateReport(judgements=()).exit_code == 2


def test_a_regression_outweighs_what_is_undecided(gated: MakeGated) -> None:
    failed = Check(name="flops", status=Status.REGRESSED)
    unknown = Check(name="bytes", status=Status.UNDECIDED)
    judged = Judgement(gated=gated(), checks=(failed, unknown))
    assert GateReport(judgements=(judged,)).exit_code == 1


def _waiver(**fields: object) -> Waiver:
    plain = {"program": "st*", "check": "flops", "reason": "known", "expires": TODAY}
    return Waiver(**{**plain, **fields})  # type: ignore[arg-type]


def _regressed(gated: Gated, status: Status = Status.REGRESSED) -> Judgement:
    return Judgement(gated=gated, checks=(Check(name="flops", status=status, reason="more"),))


def test_a_waiver_lets_a_known_regression_pass(gated: MakeGated) -> None:
    report = waive([_regressed(gated())], [_waiver()], TODAY)
    (check,) = report.judgements[0].checks
    assert check.status is Status.WAIVED
    assert check.reason == "more; waived until 2026-06-01: known"
    assert (report.exit_code, report.notes) == (0, ())


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        (
            {"expires": TODAY - datetime.timedelta(days=1)},
            "the waiver of 'flops' for 'st*' expired on 2026-05-31: known",
        ),
        ({"check": "bytes"}, "the waiver of 'bytes' for 'st*' waives nothing: remove it"),
        ({"program": "other"}, "the waiver of 'flops' for 'other' waives nothing: remove it"),
    ],
)
def test_other_waivers_waive_nothing(
    gated: MakeGated, fields: dict[str, object], note: str
) -> None:
    report = waive([_regressed(gated())], [_waiver(**fields)], TODAY)
    assert (report.exit_code, report.notes) == (1, (note,))


def test_what_is_undecided_cannot_be_waived(gated: MakeGated) -> None:
    report = waive([_regressed(gated(), Status.UNDECIDED)], [_waiver()], TODAY)
    assert report.exit_code == 2
