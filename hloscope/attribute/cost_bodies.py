"""What each computation costs in one run, worked out once for those that are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hloscope.attribute.cost_custom_calls import CustomWork, custom_work, target_of
from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_shapes import device_share, dtype_text
from hloscope.attribute.cost_traffic import NO_TRAFFIC, traffic
from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import Replay
from hloscope.model.canonical import Ref
from hloscope.model.cost import Quantity, add
from hloscope.model.hlo import Computation, Instruction
from hloscope.model.units import Maybe, Measured, Missing

# They cost nothing of their own: names for values, and wrappers whose contents have entries
UNLISTED = frozenset({
    "add-dependency", "after-all", "async-start", "async-update", "bitcast", "call",
    "conditional", "constant", "domain", "get-tuple-element", "parameter", "tuple", "while",
})  # fmt: skip
_ZERO: Measured[int] = Measured(0)


class Row(NamedTuple):
    """One instruction of a computation, each figure of one execution.

    Attributes:
      number: its position in the computation.
      target: a custom call's.
      shape: as text, without layouts.
      device: bytes read and written in device memory.
    """

    number: int
    target: str
    shape: str
    work: CustomWork
    device: Maybe[int]


class Sum(NamedTuple):
    """One quantity over the rows of a body.

    Attributes:
      known: the sum of what is known.
      unknown: reason to the number of rows that it keeps from being known.
      counting: rows that are not known to be 0.
    """

    known: int
    unknown: Mapping[str, int]
    counting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What one run of a computation costs, without the computations that it calls.

    Attributes:
      first: the first computation that is alike.
      rows: the instructions that may cost something.
    """

    first: int
    rows: tuple[Row, ...]
    sums: Mapping[Quantity, Sum]


class Run(NamedTuple):
    """A computation that runs as part of the program.

    Attributes:
      executions: times per step.
      kernel: the fusion around it, `None` where the schedule runs its instructions themselves.
    """

    position: int
    executions: Maybe[int]
    kernel: Ref | None
    body: Body


def runs_of(graph: Graph, replay: Replay, runs: Executions) -> tuple[Run, ...]:
    """Every computation that runs as part of the program, in module order."""
    bodies: dict[tuple[int, bool], Body] = {}
    known: dict[tuple[int, bool], Row] = {}
    found = []
    for position, count in enumerate(runs.computations):
        if count is None:
            continue
        kernel = runs.kernels.get(position)
        key = (graph.alike[position], kernel is not None)
        if key not in bodies:
            rows = tuple(_rows(graph, replay, key[0], known, fused=key[1]))
            bodies[key] = _body(key[0], rows)
        found.append(Run(position, count, kernel, bodies[key]))
    return tuple(found)


def _body(first: int, rows: tuple[Row, ...]) -> Body:
    sums = {
        Quantity.FLOPS: _sum(row.work.flops for row in rows),
        Quantity.TRANSCENDENTALS: _sum(row.work.transcendentals for row in rows),
        Quantity.BYTES_READ: _sum(row.work.bytes_read for row in rows),
        Quantity.BYTES_WRITTEN: _sum(row.work.bytes_written for row in rows),
        Quantity.DEVICE_BYTES: _sum(row.device for row in rows),
    }
    return Body(first=first, rows=rows, sums=sums)


def _sum(figures: Iterator[Maybe[int]]) -> Sum:
    known = counting = 0
    unknown: Counter[str] = Counter()
    for figure in figures:
        if isinstance(figure, Missing):
            unknown[figure.reason] += 1
            counting += 1
        elif figure.value:
            known += figure.value
            counting += 1
    return Sum(known, unknown, counting)


def _rows(
    graph: Graph, replay: Replay, first: int, known: dict[tuple[int, bool], Row], *, fused: bool
) -> Iterator[Row]:
    """The rows of a computation; `known` has those of instructions seen before, by signature."""
    signatures = graph.signatures(first)
    for number, instruction in enumerate(graph.body(first).instructions):
        if instruction.opcode in UNLISTED:
            continue
        key = (signatures[number], fused)
        if key not in known:
            known[key] = _row(graph, replay, Ref(first, number), instruction, fused=fused)
        row = known[key]
        yield row if row.number == number else row._replace(number=number)


def _row(graph: Graph, replay: Replay, ref: Ref, instruction: Instruction, *, fused: bool) -> Row:
    is_custom = instruction.opcode == "custom-call"
    if is_custom:
        work, device = _custom(graph.body(ref.computation), instruction, fused=fused)
    else:
        work, device = _work(graph, replay, ref, instruction, fused=fused)
    target = target_of(instruction) if is_custom else ""
    return Row(ref.instruction, target, dtype_text(instruction.shape), work, device)


def _custom(
    computation: Computation, instruction: Instruction, *, fused: bool
) -> tuple[CustomWork, Maybe[int]]:
    """A custom call's figures with device memory's share; inside a fusion no byte moves."""
    operands = [computation.instructions[n].shape for n in instruction.operands]
    known = custom_work(instruction, operands)
    if fused:
        known = known._replace(bytes_read=_ZERO, bytes_written=_ZERO)
    return known, _custom_device_bytes(known, instruction)


def _work(
    graph: Graph, replay: Replay, ref: Ref, instruction: Instruction, *, fused: bool
) -> tuple[CustomWork, Maybe[int]]:
    """The figures of one execution with device memory's share; inside a fusion no byte moves."""
    if ref in replay.unreadable:
        unreadable = Missing(f"the attributes of '{instruction.opcode}' instructions do not read")
        return CustomWork(unreadable, unreadable, unreadable, unreadable), unreadable
    # a fusion's arithmetic is that of its contents, which have entries of their own
    done = replay.instructions[ref.computation][ref.instruction]
    idle = instruction.opcode == "fusion"
    moved = NO_TRAFFIC if fused else traffic(graph, graph.body(ref.computation), instruction)
    figures = CustomWork(
        _ZERO if idle else _measured(done.flops),
        _ZERO if idle else _measured(done.transcendentals),
        _measured(moved.read),
        _measured(moved.written),
    )
    return figures, _measured(moved.device)


def _measured(value: int) -> Measured[int]:
    return Measured(value) if value else _ZERO


def _custom_device_bytes(known: CustomWork, instruction: Instruction) -> Maybe[int]:
    """All bytes of a custom call, less results that lie outside device memory."""
    total = add(known.bytes_read, known.bytes_written)
    if isinstance(total, Missing) or isinstance(known.bytes_written, Missing):
        return total
    outside = known.bytes_written.value - min(
        device_share(instruction.shape), known.bytes_written.value
    )
    return Measured(total.value - outside)
