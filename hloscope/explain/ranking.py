"""Puts findings in the order to look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hloscope.model.comparison import Comparison
from hloscope.model.cost import Quantity
from hloscope.model.finding import Claim, Confidence, Direction, Finding, Metric

# how much a share of a side's total counts, by metric: memory is what a program fails for, and
# work that is done twice mostly shows as traffic too
_WEIGHTS = {Metric.BYTES: 4, Metric.MOVED: 2, Metric.SENT: 2, Metric.FLOPS: 1}
# a suspicion comes after what is sure, unless it has twice as much at stake
_SUSPECTED = 0.5


def ranked(comparison: Comparison, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, what to look at first first.

    First come differences outside the program (`Finding.first`). The rest go by what they claim, as
    a share of the larger side's total in each metric, device memory counting most; of equal ones
    what holds more beyond the gap first, then the more specific, what got worse before what got
    better, then by code.
    """
    totals = _totals(comparison)

    def key(finding: Finding) -> tuple[object, ...]:
        return (
            not finding.first,
            -_weight(finding, finding.claim, totals),
            -_weight(finding, finding.held, totals),
            -finding.specificity,
            finding.direction is Direction.BETTER,
            finding.code,
            finding.title,
        )

    return tuple(sorted(findings, key=key))


def _weight(finding: Finding, claim: Claim, totals: Mapping[Metric, float]) -> float:
    share = sum(
        weight * abs(claim.known(metric)) / totals[metric]
        for metric, weight in _WEIGHTS.items()
        if totals[metric]
    )
    return share * (_SUSPECTED if finding.confidence is Confidence.SUSPECTED else 1)


def _totals(comparison: Comparison) -> dict[Metric, float]:
    """The larger side's total of each metric."""
    memory, cost = comparison.memory, (comparison.cost.lhs, comparison.cost.rhs)
    sent = (comparison.communication.lhs, comparison.communication.rhs)
    moved = (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN)
    return {
        Metric.BYTES: max(memory.lhs.total, memory.rhs.total) if memory else 0,
        Metric.MOVED: max(sum(side.totals[q].known for q in moved) for side in cost),
        Metric.SENT: max(side.wire_bytes.known for side in sent),
        Metric.FLOPS: max(side.totals[Quantity.FLOPS].known for side in cost),
    }
