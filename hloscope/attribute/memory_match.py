"""Which memory of one side is which memory of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from hloscope.attribute.cost_shapes import element_count
from hloscope.model.canonical import Ref
from hloscope.model.ledger import Category, LedgerEntry, MemoryLedger, Value
from hloscope.model.pairing import Pairing

# what an edge between two entries is worth; a program's inputs and outputs decide before its
# temporaries do, since their identity is part of the program
_SAME_STATE = 1 << 20
_SAME_PARAMETER = 1 << 19
_SAME_OUTPUT = 1 << 12
_SAME_CATEGORY = 1 << 8
_SAME_SHAPE = 1 << 2
_SHOWN_ALIKE = 1
# their tuples hold values of any kind in any order
_CARRIERS = frozenset({"call", "conditional", "parameter", "tuple", "while"})


class Matched(NamedTuple):
    """Positions in the two ledgers' entries.

    Attributes:
      pairs: one-to-one, lhs first.
      lhs_only: entries without a partner.
      rhs_only: the same of the other side.
    """

    pairs: tuple[tuple[int, int], ...]
    lhs_only: tuple[int, ...]
    rhs_only: tuple[int, ...]


class Partners:
    """The pairing as maps in both directions."""

    def __init__(self, pairing: Pairing | None) -> None:
        pairs = pairing.pairs if pairing is not None else ()
        self.to_rhs: dict[Ref, Ref] = {p.lhs: p.rhs for p in pairs}
        self.to_lhs: dict[Ref, Ref] = {p.rhs: p.lhs for p in pairs}


def match_entries(lhs: MemoryLedger, rhs: MemoryLedger, partners: Partners) -> Matched:
    """Pairs the entries of two ledgers, each with one at most.

    Entries go together by state path, by paired instructions that use their memory, by output
    position, and, for what is left, by equal shape, opcode and module path, last by shape alone:
    two buffers of one shape, layout included, do not make a difference in bytes.
    """
    edges = _edges(lhs.entries, rhs.entries, partners.to_rhs)
    pairs = _assign(edges, lhs.entries, rhs.entries)
    for likeness in (_likeness, _shape_alone):
        pairs |= _assign_alike(lhs.entries, rhs.entries, pairs, likeness)
    taken = set(pairs.values())
    return Matched(
        tuple(sorted(pairs.items())),
        tuple(n for n in range(len(lhs.entries)) if n not in pairs),
        tuple(n for n in range(len(rhs.entries)) if n not in taken),
    )


def _edges(
    lhs: tuple[LedgerEntry, ...], rhs: tuple[LedgerEntry, ...], to_rhs: Mapping[Ref, Ref]
) -> dict[tuple[int, int], int]:
    holder = {value: n for n, entry in enumerate(rhs) for value in entry.members}
    by_state = _by_state(rhs)
    edges: dict[tuple[int, int], int] = {}
    for left, entry in enumerate(lhs):
        for value in entry.members:
            partner = to_rhs.get(value.ref)
            right = holder.get(Value(partner, value.part)) if partner is not None else None
            worth = _worth(entry, rhs[right], value, partner) if right is not None else 0
            if right is not None and worth:
                edges[left, right] = edges.get((left, right), 0) + worth
        for right in by_state.get(_state_key(entry), ()):
            edges[left, right] = edges.get((left, right), 0) + _SAME_STATE
    for edge in _by_position(lhs, rhs):
        edges[edge] = edges.get(edge, 0) + _SAME_OUTPUT
    for (left, right), worth in edges.items():
        if lhs[left].category is rhs[right].category:
            edges[left, right] = worth + _SAME_CATEGORY
    return edges


def _by_position(
    lhs: tuple[LedgerEntry, ...], rhs: tuple[LedgerEntry, ...]
) -> Iterator[tuple[int, int]]:
    """Outputs at the same position, where both sides return as many and of as many elements."""
    left = {n: (number, entry) for number, entry in enumerate(lhs) for n in entry.outputs}
    right = {n: (number, entry) for number, entry in enumerate(rhs) for n in entry.outputs}
    if left.keys() != right.keys():
        return
    for position in sorted(left):
        (before, old), (after, new) = left[position], right[position]
        if old.shape is None or new.shape is None:
            continue
        if element_count(old.shape) == element_count(new.shape):
            yield before, after


def _worth(lhs: LedgerEntry, rhs: LedgerEntry, value: Value, partner: Ref | None) -> int:
    """What one paired user of both memories says; 0 where they cannot be the same buffer."""
    if (lhs.category is Category.TABLE) != (rhs.category is Category.TABLE):
        return 0  # a tuple's table is no array, though both belong to one instruction
    shown = lhs.value == value and rhs.value is not None and rhs.value.ref == partner
    if lhs.parameter is not None and rhs.parameter is not None and shown:
        return _SAME_PARAMETER
    if lhs.outputs and rhs.outputs and shown:
        return _SAME_OUTPUT
    if _dims(lhs) == _dims(rhs):
        return _SAME_SHAPE
    # memory that other values use in turn: one of them being paired says nothing of another shape,
    # and what a loop carries has another position on the other side
    return _SHOWN_ALIKE if shown and not (value.part and lhs.opcode in _CARRIERS) else 0


def _dims(entry: LedgerEntry) -> tuple[int, ...] | None:
    return entry.shape.dims if entry.shape is not None else None


def _state_key(entry: LedgerEntry) -> tuple[bool, tuple[str, ...]]:
    """Inputs and outputs may have the same state path: they are told apart."""
    return entry.parameter is not None, entry.state


def _by_state(
    entries: Iterable[LedgerEntry],
) -> dict[tuple[bool, tuple[str, ...]], list[int]]:
    found: dict[tuple[bool, tuple[str, ...]], list[int]] = {}
    for number, entry in enumerate(entries):
        if entry.state:
            found.setdefault(_state_key(entry), []).append(number)
    return found


def _assign(
    edges: Mapping[tuple[int, int], int],
    lhs: tuple[LedgerEntry, ...],
    rhs: tuple[LedgerEntry, ...],
) -> dict[int, int]:
    """The most valuable edges first; ties go to the closest sizes, then to order."""
    ranked = sorted(
        edges,
        key=lambda edge: (-edges[edge], abs(lhs[edge[0]].size - rhs[edge[1]].size), edge),
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for left, right in ranked:
        if left not in pairs and right not in taken:
            pairs[left] = right
            taken.add(right)
    return pairs


def _assign_alike(
    lhs: tuple[LedgerEntry, ...],
    rhs: tuple[LedgerEntry, ...],
    pairs: Mapping[int, int],
    likeness: Callable[[LedgerEntry], tuple[object, ...]],
) -> dict[int, int]:
    """Rests by name, and buffers that nothing tells apart, in order."""
    taken = set(pairs.values())
    waiting: dict[tuple[object, ...], list[int]] = {}
    for number in range(len(rhs) - 1, -1, -1):
        if number not in taken:
            waiting.setdefault(likeness(rhs[number]), []).append(number)
    found: dict[int, int] = {}
    for number, entry in enumerate(lhs):
        candidates = waiting.get(likeness(entry))
        if number not in pairs and candidates:
            found[number] = candidates.pop()
    return found


def _likeness(entry: LedgerEntry) -> tuple[object, ...]:
    if entry.value is None:
        return (entry.category, "" if entry.category is Category.UNATTRIBUTED else entry.name)
    if entry.parameter is not None or entry.outputs:
        # an input or output that the pairing leaves alone is added or removed
        return (entry.category, entry.shape_text, entry.state, entry.parameter, entry.name)
    return (entry.category, entry.shape_text, entry.opcode, entry.path)


def _shape_alone(entry: LedgerEntry) -> tuple[object, ...]:
    if entry.value is None or entry.parameter is not None or entry.outputs:
        return _likeness(entry)
    return (entry.category, entry.shape_text, entry.size)
