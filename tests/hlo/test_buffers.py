"""Reading buffer assignments and replaying their heaps."""

from __future__ import annotations

from pathlib import Path

import pytest

from hloscope import hlo
from hloscope.errors import HloscopeError
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.buffers import (
    Allocation,
    Assigned,
    HeapEvent,
    HeapEventKind,
    HeapTrace,
    LogicalBuffer,
)

ALLOC, FREE, SHARE = HeapEventKind.ALLOC, HeapEventKind.FREE, HeapEventKind.SHARE_WITH


def _proto() -> pb.HloProto:
    proto = pb.HloProto()
    assignment = proto.buffer_assignment
    for number, size in ((1, 512), (2, 1024)):
        buffer = assignment.logical_buffers.add(id=number, size=size, color=1)
        buffer.defined_at.instruction_id = 10 + number
        buffer.defined_at.shape_index.append(number)
    allocation = assignment.buffer_allocations.add(index=7, size=2048, color=1, is_tuple=True)
    allocation.assigned.add(logical_buffer_id=1, offset=0, size=512)
    allocation.assigned.add(logical_buffer_id=2, offset=1024, size=1024)
    # XLA's index is wrong on purpose: the buffer's own allocation counts
    trace = assignment.heap_simulator_traces.add(buffer_allocation_index=99)
    trace.events.add(kind=0, buffer_id=1, computation_name="main", instruction_name="a")
    trace.events.add(
        kind=2, buffer_id=2, computation_name="main", instruction_name="b",
        share_with_canonical_id=1,
    )  # fmt: skip
    trace.events.add(kind=1, buffer_id=2, computation_name="main", instruction_name="b")
    return proto


def test_reads_every_field() -> None:
    buffers = hlo.read_buffers(_proto().SerializeToString())
    assert buffers is not None
    assert buffers.logical_buffers == (
        LogicalBuffer(1, 512, 11, (1,), 1),
        LogicalBuffer(2, 1024, 12, (2,), 1),
    )
    assert buffers.allocations == (
        Allocation(
            7, 2048, 1, False, True, False, False, 0, (), False,
            (Assigned(1, 0, 512), Assigned(2, 1024, 1024)),
        ),
    )  # fmt: skip
    assert buffers.heap_traces == (
        HeapTrace(
            7,
            (
                HeapEvent(ALLOC, 1, "main", "a", -1),
                HeapEvent(SHARE, 2, "main", "b", 1),
                HeapEvent(FREE, 2, "main", "b", -1),
            ),
        ),
    )


def test_a_module_without_buffers_has_none() -> None:
    proto = pb.HloProto()
    proto.hlo_module.name = "m"
    assert hlo.read_buffers(proto.SerializeToString()) is None
    assert hlo.read_buffers(b"") is None
    assert hlo.read_buffers(b"\xff\xff\xff") is None


def test_a_buffer_that_is_not_listed_is_refused() -> None:
    proto = _proto()
    del proto.buffer_assignment.logical_buffers[1]
    with pytest.raises(HloscopeError, match="holds buffer '2'"):
        hlo.read_buffers(proto.SerializeToString())


def test_a_damaged_assignment_is_refused() -> None:
    # field 3, four bytes long, cut off inside a field of its own
    with pytest.raises(HloscopeError, match="damaged"):
        hlo.read_buffers(b"\x1a\x04\x0a\x7f\x00\x00")


def test_replay_keeps_a_buffer_until_its_last_sharer_goes() -> None:
    trace = HeapTrace(
        0,
        (
            HeapEvent(ALLOC, 1, "c", "a", -1),
            HeapEvent(SHARE, 2, "c", "b", 1),
            HeapEvent(FREE, 1, "c", "a", -1),
            HeapEvent(SHARE, 3, "c", "d", 2),
            HeapEvent(FREE, 2, "c", "b", -1),
            HeapEvent(ALLOC, 4, "c", "e", -1),
            HeapEvent(FREE, 3, "c", "d", -1),
            HeapEvent(SHARE, 5, "c", "f", 1),
            HeapEvent(FREE, 4, "c", "e", -1),
            HeapEvent(FREE, 5, "c", "f", -1),
        ),
    )
    sizes = {1: 10, 2: 10, 3: 10, 4: 7, 5: 10}
    assert [s.size for s in hlo.HeapReplay(trace, sizes).states()] == [
        10, 10, 10, 10, 10, 17, 7, 17, 10, 0,
    ]  # fmt: skip
    top = hlo.peak(trace, sizes)
    assert top is not None
    assert (top.event, top.size) == (5, 17)
    assert set(hlo.HeapReplay(trace, sizes).run_to(5).live) == {1, 4}
    assert set(hlo.HeapReplay(trace, sizes).run_to(6).live) == {4}


def test_replay_ignores_a_free_too_many() -> None:
    trace = HeapTrace(
        0, (HeapEvent(ALLOC, 1, "c", "a", -1), *[HeapEvent(FREE, 1, "c", "a", -1)] * 2)
    )
    assert [s.size for s in hlo.HeapReplay(trace, {1: 5}).states()] == [5, 0, 0]


def test_corpus_heaps_end_empty_and_fit_their_allocation(corpus: Path) -> None:
    """A trace replayed by the right rules gives back all it took, and never holds too much."""
    seen = 0
    for path in sorted(corpus.glob("maxtext_aot/*/*after_optimizations.hlo.pb")):
        buffers = hlo.read_buffers(path.read_bytes())
        assert buffers is not None
        sizes = {b.id: b.size for b in buffers.logical_buffers}
        room = {a.number: a.size for a in buffers.allocations}
        for trace in buffers.heap_traces:
            states = list(hlo.HeapReplay(trace, sizes).states())
            assert states[-1].size == 0, path
            assert max(s.size for s in states) <= room[trace.allocation_index], path
            seen += 1
    assert seen >= 8
