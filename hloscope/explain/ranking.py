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
# and a symptom with less at stake than this share of a side says nothing against any cause
_SLIGHT = 0.01


def ranked(comparison: Comparison, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, what to look at first first.

    First come differences outside the program (`Finding.first`). The rest go by what they claim, as
    a share of the larger side's total in each metric, device memory counting most, suspicions and
    symptoms less, and slight ones not at all; of equal ones what holds more beyond the gap first,
    then the more specific, what got worse before what got better, what claims more, then by code.
    """
    whole = totals(comparison)

    def key(finding: Finding) -> tuple[object, ...]:
        return (
            not finding.first,
            -_weight(finding, finding.claim, whole),
            -_weight(finding, finding.held, whole),
            -finding.specificity,
            finding.direction is Direction.BETTER,
            -_share(finding.claim, whole),
            finding.code,
            finding.title,
        )

    return tuple(sorted(findings, key=key))


def _weight(finding: Finding, claim: Claim, whole: Mapping[Metric, float]) -> float:
    share = _share(claim, whole)
    if finding.specificity is Specificity.SYMPTOM:
        share *= _SYMPTOM if share >= _SLIGHT else 0
    return share * (_SUSPECTED if finding.confidence is Confidence.SUSPECTED else 1)


def _share(claim: Claim, whole: Mapping[Metric, float]) -> float:
    """What is claimed, of the larger side's totals, device memory counting most."""
    return sum(
        weight * abs(claim.known(metric)) / whole[metric]
        for metric, weight in WEIGHTS.items()
        if whole[metric]
    )
