"""XLA's memory figures, read off a buffer assignment."""

from __future__ import annotations

from collections.abc import Iterable

from hloscope.model.buffers import Allocation, BufferAssignment, HeapEventKind
from hloscope.model.capture import MemoryFigures
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.model.units import Bytes, Measured, Missing

DEVICE_MEMORY = 0  # the color, that is the memory space, of device memory
# libtpu reserves temporaries in steps of this; seen on v5e, v5p and v6e with 0.0.42 and 0.0.50
TPU_STEP = 16384
# values that TPU's vector units make; scalars of any other opcode stay in the scalar unit
_VECTOR_OPCODES = frozenset({"fusion", "reduce", "dot", "convolution", "custom-call", "sort"})

CODE_UNKNOWN = Missing("generated code is known at depth full alone")


def memory_figures(buffers: BufferAssignment, module: Module) -> MemoryFigures:
    """Argument, output, alias and temp bytes of device memory, as `memory_analysis()` has them.

    The rules, from XLA's `CompiledMemoryStats::PopulateBufferStatsFromAllocations`
    (xla/pjrt/compiled_memory_stats.cc): an allocation that holds an entry parameter is argument;
    one that may be live out is output; one that is both is also alias; one that is neither, and
    neither constant nor thread-local, is temp. On TPU temp follows `tpu_temp`.
    """
    device = [a for a in buffers.allocations if a.color == DEVICE_MEMORY]
    temps = [a for a in device if is_temporary(a)]
    temp = tpu_temp(buffers, module, temps) if is_tpu(module) else sum(a.size for a in temps)
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


def tpu_temp(buffers: BufferAssignment, module: Module, temps: Iterable[Allocation]) -> int:
    """Bytes that libtpu reports as temp for the given allocations.

    libtpu is closed; the rule was found by compiling and holds to the byte in docs/memory.md's
    table: the allocation, rounded up to 16 KiB, plus its fragmentation, which is the rounded size
    less the most that newly allocated buffers hold at once (sharers do not prolong a buffer) less
    the buffers that the heap trace leaves out (tuple tables). It is 0 where the allocation holds
    only tuple tables and scalars that the scalar unit computes: the code never touches it.
    """
    instructions = {i.id: i for c in module.computations for i in c.instructions}
    return sum(_tpu_temp(buffers, instructions, a) for a in temps)


def _tpu_temp(
    buffers: BufferAssignment, instructions: dict[int, Instruction], allocation: Allocation
) -> int:
    defined = {b.id: b for b in buffers.logical_buffers}
    traces = [t for t in buffers.heap_traces if t.allocation_index == allocation.number]
    traced = {e.buffer_id for t in traces for e in t.events}
    if not any(
        _touched(instructions.get(defined[b].instruction_id), defined[b].shape_index)
        for b in traced
        if b in defined
    ):
        return 0
    tables: dict[int, int] = {}
    for assigned in allocation.assigned:
        if assigned.logical_buffer_id not in traced:
            tables[assigned.offset] = max(tables.get(assigned.offset, 0), assigned.size)
    held = largest = 0
    owned: set[int] = set()
    for event in (e for t in traces for e in t.events):
        if event.kind is HeapEventKind.ALLOC:
            owned.add(event.buffer_id)
            held += defined[event.buffer_id].size
            largest = max(largest, held)
        elif event.kind is HeapEventKind.FREE and event.buffer_id in owned:
            held -= defined[event.buffer_id].size
    rounded = -(-allocation.size // TPU_STEP) * TPU_STEP
    return 2 * rounded - largest - sum(tables.values())


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
