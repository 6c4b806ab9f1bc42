"""Bytes that one HLO instruction reads or writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hloscope.attribute.cost_shapes import (
    device_share,
    element_count,
    in_device_memory,
    leaf_bytes,
)
from hloscope.attribute.cost_users import Graph, called, outputs_of
from hloscope.model.hlo import Computation, Instruction, Shape

# Constants of up to so many elements are immediates of the fused code, as in XLA's cost analysis.
IMMEDIATE_ELEMENTS = 1
# They name, reorder or wait for values and move none. `while`, `conditional`, `call` and
# `async-start` move what their computations move.
SILENT = frozenset({
    "add-dependency", "after-all", "async-done", "async-start", "async-update", "bitcast", "call",
    "conditional", "constant", "domain", "get-dimension-size", "get-tuple-element", "opt-barrier",
    "parameter", "partition-id", "replica-id", "tuple", "while", "all-gather-done",
    "all-reduce-done", "collective-permute-done", "copy-done", "recv-done", "send-done",
})  # fmt: skip
# Their result is one element of the tuple that they return: the rest is operands and contexts
_RESULT_ELEMENT = {"all-gather-start": 1, "collective-permute-start": 1, "copy-start": 0}


class Traffic(NamedTuple):
    """Bytes of one execution; `device` is the part of read + written in memory space 0."""

    read: int = 0
    written: int = 0
    device: int = 0

    def plus(self, other: Traffic) -> Traffic:
        """Both together."""
        return Traffic(
            self.read + other.read, self.written + other.written, self.device + other.device
        )


NO_TRAFFIC = Traffic()


def traffic(graph: Graph, computation: Computation, instruction: Instruction) -> Traffic:
    """What one execution moves, padding of tiled layouts included.

    By default every operand is read once and every result written once. A slice reads what it
    returns, an update moves what it updates, a fusion reads each parameter as its users do.
    """
    opcode = instruction.opcode
    if opcode in SILENT:
        return NO_TRAFFIC
    operands = [computation.instructions[n].shape for n in instruction.operands]
    if opcode == "fusion":
        return _fusion(graph, instruction, operands)
    rule = _RULES.get(opcode)
    if rule is not None:
        return rule(instruction, operands)
    if opcode == "transpose" and is_bitcast(instruction, operands[0]):
        return NO_TRAFFIC
    return _sum(_reads(operands), write(_result(instruction)))


def _result(instruction: Instruction) -> Shape:
    element = _RESULT_ELEMENT.get(instruction.opcode)
    elements = instruction.shape.elements
    return instruction.shape if element is None or element >= len(elements) else elements[element]


def read(shape: Shape) -> Traffic:
    """A read of all arrays of a shape."""
    return Traffic(leaf_bytes(shape), 0, device_share(shape))


def write(shape: Shape) -> Traffic:
    """A write of all arrays of a shape."""
    return Traffic(0, leaf_bytes(shape), device_share(shape))


def _part(part: Shape, whole: Shape, *, written: bool = False) -> Traffic:
    """A move of so much as `part`, out of or into the memory where `whole` lies."""
    size = leaf_bytes(part)
    device = size if in_device_memory(whole) else 0
    return Traffic(0, size, device) if written else Traffic(size, 0, device)


def _reads(shapes: Sequence[Shape]) -> Traffic:
    return _sum(*(read(shape) for shape in shapes))


def _sum(*parts: Traffic) -> Traffic:
    total = NO_TRAFFIC
    for part in parts:
        total = total.plus(part)
    return total


def _slice(instruction: Instruction, operands: Sequence[Shape]) -> Traffic:
    return _sum(
        _part(instruction.shape, operands[0]), _reads(operands[1:]), write(instruction.shape)
    )


def _update(instruction: Instruction, operands: Sequence[Shape]) -> Traffic:
    written = _part(operands[1], instruction.shape, written=True)
    return _sum(_reads(operands[1:]), written)


def _scatter(_: Instruction, operands: Sequence[Shape]) -> Traffic:
    # targets are read and written where updates fall, updates and indices read once
    targets = len(operands) // 2
    updates = operands[targets + 1 :]
    touched = [
        _sum(_part(update, target), _part(update, target, written=True), read(update))
        for update, target in zip(updates, operands[:targets], strict=True)
    ]
    return _sum(read(operands[targets]), *touched)


def _infeed(instruction: Instruction, _: Sequence[Shape]) -> Traffic:
    return write(instruction.shape)


def _send(_: Instruction, operands: Sequence[Shape]) -> Traffic:
    return _reads(operands)


def _recv(instruction: Instruction, _: Sequence[Shape]) -> Traffic:
    return write(instruction.shape.elements[0])


def _triangle(instruction: Instruction, operands: Sequence[Shape]) -> Traffic:
    # half of the matrix is read
    half = read(operands[0])
    return _sum(
        Traffic(half.read // 2, 0, half.device // 2), _reads(operands[1:]), write(instruction.shape)
    )


_RULES: dict[str, Callable[[Instruction, Sequence[Shape]], Traffic]] = {
    "cholesky": _triangle,
    "dynamic-slice": _slice,
    "dynamic-update-slice": _update,
    "gather": _slice,
    "infeed": _infeed,
    "outfeed": _send,
    "recv": _recv,
    "scatter": _scatter,
    "send": _send,
    "slice": _slice,
    "triangular-solve": _triangle,
}


def is_bitcast(instruction: Instruction, operand: Shape) -> bool:
    """Whether a transpose leaves every byte where it is: the layouts undo it."""
    result = instruction.shape
    if operand.layout is None or result.layout is None or operand.dtype != result.dtype:
        return False
    permutation = [int(d) for d in (instruction.attr("dimensions") or "{}")[1:-1].split(",") if d]
    moved = tuple(permutation[d] for d in result.layout.minor_to_major if d < len(permutation))
    return moved == operand.layout.minor_to_major and result.layout.tiles == operand.layout.tiles


def _fusion(graph: Graph, instruction: Instruction, operands: Sequence[Shape]) -> Traffic:
    position = called(instruction)
    if position is None:
        return _sum(_reads(operands), write(instruction.shape))
    body = graph.body(position)
    moved = [_output(body, root) for root in outputs_of(body)]
    for number, inner in enumerate(body.instructions):
        if inner.opcode == "constant" and element_count(inner.shape) > IMMEDIATE_ELEMENTS:
            moved.append(read(inner.shape))
        elif inner.opcode == "parameter" and inner.parameter < len(operands):
            # the caller's shape says in which memory the operand lies
            moved.append(_parameter(graph, position, number, operands[inner.parameter]))
    return _sum(*moved)


def _output(body: Computation, position: int) -> Traffic:
    result = body.instructions[position]
    source = _through_bitcasts(body, position)
    if source.opcode == "dynamic-update-slice":
        update = body.instructions[source.operands[1]].shape
        return _part(update, result.shape, written=True)
    return write(result.shape)


def _through_bitcasts(body: Computation, position: int) -> Instruction:
    instruction = body.instructions[position]
    while instruction.opcode == "bitcast" and instruction.operands:
        instruction = body.instructions[instruction.operands[0]]
    return instruction


def _parameter(graph: Graph, body: int, position: int, whole: Shape) -> Traffic:
    """The reads of a fused parameter: its slices one by one, or all of it once."""
    full = read(whole)
    parts = NO_TRAFFIC
    for part in _uses(graph, body, position):
        if part is None:
            return full
        parts = parts.plus(_part(part, whole))
    # slices that overlap are read from the chip's own memory the second time
    return min(parts, full)


def _uses(graph: Graph, body: int, position: int) -> Iterator[Shape | None]:
    """What each use reads: a slice's shape, nothing, or `None` for the whole value."""
    for number in graph.users(body).get(position, ()):
        user = graph.body(body).instructions[number]
        first = user.operands[0] == position and user.operands.count(position) == 1
        if user.opcode == "bitcast":
            yield from _uses(graph, body, number)
        elif user.opcode in ("slice", "dynamic-slice", "gather") and first:
            yield user.shape
        elif user.opcode == "dynamic-update-slice" and first:
            continue  # written in place
        elif user.opcode == "fusion" and (inner := called(user)) is not None:
            for parameter in parameters_of(graph, inner, user, position):
                yield from _uses(graph, inner, parameter)
        else:
            yield None


def parameters_of(graph: Graph, inner: int, fusion: Instruction, operand: int) -> list[int]:
    """Positions of the fused parameters that stand for an operand of the fusion."""
    wanted = {n for n, position in enumerate(fusion.operands) if position == operand}
    return [
        position
        for position, instruction in enumerate(graph.body(inner).instructions)
        if instruction.opcode == "parameter" and instruction.parameter in wanted
    ]
