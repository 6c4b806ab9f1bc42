"""Comparisons of small modules that the report's tests look at."""

from __future__ import annotations

from dataclasses import replace

from hloscope.hlo import read_text
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Claim, Confidence, Evidence, Explanation, Finding, Remedy
from hloscope.model.hlo import StackFrame
from hloscope.model.source import Source, SourceKind
from hloscope.model.units import Measured
from hloscope.pipeline import compare

LHS = """HloModule step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }

%body (carry.1: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {
  %carry.1 = (s32[], f32[8,8]{1,0}) parameter(0)
  %step.2 = s32[] get-tuple-element(%carry.1), index=0
  %one.3 = s32[] constant(1)
  %next.4 = s32[] add(%step.2, %one.3)
  %state.5 = f32[8,8]{1,0} get-tuple-element(%carry.1), index=1
  %dot.6 = f32[8,8]{1,0} dot(%state.5, %state.5), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/layers/mlp/dot_general" source_file="train.py" source_line=12}
  ROOT %tuple.7 = (s32[], f32[8,8]{1,0}) tuple(%next.4, %dot.6)
}

%condition (carry.8: (s32[], f32[8,8])) -> pred[] {
  %carry.8 = (s32[], f32[8,8]{1,0}) parameter(0)
  %step.9 = s32[] get-tuple-element(%carry.8), index=0
  %limit.10 = s32[] constant(12)
  ROOT %less.11 = pred[] compare(%step.9, %limit.10), direction=LT
}

ENTRY %main (w.12: f32[8,8], x.13: f32[8,8]) -> (f32[8,8]) {
  %w.12 = f32[8,8]{1,0} parameter(0), metadata={op_name="params['w']"}
  %x.13 = f32[8,8]{1,0} parameter(1), metadata={op_name="x"}
  %sum.14 = f32[8,8]{1,0} add(%w.12, %x.13)
  %zero.15 = s32[] constant(0)
  %init.16 = (s32[], f32[8,8]{1,0}) tuple(%zero.15, %sum.14)
  %loop.17 = (s32[], f32[8,8]{1,0}) while(%init.16), condition=%condition, body=%body
  %out.18 = f32[8,8]{1,0} get-tuple-element(%loop.17), index=1
  ROOT %result.19 = (f32[8,8]{1,0}) tuple(%out.18)
}
"""  # noqa: E501 - HLO text has no line breaks inside an instruction
RHS = (
    LHS.replace(", input_output_alias={ {0}: (0, {}, may-alias) }", "")
    .replace("add(%w.12, %x.13)", "subtract(%w.12, %x.13)")
    .replace(
        "  ROOT %tuple.7 = (s32[], f32[8,8]{1,0}) tuple(%next.4, %dot.6)",
        "  %copy.20 = f32[8,8]{1,0} copy(%dot.6)\n"
        "  ROOT %tuple.7 = (s32[], f32[8,8]{1,0}) tuple(%next.4, %copy.20)",
    )
)


def source(text: str, label: str) -> Source:
    return Source(label=label, kind=SourceKind.TEXT, module=read_text(text)[0])


def compared(
    lhs: str = LHS, rhs: str = RHS, labels: tuple[str, str] = ("lhs", "rhs")
) -> Comparison:
    """Two modules, with what the test gives as their explanation."""
    comparison = compare(source(lhs, labels[0]), source(rhs, labels[1]))
    return replace(comparison, explain=lambda _: EXPLANATION)


EXPLANATION = Explanation(
    findings=(
        Finding(
            code="DON001",
            title="rhs does not donate params['w'], as lhs does",
            confidence=Confidence.STRUCTURAL,
            claim=Claim(bytes=Measured(3 << 20), moved=Measured(6 << 10)),
            evidence=(Evidence("arguments that outputs take over", "1 of 2", "0 of 2"),),
            path=("layers", "mlp"),
            rhs_frames=(StackFrame("train.py", "step", 12, 0, 0),),
            unknown=("whether the caller reads it again",),
            remedies=(Remedy("donate it", "donate"), Remedy("do not read it again")),
        ),
    ),
    crashes=(),
    analyzers=("donation",),
    accounts={},
)
