"""The delta of two communication ledgers, collective by collective."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator

from hloscope.attribute.cost_delta import Paired
from hloscope.attribute.cost_totals import total_of
from hloscope.model.communication import (
    ChangeKind,
    Collective,
    CollectiveChange,
    CommunicationDelta,
    CommunicationLedger,
)
from hloscope.model.cost import times
from hloscope.model.units import Maybe, Measured, Missing

Key = Callable[[Collective], Hashable]
Side = list[Collective]


def _work(item: Collective) -> Maybe[int]:
    """Elements in all executions: the same whether layers are gathered one by one or at once."""
    return times(item.executions, Measured(item.elements))


# What makes two collectives the same where the pairing does not say, surest first. Each is tried on
# what the ones before left over.
_KEYS: tuple[Key, ...] = (
    lambda c: (c.kind, c.axes_text, c.group_size, c.shape, c.executions, c.module_path, c.source),
    lambda c: (c.kind, c.axes_text, c.group_size, c.shape, c.executions),
    lambda c: (c.kind, c.axes_text, c.group_size, _work(c), c.dtype),
    lambda c: (c.kind, c.axes_text, c.group_size, _work(c)),
    lambda c: (c.kind, c.axes_text, c.group_size, c.module_path, c.source),
    lambda c: (c.kind, c.shape, c.executions),
    lambda c: (c.shape, c.executions, c.source),
    lambda c: _combined(c),
)


def _combined(item: Collective) -> Hashable:
    """Of several arrays in one collective: which ones were combined is up to the compiler."""
    if not item.shape.startswith("("):
        return item.ref, item.name
    return item.kind, item.axes_text, item.group_size, len(item.loops), item.executions


def communication_delta(
    lhs: CommunicationLedger, rhs: CommunicationLedger, pairing: Iterable[Paired] = ()
) -> CommunicationDelta:
    """What became of every collective: new, gone, moved, grown, another dtype, other axes.

    Partners come from the pairing; collectives that it leaves alone are matched by what they do.
    """
    matched = [_change(one, other) for one, other in _match(lhs, rhs, pairing)]
    changes = sorted((c for c in matched if c.kinds), key=_rank)
    return CommunicationDelta(
        lhs=lhs,
        rhs=rhs,
        changes=tuple(changes),
        equal=len(matched) - len(changes),
        wire_bytes=total_of(change.wire_bytes for change in changes),
    )


def _match(
    lhs: CommunicationLedger, rhs: CommunicationLedger, pairing: Iterable[Paired]
) -> Iterator[tuple[Collective | None, Collective | None]]:
    left = {item.ref: item for item in lhs.collectives}
    right = {item.ref: item for item in rhs.collectives}
    for pair in pairing:
        if pair.lhs in left and pair.rhs in right:
            yield left.pop(pair.lhs), right.pop(pair.rhs)
    ones, others = list(left.values()), list(right.values())
    for key in _KEYS:
        found, ones, others = _same(ones, others, key)
        yield from found
    yield from ((one, None) for one in ones)
    yield from ((None, other) for other in others)


def _same(
    ones: Side, others: Side, key: Key
) -> tuple[list[tuple[Collective, Collective]], Side, Side]:
    """Pairs of equal keys, in order, with what is left of both sides."""
    waiting: dict[Hashable, Side] = {}
    for other in others:
        waiting.setdefault(key(other), []).append(other)
    found: list[tuple[Collective, Collective]] = []
    left: Side = []
    for one in ones:
        partners = waiting.get(key(one))
        if partners:
            found.append((one, partners.pop(0)))
        else:
            left.append(one)
    return found, left, [other for partners in waiting.values() for other in partners]


def _change(one: Collective | None, other: Collective | None) -> CollectiveChange:
    if one is None or other is None:
        kind = ChangeKind.NEW if one is None else ChangeKind.GONE
        return CollectiveChange(one, other, (kind,), _minus(one, other))
    kinds = (*_loop_changes(one, other), *_changes(one, other))
    return CollectiveChange(one, other, kinds, _minus(one, other))


def _minus(one: Collective | None, other: Collective | None) -> Maybe[int]:
    before = one.wire_per_step if one else Measured(0)
    after = other.wire_per_step if other else Measured(0)
    if isinstance(before, Missing):
        return before
    return Measured(after.value - before.value) if isinstance(after, Measured) else after


def _loop_changes(one: Collective, other: Collective) -> Iterator[ChangeKind]:
    deeper = len(other.loops) - len(one.loops)
    if deeper < 0:
        yield ChangeKind.OUT_OF_LOOP
    elif deeper > 0:
        yield ChangeKind.INTO_LOOP
    elif isinstance(one.executions, Measured) and isinstance(other.executions, Measured):
        if other.executions.value > one.executions.value:
            yield ChangeKind.MORE_OFTEN
        elif other.executions.value < one.executions.value:
            yield ChangeKind.LESS_OFTEN


def _changes(one: Collective, other: Collective) -> Iterator[ChangeKind]:
    if one.kind != other.kind:
        yield ChangeKind.KIND
    if one.dtype != other.dtype:
        yield ChangeKind.DTYPE
    if (one.axes_text, one.group_size) != (other.axes_text, other.group_size):
        yield ChangeKind.AXES
    size = max(other.operand_bytes, other.output_bytes) - max(one.operand_bytes, one.output_bytes)
    if size:
        yield ChangeKind.GROWN if size > 0 else ChangeKind.SHRUNK
    if one.form.is_async != other.form.is_async:
        yield ChangeKind.ASYNC if other.form.is_async else ChangeKind.SYNC


def _rank(change: CollectiveChange) -> tuple[int, int, str]:
    moved = -abs(change.wire_bytes.value) if isinstance(change.wire_bytes, Measured) else 0
    size = change.item.wire_per_step
    return moved, -size.value if isinstance(size, Measured) else 0, change.item.name
