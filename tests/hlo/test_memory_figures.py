"""The rules that turn a buffer assignment into memory figures, one by one."""

from __future__ import annotations

import pytest

from hloscope import hlo
from hloscope.model.buffers import (
    Allocation,
    Assigned,
    BufferAssignment,
    HeapEvent,
    HeapEventKind,
    HeapTrace,
    LogicalBuffer,
)
from hloscope.model.capture import MemoryFigures
from hloscope.model.hlo import Computation, Instruction, Layout, Module, Shape
from hloscope.model.units import Bytes, Measured, Missing

ALLOC, FREE, SHARE = HeapEventKind.ALLOC, HeapEventKind.FREE, HeapEventKind.SHARE_WITH
TILED = Layout((1, 0), ((8, 128),))


def allocation(number: int, size: int, *flags: str, color: int = 0, ids: str = "") -> Allocation:
    places = [part.split("@") for part in ids.split()]
    return Allocation(
        number,
        size,
        color,
        "thread" in flags,
        "tuple" in flags,
        "constant" in flags,
        "parameter" in flags,
        0,
        (),
        "out" in flags,
        tuple(Assigned(int(i), int(offset), 512) for i, offset in places),
    )


def module(*opcodes: str, dims: tuple[int, ...] = (8, 128), tiled: bool = True) -> Module:
    shape = Shape("f32", dims, TILED if tiled else None)
    instructions = tuple(Instruction(f"i{n}", n, opcode, shape) for n, opcode in enumerate(opcodes))
    return Module(name="m", computations=(Computation("main", instructions, 0),), entry=0)


def temp(buffers: BufferAssignment, program: Module, libtpu: str | None = None) -> int:
    figure = hlo.memory_figures(buffers, program, libtpu).temp
    assert isinstance(figure, Measured)
    return figure.value


def test_flags_decide_what_counts_where() -> None:
    buffers = BufferAssignment(
        logical_buffers=(),
        allocations=(
            allocation(0, 1, "parameter"),
            allocation(1, 10, "parameter", "out"),
            allocation(2, 100, "out"),
            allocation(3, 1000),
            allocation(4, 10_000, "constant"),
            allocation(5, 100_000, "thread"),
            allocation(6, 1_000_000, color=1),
            allocation(7, 10_000_000, "parameter", color=5),
            allocation(8, 100_000_000, "tuple"),
        ),
        heap_traces=(),
    )
    assert hlo.memory_figures(buffers, module("add", tiled=False)) == MemoryFigures(
        argument=Measured(Bytes(11)),
        output=Measured(Bytes(110)),
        alias=Measured(Bytes(10)),
        temp=Measured(Bytes(100_001_000)),
        code=Missing("generated code is known at depth full alone"),
        source="buffer assignment",
    )


def assignment(
    *events: HeapEvent, size: int = 1536, ids: str = "0@0 1@512 2@1024"
) -> BufferAssignment:
    return BufferAssignment(
        logical_buffers=tuple(LogicalBuffer(n, 512, n, (), 0) for n in range(3)),
        allocations=(allocation(0, size, ids=ids),),
        heap_traces=(HeapTrace(0, events),) if events else (),
    )


def event(kind: HeapEventKind, buffer: int, share: int = -1) -> HeapEvent:
    return HeapEvent(kind, buffer, "main", f"i{buffer}", share)


ONE = (event(ALLOC, 0), event(FREE, 0))


@pytest.mark.parametrize("libtpu", [None, "0.0.51", "0.0.52.dev20260101", "0.1.0"])
def test_tpu_rounds_temporaries_up(libtpu: str | None) -> None:
    assert temp(assignment(*ONE), module("fusion", "tuple", "tuple"), libtpu) == 16384


@pytest.mark.parametrize(
    ("opcodes", "dims", "expected"),
    [
        (("add", "tuple", "tuple"), (), 0),
        (("compare", "tuple", "tuple"), (), 0),
        (("fusion", "tuple", "tuple"), (), 16384),
        (("reduce", "tuple", "tuple"), (), 16384),
        (("copy", "tuple", "tuple"), (8, 128), 16384),
    ],
)
def test_tpu_counts_only_what_the_code_touches(
    opcodes: tuple[str, ...], dims: tuple[int, ...], expected: int
) -> None:
    assert temp(assignment(*ONE), module(*opcodes, dims=dims)) == expected


def test_tpu_counts_tables_alone_as_nothing() -> None:
    assert temp(assignment(), module("fusion", "tuple", "tuple")) == 0


def test_old_libtpu_adds_the_fragmentation_again() -> None:
    """16 KiB and 16 KiB less one live buffer less two that the trace leaves out."""
    program = module("fusion", "tuple", "tuple")
    assert temp(assignment(*ONE), program, "0.0.50.1") == 2 * 16384 - 512 - 2 * 512


def test_old_libtpu_lets_sharers_prolong_nothing() -> None:
    """Buffer 1 takes over buffer 0's memory, so only buffer 2 counts once it is there."""
    shared = (
        event(ALLOC, 0), event(SHARE, 1, 0), event(FREE, 0), event(ALLOC, 2), event(FREE, 2),
        event(FREE, 1),
    )  # fmt: skip
    anew = (
        event(ALLOC, 0), event(FREE, 0), event(SHARE, 1, 0), event(ALLOC, 2), event(FREE, 2),
        event(FREE, 1),
    )  # fmt: skip
    program = module("fusion", "fusion", "fusion")
    assert temp(assignment(*shared, ids="0@0 1@0 2@512"), program, "0.0.50") == 2 * 16384 - 512
    assert temp(assignment(*anew, ids="0@0 1@0 2@512"), program, "0.0.50") == 2 * 16384 - 1024


def test_other_backends_count_the_allocation_as_it_is() -> None:
    assert temp(assignment(*ONE), module("fusion", "tuple", "tuple", tiled=False)) == 1536
