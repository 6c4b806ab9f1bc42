"""Memory entries summed by what they have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from hloscope.model.ledger import DeltaEntry, LedgerDelta, LedgerEntry, MemoryLedger
from hloscope.model.units import Bytes

NO_PATH = "(no module path)"
NO_SOURCE = "(no source line)"
_NUMBER = re.compile(r"\d+")


class MemoryBy(StrEnum):
    """What to sum by."""

    BUFFER = "buffer"  # equal buffers of equal modules, whatever their layer's number
    MODULE = "module"
    CATEGORY = "category"  # of a delta: the kind of each entry
    SOURCE = "source"


class MemoryGroup(NamedTuple):
    """The sum over some entries of a ledger.

    Attributes:
      example: the largest of them.
    """

    key: str
    size: Bytes
    entries: int
    example: LedgerEntry


class MemoryDeltaGroup(NamedTuple):
    """The sum over some entries of a delta.

    Attributes:
      example: the one that differs most.
    """

    key: str
    size: Bytes
    entries: int
    example: DeltaEntry


def group_memory(ledger: MemoryLedger, by: MemoryBy) -> tuple[MemoryGroup, ...]:
    """The ledger's entries summed, largest first; groups add up to its total."""
    keys: dict[str, list[LedgerEntry]] = {}
    for entry in ledger.entries:
        keys.setdefault(_key(entry, by), []).append(entry)
    found = [
        MemoryGroup(key, Bytes(sum(e.size for e in entries)), len(entries), entries[0])
        for key, entries in keys.items()
    ]
    return tuple(sorted(found, key=lambda g: (-abs(g.size), g.key)))


def group_memory_delta(delta: LedgerDelta, by: MemoryBy) -> tuple[MemoryDeltaGroup, ...]:
    """The delta's entries summed, largest change first; groups add up to its total."""
    key: Callable[[DeltaEntry], str] = (
        (lambda e: str(e.kind)) if by is MemoryBy.CATEGORY else (lambda e: _delta_key(e, by))
    )
    keys: dict[str, list[DeltaEntry]] = {}
    for entry in delta.entries:
        keys.setdefault(key(entry), []).append(entry)
    found = [
        MemoryDeltaGroup(name, Bytes(_sum(entries)), len(entries), entries[0])
        for name, entries in keys.items()
    ]
    return tuple(sorted(found, key=lambda g: (-abs(g.size), g.key)))


def _sum(entries: Iterable[DeltaEntry]) -> int:
    return sum(entry.size for entry in entries)


def _delta_key(entry: DeltaEntry, by: MemoryBy) -> str:
    if by is MemoryBy.MODULE:
        return "/".join(entry.path) or NO_PATH
    if by is MemoryBy.SOURCE:
        return entry.shown.source or NO_SOURCE
    shapes = " -> ".join(e.shape_text for e in (entry.lhs, entry.rhs) if e is not None)
    # layers' numbers are folded away; the size tells apart what only looks alike
    return f"{entry.kind} {_folded(entry.shown)} {shapes} {entry.size} {entry.note and 'elsewhere'}"


def _key(entry: LedgerEntry, by: MemoryBy) -> str:
    if by is MemoryBy.MODULE:
        return "/".join(entry.path) or NO_PATH
    if by is MemoryBy.CATEGORY:
        return str(entry.category)
    if by is MemoryBy.SOURCE:
        return entry.source or NO_SOURCE
    return f"{entry.category} {_folded(entry)} {entry.shape_text} {entry.size}"


def _folded(entry: LedgerEntry) -> str:
    """What equal layers have in common: the path, or the state, without numbers."""
    if entry.value is None:
        return entry.name
    return _NUMBER.sub("*", "/".join(entry.state or entry.path) + " " + entry.opcode)
