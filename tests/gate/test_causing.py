"""What is forbidden, and what the first line names."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console

from hloscope.gate import judge
from hloscope.gate.causing import cause_of
from hloscope.model.comparison import Comparison
from hloscope.model.finding import (
    Claim,
    Confidence,
    Crash,
    Direction,
    Finding,
    Specificity,
)
from hloscope.model.gate import Baseline, Check, Gated, GateReport, Judgement, Status
from hloscope.model.hlo import StackFrame
from hloscope.model.units import Measured
from hloscope.report.gate import gate_document
from hloscope.report.terminal import render

MakeBaseline = Callable[..., Baseline]
MakeGated = Callable[..., Gated]
FAILED = (Check(name="flops", status=Status.REGRESSED),)


def finding(code: str, **fields: object) -> Finding:
    plain = Finding(
        code=code,
        title=f"what {code} says",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        held=Claim(moved=Measured(1)),
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def compared(findings: Sequence[Finding] = (), crashes: Sequence[Crash] = ()) -> Comparison:
    """A comparison whose FLOPs grew by 3 million in a dot."""
    shown = SimpleNamespace(opcode="dot", shape="f32[8,8]{1,0}", source="user/pkg/model.py:7")
    grown = SimpleNamespace(flops=Measured(3_000_000), bytes=Measured(0), entry=shown)
    fewer = SimpleNamespace(flops=Measured(-9), bytes=Measured(0), entry=shown)
    made = SimpleNamespace(
        explanation=SimpleNamespace(findings=tuple(findings), crashes=tuple(crashes)),
        cost=SimpleNamespace(entries=(fewer, grown)),
        memory=None,
        communication=SimpleNamespace(changes=()),
    )
    return cast("Comparison", made)


MOST = "most of it is 3.00 MFLOP more in dot f32[8,8] at pkg/model.py:7"
SYMPTOM = finding("FUS001", specificity=Specificity.SYMPTOM)
FRAME = StackFrame(file="/home/user/pkg/model.py", function="f", line=3, column=0, parent=None)


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([finding("DON001")], "what DON001 says (DON001)"),
        (
            [finding("PRE001", rhs_frames=(FRAME,))],
            "what PRE001 says (PRE001) at pkg/model.py:3",
        ),
        (
            [finding("DON001", direction=Direction.BETTER), finding("INP001")],
            "what INP001 says (INP001)",
        ),
        # other revisions are what a gate compares
        ([finding("ENV005"), finding("INP001")], "what INP001 says (INP001)"),
        # what only happened gives way to a reason, and is not all that grew
        ([SYMPTOM, finding("INP001")], f"what INP001 says (INP001); {MOST}"),
        ([SYMPTOM], f"what FUS001 says (FUS001); {MOST}"),
        (
            [SYMPTOM, finding("SHARD004", confidence=Confidence.SUSPECTED)],
            f"what FUS001 says (FUS001); {MOST}",
        ),
        ([SYMPTOM, finding("INP005", held=Claim())], f"what FUS001 says (FUS001); {MOST}"),
        ([], f"no finding explains it; {MOST}"),
    ],
)
def test_names_a_reason_or_what_grew(findings: list[Finding], said: str) -> None:
    assert cause_of(compared(findings), FAILED) == said


def test_nothing_grew() -> None:
    check = Check(name="hbm-total", status=Status.REGRESSED)
    assert cause_of(compared(), [check]) == "no finding explains it"


@pytest.mark.parametrize(
    ("findings", "crashes", "statuses"),
    [
        ([finding("DON001")], [], [Status.REGRESSED]),
        ([finding("DON001", direction=Direction.BETTER)], [], [Status.PASSED]),
        ([finding("PRE001")], [], [Status.PASSED]),
        ([], [Crash("broken", "ValueError: no")], [Status.UNDECIDED]),
    ],
)
def test_findings_that_may_never_appear(
    baseline: MakeBaseline,
    gated: MakeGated,
    findings: list[Finding],
    crashes: list[Crash],
    statuses: list[Status],
) -> None:
    same = baseline()
    judged = judge(gated(forbid=("DON*",)), same, same, compared(findings, crashes))
    assert [check.status for check in judged.checks if check.name == "findings"] == statuses


def test_equal_programs_have_equal_interfaces_and_figures(baseline: MakeBaseline) -> None:
    plain = baseline({"flops": 1, "compile-seconds": 1})
    assert plain.same_program(baseline({"flops": 1, "compile-seconds": 2}))
    assert not plain.same_program(baseline({"flops": 2}))
    assert not plain.same_program(replace(plain, interface="other"))
    assert not plain.same_program(replace(plain, full_fingerprint="other"))


def test_the_first_line_is_one_line(gated: MakeGated) -> None:
    cause = "a cause " * 30
    judged = Judgement(gated=gated(), checks=FAILED, cause=cause.strip())
    console = Console(file=io.StringIO(), width=40)
    render(gate_document(GateReport(judgements=(judged,))), console)
    first = cast("io.StringIO", console.file).getvalue().splitlines()[0]
    assert first == f"REGRESSED step on cpu:1: {cause.strip()}; flops"
