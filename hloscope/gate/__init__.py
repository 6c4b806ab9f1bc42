"""What may change and what may not: policies, figures, judgement."""

from hloscope.gate.judging import judge, judge_failure
from hloscope.gate.measuring import METRICS, Side, environment_of, remember
from hloscope.gate.policy import read_policy
from hloscope.gate.waiving import waive

__all__ = [
    "METRICS",
    "Side",
    "environment_of",
    "judge",
    "judge_failure",
    "read_policy",
    "remember",
    "waive",
]
