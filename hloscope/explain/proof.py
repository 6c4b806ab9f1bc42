"""What a probe closed, entry by entry, and which findings that proves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hloscope.model.finding import Confidence, Evidence, Finding, Metric
from hloscope.model.ledger import DeltaEntry, LedgerDelta, LedgerEntry, Value
from hloscope.model.proof import Closed, EntryShare, ProbeResult
from hloscope.model.units import Maybe, Measured, Missing

# a claim counts as closed from this part on: alignment and fragmentation move a few percent
# whenever anything else does
_CLOSED = 0.9

Totals = Mapping[Metric, Maybe[float]]


def closed_metrics(lhs: Totals, rhs: Totals, probed: Totals) -> dict[Metric, Closed]:
    """What came back of each metric that both sides have."""
    return {
        metric: Closed(_minus(rhs[metric], lhs[metric]), _minus(rhs[metric], probed[metric]))
        for metric in Metric
        if metric in rhs
    }


def _minus(left: Maybe[float], right: Maybe[float]) -> Maybe[float]:
    match left, right:
        case Measured(a), Measured(b):
            return Measured(a - b)
        case Missing(reason), _:
            return Missing(reason)
        case _, Missing(reason):
            return Missing(reason)
    raise AssertionError


def entry_shares(
    gap: LedgerDelta, left: LedgerDelta, moved: LedgerDelta
) -> tuple[tuple[EntryShare, ...], int]:
    """What a probe closed of each entry of a gap, and what it closed elsewhere.

    An entry that lhs has a buffer of is followed by that buffer; one of rhs alone by rhs's.

    Args:
      gap: lhs against rhs.
      left: lhs against rhs with the probe.
      moved: rhs against rhs with the probe.
    """
    by_lhs = {key: e.size for e in left.entries if (key := _key(e.lhs)) is not None}
    by_rhs = {key: e.size for e in moved.entries if (key := _key(e.lhs)) is not None}
    shares = []
    for number, entry in enumerate(gap.entries):
        closed = _closed(entry, by_lhs, by_rhs)
        if closed:
            shares.append(EntryShare(number, entry.size, closed))
    total = gap.rhs.total - left.rhs.total
    return tuple(shares), total - sum(share.closed for share in shares)


_Key = Value | tuple[str, str]


def _key(entry: LedgerEntry | None) -> _Key | None:
    """What tells an entry apart on its side."""
    if entry is None:
        return None
    return entry.value if entry.value is not None else (str(entry.category), entry.name)


def _closed(entry: DeltaEntry, by_lhs: Mapping[_Key, int], by_rhs: Mapping[_Key, int]) -> int:
    lhs, rhs = _key(entry.lhs), _key(entry.rhs)
    if lhs is not None:
        return entry.size - by_lhs.get(lhs, 0)
    return -by_rhs.get(rhs, 0) if rhs is not None else 0


def overlap(
    alone: Sequence[ProbeResult], together: ProbeResult | None
) -> dict[Metric, Maybe[float]]:
    """What the probes close alone, added up, less what they close together."""
    if together is None or not together.ran:
        return {}
    ran = [result for result in alone if result.ran]
    found: dict[Metric, Maybe[float]] = {}
    for metric, closed in together.metrics.items():
        total: Maybe[float] = Measured(0.0)
        for result in ran:
            total = _plus(total, result.metrics[metric].closed)
        found[metric] = _minus(total, closed.closed)
    return found


def _plus(left: Maybe[float], right: Maybe[float]) -> Maybe[float]:
    match left, right:
        case Measured(a), Measured(b):
            return Measured(a + b)
        case Missing(), _:
            return left
    return right


def proven(findings: Sequence[Finding], alone: Sequence[ProbeResult]) -> tuple[Finding, ...]:
    """The findings, PROVEN where a probe that one of their remedies names closed their claim."""
    results = {result.probes[0]: result for result in alone if result.ran}
    return tuple(_judged(finding, results) for finding in findings)


def _judged(finding: Finding, results: Mapping[str, ProbeResult]) -> Finding:
    for remedy in finding.remedies:
        result = results.get(remedy.probe or "")
        if result is not None and (metric := _closes(finding, result)) is not None:
            return replace(
                finding,
                confidence=Confidence.PROVEN,
                evidence=(*finding.evidence, _evidence(finding, metric, result)),
            )
    return finding


def _closes(finding: Finding, result: ProbeResult) -> Metric | None:
    """The first metric that the finding claims something of, if the probe closed the claim."""
    for metric in Metric:
        claim = finding.claim.of(metric)
        if not isinstance(claim, Measured) or not claim.value:
            continue
        return metric if _closed_of(finding, metric, result) / claim.value >= _CLOSED else None
    return None


def _closed_of(finding: Finding, metric: Metric, result: ProbeResult) -> float:
    """What came back of what the finding claims; of device memory, in its own ledger entries."""
    if metric is Metric.BYTES and finding.entries:
        own = set(finding.entries)
        return sum(share.closed for share in result.entries if share.entry in own)
    closed = result.metrics[metric].closed if metric in result.metrics else Missing("")
    return closed.value if isinstance(closed, Measured) else 0


def _evidence(finding: Finding, metric: Metric, result: ProbeResult) -> Evidence:
    closed = _closed_of(finding, metric, result)
    claim = finding.claim.known(metric)
    return Evidence(
        f"probe '{result.probes[0]}' brought back {closed:,.0f} of {claim:,.0f} {metric.value}"
    )
