"""XLA's memory figures, read off a buffer assignment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hloscope.hlo.heap_replay import HeapReplay
from hloscope.model.buffers import (
    Allocation,
    BufferAssignment,
    HeapEventKind,
    HeapTrace,
    LogicalBuffer,
)
from hloscope.model.capture import MemoryFigures
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.model.units import Bytes, Measured, Missing

DEVICE_MEMORY = 0  # the color, that is the memory space, of device memory
# libtpu rounds temporaries up to this; seen on v5e, v5p and v6e with libtpu 0.0.42 to 0.0.52
TPU_STEP = 16384
# up to 0.0.50 libtpu's figure has the fragmentation once more; 0.0.51 does not
FRAGMENTATION_COUNTS_ONCE = (0, 0, 51)
# values that TPU's vector units make; scalars of any other opcode stay in the scalar unit
_VECTOR_OPCODES = frozenset({"fusion", "reduce", "dot", "convolution", "custom-call", "sort"})

CODE_UNKNOWN = Missing("generated code is known at depth full alone")


def memory_figures(
    buffers: BufferAssignment, module: Module, libtpu: str | None = None
) -> MemoryFigures:
    """Argument, output, alias and temp bytes of device memory, as `memory_analysis()` has them.

    The rules, from XLA's `CompiledMemoryStats::PopulateBufferStatsFromAllocations`
    (xla/pjrt/compiled_memory_stats.cc): an allocation that holds an entry parameter is argument;
    one that may be live out is output; one that is both is also alias; one that is neither, and
    neither constant nor thread-local, is temp. On TPU temp is rounded up to 16 KiB, and 0 where
    the code never touches it; docs/memory.md has the table that this was found with.

    Args:
      buffers: the module's buffer assignment.
      module: the module.
      libtpu: the version that compiled it, where known; up to 0.0.50 temp has the fragmentation
        once more. Without a version, and for other backends, it counts once.
    """
    device = [a for a in buffers.allocations if a.color == DEVICE_MEMORY]
    temps = [a for a in device if is_temporary(a)]
    if is_tpu(module):
        twice = libtpu is not None and _version(libtpu) < FRAGMENTATION_COUNTS_ONCE
        temp = tpu_temp(buffers, module, temps, fragmentation_twice=twice)
    else:
        temp = sum(a.size for a in temps)
    return MemoryFigures(
        argument=_total(a for a in device if a.is_entry_parameter),
        output=_total(a for a in device if a.maybe_live_out),
        alias=_total(a for a in device if a.is_entry_parameter and a.maybe_live_out),
        temp=Measured(Bytes(temp)),
        code=CODE_UNKNOWN,
        source="buffer assignment",
    )


def is_temporary(allocation: Allocation) -> bool:
    """Whether XLA counts the allocation as temporaries (`IsPreallocatedTempBuffer`)."""
    return not (
        allocation.is_entry_parameter
        or allocation.maybe_live_out
        or allocation.is_thread_local
        or allocation.is_constant
    )


def is_tpu(module: Module) -> bool:
    """Whether the module was compiled for TPU: only there are layouts tiled."""
    return any(_tiled(i.shape) for c in module.computations for i in c.instructions)


def tpu_temp(
    buffers: BufferAssignment,
    module: Module,
    temps: Iterable[Allocation],
    *,
    fragmentation_twice: bool,
) -> int:
    """Bytes that libtpu reports as temp for the given allocations.

    libtpu is closed: the rule was found by compiling. An allocation counts rounded up to 16 KiB;
    one that holds only tuple tables and scalars of the scalar unit counts 0.

    Args:
      buffers: the module's buffer assignment.
      module: the module.
      temps: the temporary allocations of device memory.
      fragmentation_twice: whether the fragmentation is added again, as old versions do: the rounded
        size less the most that newly allocated buffers hold at once less the buffers that the
        heap trace leaves out.
    """
    opcodes = {i.id: i for c in module.computations for i in c.instructions}
    defined = {b.id: b for b in buffers.logical_buffers}
    total = 0
    for allocation in temps:
        traces = [t for t in buffers.heap_traces if t.allocation_index == allocation.number]
        traced = {e.buffer_id for t in traces for e in t.events} & defined.keys()
        places = ((opcodes.get(defined[b].instruction_id), defined[b].shape_index) for b in traced)
        if not any(_touched(*place) for place in places):
            continue
        rounded = -(-allocation.size // TPU_STEP) * TPU_STEP
        total += rounded
        if fragmentation_twice:
            total += rounded - _newly_allocated(traces, defined) - _untraced(allocation, traced)
    return total


def _newly_allocated(traces: Iterable[HeapTrace], defined: Mapping[int, LogicalBuffer]) -> int:
    """The most that allocated buffers hold at once, as old libtpu sums it.

    A buffer counts from the event that takes memory to its own end: sharers prolong nothing, but
    one that comes when nobody else holds the memory takes it anew.
    """
    largest = 0
    for trace in traces:
        held = 0
        counted: dict[int, int] = {}
        replay = HeapReplay(trace, {i: b.size for i, b in defined.items()})
        for state in replay.states():
            buffer = trace.events[state.event].buffer_id
            if state.grown:
                counted[buffer] = defined[replay.root(buffer)].size
                held += counted[buffer]
                largest = max(largest, held)
            elif trace.events[state.event].kind is HeapEventKind.FREE:
                held -= counted.pop(buffer, 0)
    return largest


def _untraced(allocation: Allocation, traced: set[int]) -> int:
    """Bytes of the buffers that no trace moves, each place once."""
    places: dict[int, int] = {}
    for assigned in allocation.assigned:
        if assigned.logical_buffer_id not in traced:
            places[assigned.offset] = max(places.get(assigned.offset, 0), assigned.size)
    return sum(places.values())


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _touched(instruction: Instruction | None, index: tuple[int, ...]) -> bool:
    if instruction is None:
        return True
    shape = instruction.shape
    for position in index:
        if position >= len(shape.elements):
            return True
        shape = shape.elements[position]
    return bool(shape.dims) or instruction.opcode in _VECTOR_OPCODES


def _tiled(shape: Shape) -> bool:
    if shape.elements:
        return any(_tiled(element) for element in shape.elements)
    return shape.layout is not None and bool(shape.layout.tiles)


def _total(allocations: Iterable[Allocation]) -> Measured[Bytes]:
    return Measured(Bytes(sum(a.size for a in allocations)))
