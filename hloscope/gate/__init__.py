"""What may change and what may not: policies, figures, judgement."""

from hloscope.gate.judging import judge, judge_failure, judge_tools, judge_unparted
from hloscope.gate.measuring import METRICS, Side, environment_of, remember
from hloscope.gate.policy import read_policy
from hloscope.gate.surrounding import MACHINE, environment_changes, is_toolchain
from hloscope.gate.waiving import waive

__all__ = [
    "MACHINE",
    "METRICS",
    "Side",
    "environment_changes",
    "environment_of",
    "is_toolchain",
    "judge",
    "judge_failure",
    "judge_tools",
    "judge_unparted",
    "read_policy",
    "remember",
    "waive",
]
