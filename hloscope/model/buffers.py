"""XLA's buffer assignment: which memory holds which value, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class LogicalBuffer(NamedTuple):
    """A value that needs memory (`LogicalBufferProto`).

    Attributes:
      id: `LogicalBufferProto.id`.
      size: bytes, padded as the target lays the value out.
      instruction_id: `HloInstructionProto.id` of the instruction that defines the value.
      shape_index: place in the instruction's tuple shape, `()` for an array.
      color: memory space; 0 is device memory.
    """

    id: int
    size: int
    instruction_id: int
    shape_index: tuple[int, ...]
    color: int


class Assigned(NamedTuple):
    """One logical buffer's place in an allocation, in bytes."""

    logical_buffer_id: int
    offset: int
    size: int


class Allocation(NamedTuple):
    """A contiguous piece of memory (`BufferAllocationProto`), sizes in bytes.

    Attributes:
      number: `BufferAllocationProto.index`.
    """

    number: int
    size: int
    color: int
    is_thread_local: bool
    is_tuple: bool
    is_constant: bool
    is_entry_parameter: bool
    parameter_number: int
    parameter_shape_index: tuple[int, ...]
    maybe_live_out: bool
    assigned: tuple[Assigned, ...]


class HeapEventKind(StrEnum):
    """`HeapSimulatorTrace.Event.Kind`: ALLOC, FREE and SHARE_WITH are 0, 1 and 2."""

    ALLOC = "alloc"
    FREE = "free"
    SHARE_WITH = "share_with"


class HeapEvent(NamedTuple):
    """One step of a heap trace; `share_with` is the canonical buffer's id, -1 for none."""

    kind: HeapEventKind
    buffer_id: int
    computation: str
    instruction: str
    share_with: int


class HeapTrace(NamedTuple):
    """The allocator's replay of one preallocated temporary allocation."""

    allocation_index: int
    events: tuple[HeapEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferAssignment:
    """Everything `HloProto.buffer_assignment` says, in its own order."""

    logical_buffers: tuple[LogicalBuffer, ...]
    allocations: tuple[Allocation, ...]
    heap_traces: tuple[HeapTrace, ...]
