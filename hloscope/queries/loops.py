"""What loops carry: arrays handed through, scanned, stacked turn by turn, or copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hloscope.hlo.dataflow import ANNOTATED, FORM, Dataflow, NodeKind

# what makes the empty array that a stack is filled into; a custom call is named by its target
_EMPTY = frozenset({"broadcast", "constant", "AllocateBuffer"})
_INTEGERS = frozenset({"s32", "u32", "s64", "u64", "s16", "u16", "s8", "u8"})
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
    write = flow.origin(after, FORM)
    if flow.opcode(write) != "dynamic-update-slice":
        return
    target, update, *indices = flow.nodes[write].operands
    if flow.origin(target, FORM) != slot or not _is_empty(flow, slot):
        return
    dims, part = flow.nodes[write].shape.dims, flow.nodes[update].shape.dims
    along = [k for k, (whole, one) in enumerate(zip(dims, part, strict=False)) if whole != one]
    if along[1:] or any(part[k] != 1 for k in along):
        return
    if any(counts(flow, index, number) for index in indices):
        yield Stack(number, slot, result, write, flow.origin(update, FORM))


def _is_empty(flow: Dataflow, slot: int) -> bool:
    first = flow.origin(flow.nodes[slot].operands[0])
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
    cut = flow.origin(node, ANNOTATED)
    if flow.opcode(cut) != "dynamic-slice":
        return None
    whole, *indices = flow.nodes[cut].operands
    if not any(counts(flow, index, loop) for index in indices):
        return None
    return flow.origin(whole)


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
