"""Explains the difference between two memory ledgers, to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hloscope.attribute.cost_shapes import element_count
from hloscope.attribute.memory_match import Partners, match_entries
from hloscope.attribute.memory_parts import growth_parts
from hloscope.attribute.memory_whole import Whole
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Shape
from hloscope.model.ledger import (
    Category,
    DeltaEntry,
    DeltaKind,
    Held,
    LedgerDelta,
    LedgerEntry,
    MemoryLedger,
    Part,
    PathSource,
    Value,
)
from hloscope.model.pairing import Pairing
from hloscope.model.units import Bytes

# XLA's memory spaces by number, as libtpu names them in its memory usage reports
SPACES = {0: "hbm", 1: "vmem", 2: "sync flags", 4: "smem regions", 5: "host", 6: "smem"}
# rests, whose kind follows from their category alone
_RESTS = {
    Category.FRAGMENTATION: DeltaKind.FRAGMENTATION,
    Category.CONSTANT: DeltaKind.CONSTANTS,
    Category.CODE: DeltaKind.CODE,
    Category.UNATTRIBUTED: DeltaKind.UNATTRIBUTED,
}


def _unknown(_: LedgerEntry) -> None:
    """Nobody says how large a value was before it was partitioned."""


def memory_delta(
    lhs: MemoryLedger,
    rhs: MemoryLedger,
    pairing: Pairing | None,
    wholes: tuple[Whole, Whole] = (_unknown, _unknown),
) -> LedgerDelta:
    """Why rhs holds more, or less, than lhs.

    Every entry of either ledger is in exactly one entry of the delta or in an unchanged pair, so
    the entries add up to the difference of the totals.

    Args:
      lhs: the baseline's ledger.
      rhs: the candidate's ledger, of the same memory space.
      pairing: of the two modules; without one, state paths and likeness alone decide.
      wholes: of each side, from `whole_of`: what tells another sharding of a temporary from
        another shape.
    """
    partners = Partners(pairing)
    matched = match_entries(lhs, rhs, partners)
    entries: list[DeltaEntry] = []
    unchanged = 0
    for left, right in matched.pairs:
        before, after = _with_paths(lhs.entries[left], rhs.entries[right])
        if before.size == after.size:
            unchanged += 1
        else:
            entries.append(_resized(before, after, wholes))
    entries += _removed(lhs, rhs, matched.lhs_only, partners.to_rhs)
    entries += _added(lhs, rhs, matched.rhs_only, partners.to_lhs)
    ranked = sorted(entries, key=lambda e: (-abs(e.size), e.kind, e.shown.name, e.shown.offset))
    return LedgerDelta(lhs=lhs, rhs=rhs, entries=tuple(ranked), unchanged=unchanged)


def _resized(lhs: LedgerEntry, rhs: LedgerEntry, wholes: tuple[Whole, Whole]) -> DeltaEntry:
    size = Bytes(rhs.size - lhs.size)
    kind = _RESTS.get(rhs.category, DeltaKind.RESIZED)
    parts: tuple[tuple[Part, Bytes], ...] = ()
    if kind is DeltaKind.RESIZED:
        parts = growth_parts(lhs, rhs, (wholes[0](lhs), wholes[1](rhs)))
    return DeltaEntry(kind=kind, size=size, lhs=lhs, rhs=rhs, parts=parts)


def _with_paths(lhs: LedgerEntry, rhs: LedgerEntry) -> tuple[LedgerEntry, LedgerEntry]:
    """Each side's module path, taken from the partner where it has a surer one or none."""
    ranks = list(PathSource)
    if ranks.index(lhs.path_source) > max(ranks.index(rhs.path_source), _PAIRED):
        return replace(lhs, path=rhs.path, path_source=PathSource.PAIRED), rhs
    if ranks.index(rhs.path_source) > max(ranks.index(lhs.path_source), _PAIRED):
        return lhs, replace(rhs, path=lhs.path, path_source=PathSource.PAIRED)
    return lhs, rhs


_PAIRED = list(PathSource).index(PathSource.PAIRED)


def _added(
    lhs: MemoryLedger, rhs: MemoryLedger, positions: tuple[int, ...], to_lhs: Mapping[Ref, Ref]
) -> Iterator[DeltaEntry]:
    """Memory of rhs alone."""
    kinds = {
        Category.ARGUMENT: DeltaKind.ARGUMENT_ADDED,
        Category.ALIASED: DeltaKind.ARGUMENT_ADDED,
        Category.OUTPUT: DeltaKind.OUTPUT_ADDED,
    }
    reach = _Reach(rhs, lhs, to_lhs)
    for position in positions:
        entry = rhs.entries[position]
        donated = reach.aliased(entry) if entry.category is Category.OUTPUT else None
        if donated is not None:
            yield DeltaEntry(
                kind=DeltaKind.DONATION_LOST, size=entry.size, lhs=donated, rhs=entry,
                note=f"lhs keeps it in the memory of argument {donated.name}",
            )  # fmt: skip
            continue
        kind, note = _alone(entry, kinds, reach, DeltaKind.ONLY_RHS, "lhs")
        yield DeltaEntry(kind=kind, size=entry.size, rhs=entry, note=note)


def _removed(
    lhs: MemoryLedger, rhs: MemoryLedger, positions: tuple[int, ...], to_rhs: Mapping[Ref, Ref]
) -> Iterator[DeltaEntry]:
    """Memory of lhs alone."""
    kinds = {
        Category.ARGUMENT: DeltaKind.ARGUMENT_REMOVED,
        Category.ALIASED: DeltaKind.ARGUMENT_REMOVED,
        Category.OUTPUT: DeltaKind.OUTPUT_REMOVED,
    }
    reach = _Reach(lhs, rhs, to_rhs)
    for position in positions:
        entry = lhs.entries[position]
        size = Bytes(-entry.size)
        donated = reach.aliased(entry) if entry.category is Category.OUTPUT else None
        if donated is not None:
            yield DeltaEntry(
                kind=DeltaKind.DONATION_WON, size=size, lhs=entry, rhs=donated,
                note=f"rhs keeps it in the memory of argument {donated.name}",
            )  # fmt: skip
            continue
        kind, note = _alone(entry, kinds, reach, DeltaKind.ONLY_LHS, "rhs")
        yield DeltaEntry(kind=kind, size=size, lhs=entry, note=note)


def _alone(
    entry: LedgerEntry,
    kinds: Mapping[Category, DeltaKind],
    reach: _Reach,
    otherwise: DeltaKind,
    other: str,
) -> tuple[DeltaKind, str]:
    kind = _RESTS.get(entry.category) or kinds.get(entry.category)
    if kind is not None:
        return kind, ""
    held = reach.held(entry)
    if held is not None:
        return DeltaKind.LIFETIME, _elsewhere(held, reach.ledger, other)
    return otherwise, ""


def _elsewhere(held: Held, ledger: MemoryLedger, side: str) -> str:
    if held.space != ledger.space:
        return f"in {SPACES.get(held.space, f'memory space {held.space}')} on {side}"
    if held.category in (Category.TEMPORARY, Category.TABLE):
        return f"not live at {side}'s peak" if ledger.at_peak else f"not live then on {side}"
    return f"in the memory of an {held.category} on {side}"


class _Reach:
    """What the other side does with a value.

    One memory serves many values in turn, and a loop's elements have other positions on the other
    side: a value's partner is the same buffer only where it has as many elements.
    """

    def __init__(
        self, own: MemoryLedger, ledger: MemoryLedger, partners: Mapping[Ref, Ref]
    ) -> None:
        self.ledger = ledger
        self._own = own
        self._partners = partners
        self._entries = {v: e for e in ledger.entries for v in e.members}
        self._states = {e.state: e for e in ledger.entries if e.state}

    def aliased(self, entry: LedgerEntry) -> LedgerEntry | None:
        """The donated argument that holds an output's partner, `None` where none does."""
        for value in self._values(entry):
            found = self._entries.get(value)
            if found is not None and found.category is Category.ALIASED and _alike(entry, found):
                return found
        by_path = self._states.get(entry.state) if entry.state else None
        if by_path is not None and by_path.category is Category.ALIASED:
            return by_path
        return None

    def held(self, entry: LedgerEntry) -> Held | None:
        """Where the partner of the value lies, `None` where it has none."""
        return next(
            (self.ledger.values[v] for v in self._values(entry) if v in self.ledger.values), None
        )

    def _values(self, entry: LedgerEntry) -> Iterator[Value]:
        """The partners of the values that use the memory and fill it."""
        for value in entry.members:
            partner = self._partners.get(value.ref)
            if partner is None:
                continue
            other = Value(partner, value.part)
            here, there = self._own.values.get(value), self.ledger.values.get(other)
            if here is None or there is None or _same_extents(here.shape, there.shape):
                yield other


def _alike(lhs: LedgerEntry, rhs: LedgerEntry) -> bool:
    return lhs.shape is not None and rhs.shape is not None and _same_extents(lhs.shape, rhs.shape)


def _same_extents(lhs: Shape, rhs: Shape) -> bool:
    """Whether two shapes hold as many elements, or are tables of as many."""
    return element_count(lhs) == element_count(rhs) and len(lhs.elements) == len(rhs.elements)
