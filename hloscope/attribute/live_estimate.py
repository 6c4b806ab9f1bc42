"""What a module would hold at peak, estimated where no buffers are assigned yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hloscope.attribute.cost_shapes import array_bytes, in_device_memory, leaves
from hloscope.attribute.cost_users import call_order
from hloscope.model.hlo import Computation, Instruction, Module, Shape
from hloscope.model.units import Bytes

# results that lie where an operand lies; a loop and an update are taken to run in place
_FORWARDS = frozenset({
    "add-dependency", "async-done", "async-update", "bitcast", "copy-done", "domain",
    "dynamic-update-slice", "optimization-barrier", "while",
})  # fmt: skip
_FREE = frozenset({"constant", "iota", "parameter"})
# an instruction that runs these holds what they hold; others are inside one kernel
_RUNS = frozenset({"while", "conditional", "call", "async-start"})
# `{0}: (3, {}, may-alias)`, where the output's index is the key
_ALIASED = re.compile(r"\{([\d, ]*)\}: \(")

# a buffer is the number of the instruction that makes it and the place among its arrays
_Buffer = tuple[int, int]


def live_estimate(module: Module) -> Bytes:
    """Bytes of device memory at peak, arguments and outputs included.

    Arrays live from their instruction to their last use in the order that the module lists
    instructions, which before scheduling is no schedule. Loops, updates and donated outputs are
    taken to be in place; layouts count where there are any. An estimate for following a module
    through passes, not a figure to plan with.
    """
    if module.entry is None:
        return Bytes(0)
    peaks: dict[int, int] = {}
    for position in call_order(module):
        own = _aliased(module) if position == module.entry else None
        peaks[position] = _peak(module.computations[position], peaks, own)
    entry = module.computations[module.entry]
    arguments = sum(_bytes(i.shape) for i in entry.instructions if i.opcode == "parameter")
    return Bytes(arguments + peaks.get(module.entry, 0))


def _aliased(module: Module) -> frozenset[int]:
    """First tuple index of each output that takes over an input's memory."""
    text = module.header_attr("input_output_alias") or ""
    indices = (found.split(",")[0].strip() for found in _ALIASED.findall(text))
    return frozenset(int(index) if index else 0 for index in indices)


def _bytes(shape: Shape) -> int:
    return sum(array_bytes(leaf) for leaf in leaves(shape) if in_device_memory(leaf))


def _peak(
    computation: Computation, peaks: Mapping[int, int], aliased: frozenset[int] | None
) -> int:
    """The most that a computation's own arrays, and what it calls, hold at once."""
    held = _places(computation)
    sizes = _sizes(computation, held)
    root = held[computation.root]
    if aliased is not None:
        for index, buffer in enumerate(root):
            if index in aliased:
                sizes[buffer] = 0
    last = dict.fromkeys(root, len(held))
    for number, instruction in enumerate(computation.instructions):
        for operand in instruction.operands:
            for buffer in held[operand]:
                last[buffer] = max(last.get(buffer, 0), number)
    ends: dict[int, list[_Buffer]] = {}
    for buffer in sizes:
        ends.setdefault(last.get(buffer, buffer[0]), []).append(buffer)
    return _sweep(computation, sizes, ends, peaks)


def _sweep(
    computation: Computation,
    sizes: Mapping[_Buffer, int],
    ends: Mapping[int, Sequence[_Buffer]],
    peaks: Mapping[int, int],
) -> int:
    live = most = 0
    starts: dict[int, int] = {}
    for (number, _), size in sizes.items():
        starts[number] = starts.get(number, 0) + size
    for number, instruction in enumerate(computation.instructions):
        live += starts.get(number, 0)
        inner = 0
        if instruction.opcode in _RUNS:
            inner = max((peaks.get(callee, 0) for _, callee in instruction.called), default=0)
        most = max(most, live + inner)
        live -= sum(sizes[buffer] for buffer in ends.get(number, ()))
    return most


def _places(computation: Computation) -> list[tuple[_Buffer, ...]]:
    """The buffer of each array that an instruction gives, through tuples and what is in place."""
    held: list[tuple[_Buffer, ...]] = []
    for number, instruction in enumerate(computation.instructions):
        held.append(_place(number, instruction, held, computation))
    return held


def _place(
    number: int,
    instruction: Instruction,
    held: Sequence[tuple[_Buffer, ...]],
    computation: Computation,
) -> tuple[_Buffer, ...]:
    count = sum(1 for _ in leaves(instruction.shape))
    operands = instruction.operands
    if instruction.opcode == "tuple":
        return tuple(buffer for operand in operands for buffer in held[operand])
    if instruction.opcode == "get-tuple-element":
        index = int(instruction.attr("index") or 0)
        elements = computation.instructions[operands[0]].shape.elements
        start = sum(sum(1 for _ in leaves(element)) for element in elements[:index])
        return held[operands[0]][start : start + count]
    if instruction.opcode in _FORWARDS and operands and len(held[operands[0]]) == count:
        return held[operands[0]]
    return tuple((number, leaf) for leaf in range(count))


def _sizes(computation: Computation, held: Sequence[Sequence[_Buffer]]) -> dict[_Buffer, int]:
    sizes: dict[_Buffer, int] = {}
    for number, (instruction, buffers) in enumerate(
        zip(computation.instructions, held, strict=True)
    ):
        if instruction.opcode in _FREE:
            continue
        for buffer, leaf in zip(buffers, leaves(instruction.shape), strict=False):
            if buffer[0] == number and in_device_memory(leaf):
                sizes[buffer] = array_bytes(leaf)
    return sizes
