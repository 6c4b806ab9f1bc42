"""The delta of two cost ledgers, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from hloscope.attribute.cost_totals import seconds_total, total_of
from hloscope.model.canonical import Ref
from hloscope.model.cost import CostDelta, CostEntry, CostLedger, DeltaEntry, Step, add, times
from hloscope.model.units import Maybe, Measured, Missing

_ZERO: Maybe[int] = Measured(0)
Figures = tuple[Maybe[int], Maybe[int], Maybe[int]]


class Paired(Protocol):
    """Two instructions that are the same; `hloscope.model.pairing.Pair` is one."""

    @property
    def lhs(self) -> Ref:
        """The instruction of the left side."""

    @property
    def rhs(self) -> Ref:
        """The instruction of the right side."""


def cost_delta(lhs: CostLedger, rhs: CostLedger, pairing: Iterable[Paired]) -> CostDelta:
    """What each pair of instructions, and each without a partner, adds to the difference.

    Args:
      lhs: the left side's ledger.
      rhs: the right side's ledger.
      pairing: which instruction is which; `Pairing` is iterable so.
    """
    compared = 0
    differing: list[DeltaEntry] = []
    for one, other in _sides(lhs, rhs, pairing):
        compared += 1
        if one is None or other is None or not _equal(lhs, rhs, one, other):
            entry = _compare(lhs, rhs, one, other)
            if _differs(entry):
                differing.append(entry)
    differing.sort(key=_rank)
    return CostDelta(
        lhs=lhs,
        rhs=rhs,
        entries=tuple(differing),
        equal=compared - len(differing),
        flops=total_of(entry.flops for entry in differing),
        transcendentals=total_of(entry.transcendentals for entry in differing),
        bytes=total_of(entry.bytes for entry in differing),
        seconds=seconds_total(entry.seconds for entry in differing),
        uncompared=_uncompared(differing),
    )


def _sides(
    lhs: CostLedger, rhs: CostLedger, pairing: Iterable[Paired]
) -> Iterable[tuple[CostEntry | None, CostEntry | None]]:
    """Every entry of both sides once: pairs, then what has no partner, in module order."""
    left = {entry.ref: entry for entry in lhs.entries}
    right = {entry.ref: entry for entry in rhs.entries}
    for pair in pairing:
        if pair.lhs in left and pair.rhs in right:
            yield left.pop(pair.lhs), right.pop(pair.rhs)
    for entry in left.values():
        yield entry, None
    for entry in right.values():
        yield None, entry


def _equal(lhs: CostLedger, rhs: CostLedger, one: CostEntry, other: CostEntry) -> bool:
    """Whether all figures are known and equal, as nearly all are; a shortcut of `_compare`."""
    if (
        one.executions != other.executions
        or one.flops != other.flops
        or one.transcendentals != other.transcendentals
        or one.bytes_read != other.bytes_read
        or one.bytes_written != other.bytes_written
        or one.ref in lhs.untimed
        or other.ref in rhs.untimed
        or lhs.times.get(one.ref) != rhs.times.get(other.ref)
    ):
        return False
    figures = (one.executions, one.flops, one.transcendentals, one.bytes_read, one.bytes_written)
    return Missing not in map(type, figures)


def per_step(entry: CostEntry | None) -> Figures:
    """FLOPs, transcendentals and bytes of all executions; nothing for no entry."""
    if entry is None:
        return _ZERO, _ZERO, _ZERO
    runs = entry.executions
    moved = add(entry.bytes_read, entry.bytes_written)
    return times(runs, entry.flops), times(runs, entry.transcendentals), times(runs, moved)


def seconds_per_step(ledger: CostLedger, entry: CostEntry | None) -> Maybe[float]:
    """A kernel's time in one step; 0 for what runs inside another kernel."""
    if entry is None:
        return Measured(0.0)
    if entry.ref in ledger.untimed:
        return Missing(ledger.untimed[entry.ref])
    time = ledger.times.get(entry.ref)
    if time is None:
        return Measured(0.0)
    runs = entry.executions
    return Measured(time.seconds * runs.value) if isinstance(runs, Measured) else runs


def _compare(
    lhs: CostLedger, rhs: CostLedger, one: CostEntry | None, other: CostEntry | None
) -> DeltaEntry:
    flops, transcendentals, moved = (
        _minus(after, before) for after, before in zip(per_step(other), per_step(one), strict=True)
    )
    after, before = seconds_per_step(rhs, other), seconds_per_step(lhs, one)
    seconds: Maybe[float]
    if isinstance(after, Measured) and isinstance(before, Measured):
        seconds = Measured(after.value - before.value)
    else:
        seconds = after if isinstance(after, Missing) else before
    return DeltaEntry(one, other, flops, transcendentals, moved, seconds)


def _minus(after: Maybe[int], before: Maybe[int]) -> Maybe[int]:
    if isinstance(after, Missing):
        return after
    return Measured(after.value - before.value) if isinstance(before, Measured) else before


def _differs(entry: DeltaEntry) -> bool:
    """Whether any figure differs; two equal unknowns of the same target do not."""
    figures = (entry.flops, entry.transcendentals, entry.bytes)
    if all(figure == _ZERO for figure in figures) and entry.seconds in (Measured(0.0),):
        return False
    if any(isinstance(figure, Measured) and figure.value for figure in figures):
        return True
    return not _same_unknown(entry)


def _same_unknown(entry: DeltaEntry) -> bool:
    one, other = entry.lhs, entry.rhs
    if one is None or other is None:
        # without work of its own there is nothing to be unknown of
        return all(figure == _ZERO for figure in (entry.flops, entry.bytes))
    same = (one.target, one.shape, one.executions) == (other.target, other.shape, other.executions)
    return same and per_step(one) == per_step(other) and not _timed(entry)


def _timed(entry: DeltaEntry) -> bool:
    return isinstance(entry.seconds, Measured) and entry.seconds.value != 0


def _rank(entry: DeltaEntry) -> tuple[int, int, int, str]:
    def size(figure: Maybe[int]) -> int:
        return -abs(figure.value) if isinstance(figure, Measured) else 0

    unknown = isinstance(entry.bytes, Missing) or isinstance(entry.flops, Missing)
    return size(entry.bytes), size(entry.flops), 0 if unknown else 1, entry.entry.name


def _uncompared(entries: Iterable[DeltaEntry]) -> Step:
    """The known halves of pairs whose other half is unknown."""
    sums = [0, 0, 0]
    for entry in entries:
        deltas = (entry.flops, entry.transcendentals, entry.bytes)
        halves = zip(deltas, per_step(entry.rhs), per_step(entry.lhs), strict=True)
        for number, (delta, after, before) in enumerate(halves):
            if isinstance(delta, Missing):
                sums[number] += _known(after) - _known(before)
    return Step("pairs with one side unknown", *sums)


def _known(figure: Maybe[int]) -> int:
    return figure.value if isinstance(figure, Measured) else 0
