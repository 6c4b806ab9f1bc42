"""What loops carry: arrays handed through, scanned, stacked turn by turn, or copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hloscope.hlo.dataflow import ANNOTATED, FORM, Dataflow, NodeKind

# what makes the empty array that a stack is filled into; a custom call is named by its target
_EMPTY = frozenset({"broadcast", "constant", "AllocateBuffer"})
_INTEGERS = frozenset({"s32", "u32", "s64", "u64", "s16", "u16", "s8", "u8"})
# the compiler narrows what a loop carries where it can, and widens it again around the write
_VALUE = FORM | {"convert"}
_FAR = 60  # definitions looked at for one index; a wrapped negative index takes about ten


class Stack(NamedTuple):
    """An array that a loop fills, one slice a turn: what a scan returns for every step.

    Attributes:
      loop: position in `Dataflow.loops`.
      slot: node of the array as the body reads it.
      result: node of the array that the loop returns.
      write: node of the dynamic-update-slice.
      update: node of the slice that a turn writes, through reshapes and copies.
    """

    loop: int
    slot: int
    result: int
    write: int
    update: int


def stacks(flow: Dataflow) -> tuple[Stack, ...]:
    """Every stack of a module's loops."""
    return tuple(
        stack
        for number, loop in enumerate(flow.loops)
        for place in range(len(loop.slots))
        for stack in _stack(flow, number, place)
    )


def _stack(flow: Dataflow, number: int, place: int) -> Iterator[Stack]:
    loop = flow.loops[number]
    slot, after, result = loop.slots[place], loop.after[place], loop.results[place]
    write = flow.origin(after, _VALUE)
    if flow.opcode(write) != "dynamic-update-slice":
        return
    target, update, *indices = flow.nodes[write].operands
    if flow.origin(target, _VALUE) != slot or not _is_empty(flow, slot):
        return
    dims, part = flow.nodes[write].shape.dims, flow.nodes[update].shape.dims
    along = [k for k, (whole, one) in enumerate(zip(dims, part, strict=False)) if whole != one]
    if along[1:] or any(part[k] != 1 for k in along):
        return
    if any(counts(flow, index, number) for index in indices):
        yield Stack(number, slot, result, write, flow.origin(update, FORM))


def _is_empty(flow: Dataflow, slot: int) -> bool:
    first = flow.origin(flow.nodes[slot].operands[0], ANNOTATED | _VALUE)
    return flow.opcode(first) in _EMPTY


def counts(flow: Dataflow, index: int, loop: int) -> bool:
    """Whether a scalar is worked out from a counter of the loop."""
    slots = frozenset(flow.loops[loop].slots)
    waiting, seen = [index], {index}
    while waiting and len(seen) < _FAR:
        node = waiting.pop()
        if node in slots:
            shape = flow.nodes[node].shape
            if not shape.dims and shape.dtype in _INTEGERS and node not in flow.invariant:
                return True
            continue
        fresh = [o for o in flow.nodes[node].operands if o not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False


def scanned_from(flow: Dataflow, node: int, loop: int) -> int | None:
    """The array that a value is this turn's slice of, `None` where it is no such slice."""
    cut = flow.origin(node, ANNOTATED | _VALUE)
    if flow.opcode(cut) != "dynamic-slice":
        return None
    whole, *indices = flow.nodes[cut].operands
    if not any(counts(flow, index, loop) for index in indices):
        return None
    return flow.origin(whole, ANNOTATED | _VALUE)


def depends_on(flow: Dataflow, node: int, sought: int, far: int = 400) -> bool:
    """Whether a value is worked out from another, within `far` definitions."""
    waiting, seen = [node], {node}
    while waiting and len(seen) < far:
        at = waiting.pop()
        if at == sought:
            return True
        fresh = [o for o in flow.nodes[at].operands if o not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False


def readers(flow: Dataflow, node: int) -> Iterator[int]:
    """Operations that read a value, through changes of form and into loops that hand it on."""
    waiting, seen = [node], {node}
    while waiting:
        at = waiting.pop()
        for user in flow.users[at]:
            kind = flow.nodes[user].kind
            if user in seen:
                continue
            seen.add(user)
            handed = kind is NodeKind.OPERATION and flow.opcode(user) in FORM
            if handed or (kind is NodeKind.SLOT and user in flow.invariant):
                waiting.append(user)
            elif kind is NodeKind.RESULT:
                if flow.nodes[user].operands[0] in flow.invariant:
                    waiting.append(user)
            else:
                yield user


class Refill(NamedTuple):
    """A slot of a loop that every turn fills with all of an array that the loop only reads.

    That is what the compiler makes of a stack of unchanged slices.

    Attributes:
      slot: node of the array that is filled, as the body reads it.
      copy: node that every turn puts there.
      source: node of the slot that is only read.
    """

    loop: int
    slot: int
    result: int
    copy: int
    source: int


def refills(flow: Dataflow) -> tuple[Refill, ...]:
    """Every refilled slot of a module's loops."""
    return tuple(_refills(flow))


def _refills(flow: Dataflow) -> Iterator[Refill]:
    for number, loop in enumerate(flow.loops):
        own = frozenset(loop.slots)
        for slot, after, result in zip(loop.slots, loop.after, loop.results, strict=True):
            source = slot_behind(flow, after)
            if source is not None and source != slot and source in own & flow.invariant:
                yield Refill(number, slot, result, after, source)


def slot_behind(flow: Dataflow, node: int) -> int | None:
    """The loop slot that a value is, in whatever form; `None` where it is anything else."""
    while True:
        kind = flow.nodes[node].kind
        if kind is NodeKind.SLOT:
            return node
        if kind is not NodeKind.OPERATION or flow.opcode(node) not in FORM:
            return None
        node = flow.nodes[node].operands[0]
