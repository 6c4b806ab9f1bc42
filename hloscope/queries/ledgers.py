"""Which entries of the ledgers' deltas a cause can claim."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from hloscope.model.canonical import Ref
from hloscope.model.communication import ChangeKind, CollectiveChange
from hloscope.model.comparison import Comparison
from hloscope.model.cost import DeltaEntry as CostDeltaEntry
from hloscope.model.cost import Quantity
from hloscope.model.finding import WEIGHTS, Direction, Metric
from hloscope.model.ledger import Category, DeltaEntry, DeltaKind
from hloscope.model.units import Maybe, Measured

NOWHERE: frozenset[Ref] = frozenset()
_LITTLE = 0.01  # of a side's memory: what alignment and another schedule can make


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


def every_entry(comparison: Comparison) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Positions of all entries: of memory, of cost, of communication.

    For a cause behind everything: programs that are the same as written, apart from it.
    """
    memory = comparison.memory
    return (
        tuple(range(len(memory.entries) if memory else 0)),
        tuple(range(len(comparison.cost.entries))),
        tuple(range(len(comparison.communication.changes))),
    )


def totals(comparison: Comparison) -> Mapping[Metric, float]:
    """The larger side's total of each metric that has a weight."""
    memory, cost = comparison.memory, (comparison.cost.lhs, comparison.cost.rhs)
    sent = (comparison.communication.lhs, comparison.communication.rhs)
    moved = (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN)
    return {
        Metric.BYTES: max(memory.lhs.total, memory.rhs.total) if memory else 0,
        Metric.MOVED: max(sum(side.totals[q].known for q in moved) for side in cost),
        Metric.SENT: max(side.wire_bytes.known for side in sent),
        Metric.FLOPS: max(side.totals[Quantity.FLOPS].known for side in cost),
    }


def direction_of(
    comparison: Comparison,
    entries: Iterable[int],
    cost_entries: Iterable[int],
    communication_entries: Iterable[int],
) -> Direction:
    """Which side is better off by some entries of the ledgers.

    Memory decides where it differs by more than a little; otherwise each metric by its weight.
    """
    memory, cost = comparison.memory, comparison.cost.entries
    changes = comparison.communication.changes
    costs = [cost[position] for position in cost_entries]
    figures: dict[Metric, float] = {
        Metric.BYTES: sum(memory.entries[p].size for p in entries) if memory else 0,
        Metric.MOVED: _known(entry.bytes for entry in costs),
        Metric.SENT: _known(changes[p].wire_bytes for p in communication_entries),
        Metric.FLOPS: _known(entry.flops for entry in costs),
    }
    whole = totals(comparison)
    if abs(figures[Metric.BYTES]) > _LITTLE * whole[Metric.BYTES]:
        return Direction.WORSE if figures[Metric.BYTES] > 0 else Direction.BETTER
    weight = sum(WEIGHTS[m] * figure / whole[m] for m, figure in figures.items() if whole[m])
    if not weight:
        return Direction.NEUTRAL
    return Direction.WORSE if weight > 0 else Direction.BETTER


def _known(figures: Iterable[Maybe[int]]) -> int:
    return sum(figure.value for figure in figures if isinstance(figure, Measured))
