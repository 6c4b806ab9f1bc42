"""Settles who claims what, so that no byte is claimed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hloscope.model.comparison import Comparison
from hloscope.model.finding import (
    Account,
    Claim,
    Confidence,
    Finding,
    Metric,
    Shared,
    Specificity,
)
from hloscope.model.units import Maybe, Measured, Missing

# the ledger that each metric is taken from, by the field of `Finding` that claims its entries
_FIELDS = {
    Metric.BYTES: "entries",
    Metric.MOVED: "cost_entries",
    Metric.SENT: "communication_entries",
    Metric.FLOPS: "cost_entries",
    Metric.SECONDS: "cost_entries",
}
_SUREST = list(Confidence)


class _Ledger(NamedTuple):
    """One metric: each entry's figure, and the gap that they are entries of."""

    figures: Sequence[Maybe[float]]
    gap: Maybe[float]


def settle(
    comparison: Comparison, findings: Iterable[Finding]
) -> tuple[tuple[Finding, ...], Mapping[Metric, Maybe[Account]]]:
    """Gives each ledger entry to one finding, and counts what each has then.

    An entry goes to the strongest of those that claim it: a cause, even a suspected one, before a
    symptom; then the surer one, then the more specific, then the one with more at stake (device
    memory, then bytes moved, sent, FLOPs), then by code.
    The others keep their evidence and say whom they share the entry with.

    What all findings together then hold beyond the gap is taken off the weakest ones' claims (see
    `Account`).

    Returns:
      The findings, strongest first, with `held`, `claim` and `shared` filled in and their entries
      reduced to those that they got; and of each metric how much of the gap is claimed.
    """
    ledgers = {metric: _ledger(comparison, metric) for metric in Metric}
    wanted = [_kept(finding, lambda _field, _position: True) for finding in findings]
    strongest = sorted(wanted, key=lambda finding: _strength(finding, ledgers))
    owners: dict[tuple[str, int], int] = {}
    for number, finding in enumerate(strongest):
        for field in sorted({*_FIELDS.values()}):
            for position in getattr(finding, field):
                owners.setdefault((field, position), number)
    settled = [
        _granted(number, finding, owners, strongest, ledgers)
        for number, finding in enumerate(strongest)
    ]
    cut = {metric: _without_offset(metric, settled, ledgers[metric]) for metric in Metric}
    accounts = {
        metric: _account(metric, settled, cut[metric], ledgers[metric]) for metric in Metric
    }
    claimed = [
        replace(finding, claim=_claims({metric: cut[metric][n] for metric in Metric}))
        for n, finding in enumerate(settled)
    ]
    return tuple(claimed), accounts


def _ledger(comparison: Comparison, metric: Metric) -> _Ledger:
    if metric is Metric.BYTES:
        if comparison.memory is None:
            return _Ledger((), Missing("a side has no buffer assignment"))
        sizes = [Measured(int(entry.size)) for entry in comparison.memory.entries]
        return _Ledger(sizes, Measured(int(comparison.memory.total)))
    if metric is Metric.SENT:
        changes = comparison.communication.changes
        return _Ledger(
            [c.wire_bytes for c in changes],
            Measured(int(comparison.communication.wire_bytes.known)),
        )
    cost = comparison.cost
    if metric is Metric.SECONDS:
        untimed = Missing("no chip is known whose rates times could rest on")
        timed = cost.lhs.times and cost.rhs.times
        seconds = [entry.seconds for entry in cost.entries]
        return _Ledger(seconds, Measured(cost.seconds.known) if timed else untimed)
    name = "bytes" if metric is Metric.MOVED else "flops"
    total, apart = getattr(cost, name).known, getattr(cost.uncompared, name)
    return _Ledger([getattr(e, name) for e in cost.entries], Measured(int(total) + apart))


def _kept(finding: Finding, keep: Callable[[str, int], bool]) -> Finding:
    """The finding with some of its entries, each once, in order."""

    def some(field: str, positions: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted({p for p in positions if keep(field, p)}))

    return replace(
        finding,
        entries=some("entries", finding.entries),
        cost_entries=some("cost_entries", finding.cost_entries),
        communication_entries=some("communication_entries", finding.communication_entries),
    )


def _strength(finding: Finding, ledgers: Mapping[Metric, _Ledger]) -> tuple[object, ...]:
    stakes = [-abs(_sum(_figures(finding, metric, ledgers))) for metric in Metric]
    return (
        finding.specificity is Specificity.SYMPTOM,
        _SUREST.index(finding.confidence),
        -finding.specificity,
        *stakes,
        finding.code,
        finding.title,
    )


def _figures(
    finding: Finding, metric: Metric, ledgers: Mapping[Metric, _Ledger]
) -> list[Maybe[float]]:
    figures = ledgers[metric].figures
    return [figures[position] for position in getattr(finding, _FIELDS[metric])]


def _sum(figures: Iterable[Maybe[float]]) -> float:
    return sum(figure.value for figure in figures if isinstance(figure, Measured))


def _granted(
    number: int,
    finding: Finding,
    owners: Mapping[tuple[str, int], int],
    all_of_them: Sequence[Finding],
    ledgers: Mapping[Metric, _Ledger],
) -> Finding:
    granted = _kept(finding, lambda field, position: owners[field, position] == number)

    held = {m: _held(_figures(granted, m, ledgers), ledgers[m]) for m in Metric}
    return replace(
        granted,
        held=_claims(held),
        shared=_shared(number, finding, owners, all_of_them, ledgers),
    )


def _claims(figures: Mapping[Metric, Maybe[float]]) -> Claim:
    return Claim(
        bytes=_whole(figures[Metric.BYTES]),
        moved=_whole(figures[Metric.MOVED]),
        sent=_whole(figures[Metric.SENT]),
        flops=_whole(figures[Metric.FLOPS]),
        seconds=figures[Metric.SECONDS],
    )


def _whole(figure: Maybe[float]) -> Maybe[int]:
    return Measured(int(figure.value)) if isinstance(figure, Measured) else figure


def _held(figures: Sequence[Maybe[float]], ledger: _Ledger) -> Maybe[float]:
    """The sum; Missing where the gap is, or where nothing is known of what is claimed."""
    if isinstance(ledger.gap, Missing):
        return ledger.gap
    missing = [figure for figure in figures if isinstance(figure, Missing)]
    if missing and len(missing) == len(figures):
        return missing[0]
    return Measured(_sum(figures))


def _shared(
    number: int,
    finding: Finding,
    owners: Mapping[tuple[str, int], int],
    all_of_them: Sequence[Finding],
    ledgers: Mapping[Metric, _Ledger],
) -> tuple[Shared, ...]:
    sizes: dict[str, int] = {}
    figures = ledgers[Metric.BYTES].figures
    for field in sorted({*_FIELDS.values()}):
        for position in getattr(finding, field):
            owner = owners[field, position]
            if owner != number:
                held = int(_sum([figures[position]])) if field == "entries" else 0
                code = all_of_them[owner].code
                sizes[code] = sizes.get(code, 0) + held
    return tuple(Shared(code, size) for code, size in sorted(sizes.items()))


def _without_offset(
    metric: Metric, settled: Sequence[Finding], ledger: _Ledger
) -> list[Maybe[float]]:
    """What each finding holds, less what all hold beyond the gap; the weakest give first."""
    held = [finding.held.of(metric) for finding in settled]
    if isinstance(ledger.gap, Missing):
        return [*held]
    beyond = _beyond(_sum(held), ledger.gap.value)
    cut: list[Maybe[float]] = []
    for figure in reversed(held):
        if isinstance(figure, Measured) and figure.value * beyond > 0:
            taken = min(abs(figure.value), abs(beyond)) * (1 if beyond > 0 else -1)
            beyond -= taken
            figure = Measured(figure.value - taken)
        cut.append(figure)
    return cut[::-1]


def _beyond(held: float, gap: float) -> float:
    """How far what is held goes beyond the gap, 0 where it does not or points the other way."""
    if gap > 0:
        return max(held - gap, 0)
    return min(held - gap, 0) if gap < 0 else held


def _account(
    metric: Metric, settled: Sequence[Finding], cut: Sequence[Maybe[float]], ledger: _Ledger
) -> Maybe[Account]:
    if isinstance(ledger.gap, Missing):
        return ledger.gap
    field = _FIELDS[metric]
    figures = [figure.value if isinstance(figure, Measured) else 0 for figure in ledger.figures]
    positions = sorted({p for finding in settled for p in getattr(finding, field)})
    held = [figures[position] for position in positions]
    growth, shrinkage = (_signed(held, sign) for sign in (1, -1))
    return Measured(
        Account(
            gap=ledger.gap.value,
            growth=_signed(figures, 1),
            shrinkage=_signed(figures, -1),
            held_growth=growth,
            held_shrinkage=shrinkage,
            offset=growth + shrinkage - _sum(cut),
        )
    )


def _signed(figures: Iterable[float], sign: int) -> float:
    return sum(figure for figure in figures if figure * sign > 0)
