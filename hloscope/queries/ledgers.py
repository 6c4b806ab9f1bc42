"""Which entries of the ledgers' deltas a cause can claim."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from hloscope.model.canonical import Ref
from hloscope.model.communication import ChangeKind, CollectiveChange
from hloscope.model.comparison import Comparison
from hloscope.model.cost import DeltaEntry as CostDeltaEntry
from hloscope.model.ledger import Category, DeltaEntry, DeltaKind

NOWHERE: frozenset[Ref] = frozenset()


def memory_entries(
    comparison: Comparison,
    *kinds: DeltaKind,
    category: Category | None = None,
    where: Callable[[DeltaEntry], bool] = lambda _: True,
) -> Iterator[tuple[int, DeltaEntry]]:
    """Entries of the memory delta with their positions, largest difference first.

    Args:
      comparison: the two sides; without buffer assignments there are no entries.
      kinds: any of these; every kind by default.
      category: of the side that the entry is named by.
      where: what else must hold.
    """
    entries = comparison.memory.entries if comparison.memory else ()
    for position, entry in enumerate(entries):
        if kinds and entry.kind not in kinds:
            continue
        if (category is None or entry.shown.category is category) and where(entry):
            yield position, entry


def memory_of(
    comparison: Comparison, lhs: Collection[Ref] = NOWHERE, rhs: Collection[Ref] = NOWHERE
) -> tuple[int, ...]:
    """Positions of the memory delta's entries that hold what instructions make."""
    return tuple(
        position
        for position, entry in memory_entries(comparison)
        if (entry.lhs and entry.lhs.value and entry.lhs.value.ref in lhs)
        or (entry.rhs and entry.rhs.value and entry.rhs.value.ref in rhs)
    )


def cost_entries(
    comparison: Comparison, where: Callable[[CostDeltaEntry], bool] = lambda _: True
) -> Iterator[tuple[int, CostDeltaEntry]]:
    """Entries of the cost delta with their positions, largest byte delta first."""
    for position, entry in enumerate(comparison.cost.entries):
        if where(entry):
            yield position, entry


def cost_of(
    comparison: Comparison, lhs: Collection[Ref] = NOWHERE, rhs: Collection[Ref] = NOWHERE
) -> tuple[int, ...]:
    """Positions of the cost delta's entries of instructions, or of kernels with all inside."""
    return tuple(
        position
        for position, entry in cost_entries(comparison)
        if (entry.lhs and (entry.lhs.ref in lhs or entry.lhs.kernel in lhs))
        or (entry.rhs and (entry.rhs.ref in rhs or entry.rhs.kernel in rhs))
    )


def communication_changes(
    comparison: Comparison, *kinds: ChangeKind
) -> Iterator[tuple[int, CollectiveChange]]:
    """Changes of collectives with their positions; with kinds, those that are any of these."""
    for position, change in enumerate(comparison.communication.changes):
        if not kinds or set(kinds) & set(change.kinds):
            yield position, change


def communication_of(
    comparison: Comparison, lhs: Collection[Ref] = NOWHERE, rhs: Collection[Ref] = NOWHERE
) -> tuple[int, ...]:
    """Positions of the communication delta's changes of collectives."""
    return tuple(
        position
        for position, change in communication_changes(comparison)
        if (change.lhs and change.lhs.ref in lhs) or (change.rhs and change.rhs.ref in rhs)
    )
