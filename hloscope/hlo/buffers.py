"""HLO protos to `BufferAssignment`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from google.protobuf.message import DecodeError

from hloscope.errors import HloscopeError
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.buffers import (
    Allocation,
    Assigned,
    BufferAssignment,
    HeapEvent,
    HeapEventKind,
    HeapTrace,
    LogicalBuffer,
)

# HeapSimulatorTrace.Event.Kind, by number
_KINDS = (HeapEventKind.ALLOC, HeapEventKind.FREE, HeapEventKind.SHARE_WITH)
_SHARE_WITH = _KINDS.index(HeapEventKind.SHARE_WITH)


def read_buffers(data: bytes) -> BufferAssignment | None:
    """Reads the buffer assignment of a serialized `HloProto`.

    Instructions are not decoded: the cost is that of the buffers alone.

    Args:
      data: an `HloProto`; an `HloModuleProto` holds no buffers.

    Returns:
      The assignment, `None` where `data` has none.

    Raises:
      HloscopeError: the assignment is damaged.
    """
    try:
        payload = pb.LazyHlo.FromString(data).buffer_assignment
    except DecodeError:
        return None
    if not payload:
        return None
    try:
        proto = pb.BufferAssignmentProto.FromString(payload)
    except DecodeError as error:
        raise HloscopeError(
            f"the buffer assignment is damaged: {error}", remedy="dump the module again"
        ) from None
    if not proto.buffer_allocations and not proto.logical_buffers:
        return None
    allocations = tuple(_allocation(a) for a in proto.buffer_allocations)
    home = {a.logical_buffer_id: owner.number for owner in allocations for a in owner.assigned}
    buffers = tuple(_buffer(b) for b in proto.logical_buffers)
    _check(allocations, {b.id for b in buffers})
    return BufferAssignment(
        logical_buffers=buffers,
        allocations=allocations,
        heap_traces=tuple(_traces(proto.heap_simulator_traces, home)),
    )


def _buffer(proto: pb.LogicalBufferProto) -> LogicalBuffer:
    place = proto.defined_at
    return LogicalBuffer(
        proto.id, proto.size, place.instruction_id, tuple(place.shape_index), proto.color
    )


def _allocation(proto: pb.BufferAllocationProto) -> Allocation:
    return Allocation(
        proto.index,
        proto.size,
        proto.color,
        proto.is_thread_local,
        proto.is_tuple,
        proto.is_constant,
        proto.is_entry_computation_parameter,
        proto.parameter_number,
        tuple(proto.parameter_shape_index),
        proto.maybe_live_out,
        tuple(Assigned(a.logical_buffer_id, a.offset, a.size) for a in proto.assigned),
    )


def _traces(
    protos: Iterable[pb.HeapSimulatorTrace], home: Mapping[int, int]
) -> Iterable[HeapTrace]:
    """Traces with the allocation that their first buffer lies in.

    XLA's own `buffer_allocation_index` can name an allocation that does not exist (seen with
    libtpu, and XProf does not trust it either), so it is only used where the buffer is unknown.
    """
    for proto in protos:
        events = tuple(
            HeapEvent(
                _kind(e.kind),
                e.buffer_id,
                e.computation_name,
                e.instruction_name,
                e.share_with_canonical_id
                if e.kind == pb.HeapSimulatorTrace.Event.SHARE_WITH
                else -1,
            )
            for e in proto.events
        )
        if events:
            yield HeapTrace(home.get(events[0].buffer_id, proto.buffer_allocation_index), events)


def _kind(number: int) -> HeapEventKind:
    if number >= len(_KINDS):
        raise HloscopeError(
            f"a heap trace has an event of unknown kind '{number}'",
            remedy="upgrade hloscope: the dump is newer than this reader",
        )
    return _KINDS[number]


def _check(allocations: Iterable[Allocation], known: set[int]) -> None:
    """Raises where an allocation holds a buffer that is not listed."""
    for allocation in allocations:
        for assigned in allocation.assigned:
            if assigned.logical_buffer_id not in known:
                raise HloscopeError(
                    f"allocation {allocation.number} holds buffer '{assigned.logical_buffer_id}', "
                    "which is not listed",
                    remedy="dump the module again: its buffer assignment is damaged",
                )
