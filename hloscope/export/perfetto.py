"""Memory over the schedule as a trace that ui.perfetto.dev opens.

The format is Chrome's trace event JSON: a process for each side, a counter for the bytes held, and
each buffer as a slice from where it is taken to where it is given back. There is no clock: one
event of XLA's heap trace is one microsecond.
"""

from __future__ import annotations

import json
from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hloscope import attribute, hlo
from hloscope.errors import HloscopeError
from hloscope.export.files import Files
from hloscope.model.buffers import BufferAssignment, HeapTrace
from hloscope.model.comparison import Comparison
from hloscope.model.hlo import Instruction, Module
from hloscope.model.source import Source

DEVICE = 0  # the memory space that is shown
_COUNTER = "device memory"


class Lifetime(NamedTuple):
    """One buffer's memory; `start` and `end` are events of the heap trace, `end` not included."""

    start: int
    end: int
    size: int
    buffer: int


def perfetto(subject: Source | Comparison) -> Files:
    """Device memory over the schedule, arguments, outputs and constants included.

    Raises:
      HloscopeError: a side has no buffer assignment.
    """
    sides = (subject,) if isinstance(subject, Source) else (subject.lhs, subject.rhs)
    events = [event for pid, side in enumerate(sides, 1) for event in _side(pid, side)]
    trace = {"traceEvents": events, "displayTimeUnit": "ns"}
    return Files(
        contents={"": json.dumps(trace, separators=(",", ":")).encode()},
        opens_with="open https://ui.perfetto.dev and drop {out} on it",
        notes=("there is no clock: one event of the heap trace is one microsecond",),
    )


def _side(pid: int, side: Source) -> Iterator[dict[str, Any]]:
    ledger = attribute.source_memory(side)
    buffers = side.buffers
    if buffers is None:
        raise HloscopeError("no buffer assignment", where=side.label)  # source_memory says it first
    yield _named("process_name", pid, 0, side.label)
    for at, point in enumerate(ledger.timeline):
        yield {"ph": "C", "pid": pid, "ts": at, "name": _COUNTER, "args": {"bytes": point.size}}
    sizes = [point.size for point in ledger.timeline]
    if sizes:
        yield {"ph": "i", "pid": pid, "tid": 0, "ts": sizes.index(max(sizes)), "s": "p",
               "name": "peak", "args": {"bytes": max(sizes)}}  # fmt: skip
    yield from _slices(pid, side.module, buffers)


def _slices(pid: int, module: Module, buffers: BufferAssignment) -> Iterator[dict[str, Any]]:
    makers = {i.id: i for c in module.computations for i in c.instructions}
    made = {b.id: makers.get(b.instruction_id) for b in buffers.logical_buffers}
    lanes = packed(lifetimes(buffers))
    digits = len(str(len(lanes)))
    for number, lane in enumerate(lanes, 1):
        # viewers sort by name
        yield _named("thread_name", pid, number, f"buffers {number:0{digits}}")
        for life in lane:
            yield {"ph": "X", "pid": pid, "tid": number, "ts": life.start,
                   "dur": life.end - life.start, **_shown(life, made, module)}  # fmt: skip


def _shown(
    life: Lifetime, made: Mapping[int, Instruction | None], module: Module
) -> dict[str, Any]:
    instruction = made.get(life.buffer)
    args: dict[str, Any] = {"bytes": life.size, "logical_buffer": life.buffer}
    if instruction is None:
        return {"name": f"buffer {life.buffer}", "args": args}
    args |= {"shape": hlo.format_shape(instruction.shape), "opcode": instruction.opcode}
    if instruction.metadata.op_name:
        args["op_name"] = instruction.metadata.op_name
    frame = hlo.origin(module, instruction)
    if frame is not None:
        args["source"] = f"{frame.file}:{frame.line}"
    return {"name": instruction.name, "args": args}


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}}


def lifetimes(buffers: BufferAssignment) -> list[Lifetime]:
    """When each piece of temporary device memory is held, in the order of the ledger's timeline."""
    sizes = {b.id: b.size for b in buffers.logical_buffers}
    traces = {trace.allocation_index: trace for trace in buffers.heap_traces}
    found: list[Lifetime] = []
    start = 0
    for allocation in buffers.allocations:
        trace = traces.get(allocation.number)
        if allocation.color != DEVICE or trace is None or not hlo.is_temporary(allocation):
            continue
        found += _of_trace(trace, sizes, start)
        start += len(trace.events)
    return found


def _of_trace(trace: HeapTrace, sizes: Mapping[int, int], start: int) -> Iterator[Lifetime]:
    replay = hlo.HeapReplay(trace, sizes)
    open_since: dict[int, int] = {}
    for state in replay.states():
        buffer = replay.root(trace.events[state.event].buffer_id)
        if buffer in replay.live and buffer not in open_since:
            open_since[buffer] = state.event
        elif buffer not in replay.live and buffer in open_since:
            yield Lifetime(
                start + open_since.pop(buffer), start + state.event, sizes[buffer], buffer
            )
    for buffer, since in sorted(open_since.items()):
        yield Lifetime(start + since, start + len(trace.events), sizes[buffer], buffer)


def packed(lives: Sequence[Lifetime]) -> list[list[Lifetime]]:
    """Lanes in which no two lifetimes overlap, the largest buffers in the first ones."""
    lanes: list[list[Lifetime]] = []
    for life in sorted(lives, key=lambda each: (-each.size, each)):
        if not life.size:
            continue
        lane = next((lane for lane in lanes if _fits(lane, life)), None)
        if lane is None:
            lanes.append([life])
        else:
            insort(lane, life)
    return lanes


def _fits(lane: Sequence[Lifetime], life: Lifetime) -> bool:
    at = bisect_right(lane, life)
    before = at == 0 or lane[at - 1].end <= life.start
    return before and (at == len(lane) or life.end <= lane[at].start)
