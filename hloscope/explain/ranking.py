"""Puts findings in the order to look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hloscope.model.comparison import Comparison
from hloscope.model.finding import (
    WEIGHTS,
    Claim,
    Confidence,
    Direction,
    Finding,
    Metric,
    Specificity,
)
from hloscope.queries.ledgers import totals

# a suspicion comes after what is sure, unless it has twice as much at stake
_SUSPECTED = 0.5
# what only says what happened comes after what says why, unless that explains next to nothing
_SYMPTOM = 0.1


def ranked(comparison: Comparison, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, what to look at first first.

    First come differences outside the program (`Finding.first`). The rest go by what they claim, as
    a share of the larger side's total in each metric, device memory counting most, suspicions and
    symptoms less; of equal ones
    what holds more beyond the gap first, then the more specific, what got worse before what got
    better, then by code.
    """
    whole = totals(comparison)

    def key(finding: Finding) -> tuple[object, ...]:
        return (
            not finding.first,
            -_weight(finding, finding.claim, whole),
            -_weight(finding, finding.held, whole),
            -finding.specificity,
            finding.direction is Direction.BETTER,
            finding.code,
            finding.title,
        )

    return tuple(sorted(findings, key=key))


def _weight(finding: Finding, claim: Claim, whole: Mapping[Metric, float]) -> float:
    share = sum(
        weight * abs(claim.known(metric)) / whole[metric]
        for metric, weight in WEIGHTS.items()
        if whole[metric]
    )
    share *= _SUSPECTED if finding.confidence is Confidence.SUSPECTED else 1
    return share * (_SYMPTOM if finding.specificity is Specificity.SYMPTOM else 1)
