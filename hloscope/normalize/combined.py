"""Combined collectives: which element of the result comes of which operand.

XLA combines collectives on several values into one instruction with as many operands and as many
elements in its result, in an order that says nothing: element k is what became of operand k.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hloscope.model.hlo import Computation, Instruction, Module, Shape

# all-to-all is missing: its operands are the parts of one value
_WHOLE = frozenset({"all-reduce", "all-gather", "reduce-scatter", "collective-permute"})
_DONE = {f"{opcode}-done": f"{opcode}-start" for opcode in _WHOLE}
# an attribute of the whole that has an entry for each element, or names elements by number
_BY_POSITION = frozenset({"sharding", "output_to_operand_aliasing"})
_ALIASING = "aliasing_operands"


class Combined(NamedTuple):
    """A collective on several values.

    Attributes:
      operands: for each element of the result, the node that it is made of.
      reused: the elements that take over the memory of their operand.
    """

    operands: tuple[int, ...]
    reused: frozenset[int]


def combined_collectives(module: Module, offsets: Sequence[int]) -> dict[int, Combined]:
    """The combined collectives by node, asynchronous ones at both of their ends.

    Args:
      module: as read.
      offsets: the first node of each computation.
    """
    return {
        base + place: found._replace(operands=tuple(base + k for k in found.operands))
        for base, computation in zip(offsets, module.computations, strict=True)
        for place, found in _combined_in(computation)
    }


def unordered(shape: Shape) -> Shape:
    """The shape with the elements of each tuple sorted."""
    if not shape.elements:
        return shape
    return shape._replace(elements=tuple(sorted(map(unordered, shape.elements), key=repr)))


def without_positions(attrs: Sequence[tuple[str, str]], reused: int) -> tuple[tuple[str, str], ...]:
    """The attributes, what they say of single elements replaced by of how many they say it."""
    if not reused:
        return tuple(attrs)
    return tuple(
        (name, _counted(text, reused) if name == "backend_config" else text) for name, text in attrs
    )


def _combined_in(computation: Computation) -> Iterator[tuple[int, Combined]]:
    instructions = computation.instructions
    ends = []
    for place, ins in enumerate(instructions):
        if ins.shape.dtype == "tuple" and ins.opcode in _WHOLE:
            found = _combined(computation, ins, ins.shape)
            if found is not None:
                yield place, found
        elif ins.shape.dtype == "tuple" and ins.opcode in _DONE and len(ins.operands) == 1:
            ends.append(place)
    if ends:
        yield from _asynchronous(computation, ends)


def _asynchronous(computation: Computation, ends: list[int]) -> Iterator[tuple[int, Combined]]:
    """Both ends of collectives whose start hands everything to its end."""
    instructions = computation.instructions
    uses = Counter(operand for ins in instructions for operand in ins.operands)
    uses[computation.root] += 1
    for place in ends:
        (begun,) = instructions[place].operands
        start = instructions[begun]
        if start.opcode == _DONE[instructions[place].opcode] and uses[begun] == 1:
            found = _combined(computation, start, instructions[place].shape)
            if found is not None:
                yield begun, found
                yield place, found


def _combined(computation: Computation, ins: Instruction, result: Shape) -> Combined | None:
    """`None` where there is but one operand, or where something says more about positions."""
    count = len(ins.operands)
    if count < 2 or len(result.elements) != count or _BY_POSITION.intersection(dict(ins.attrs)):
        return None
    operands = (computation.instructions[operand].shape for operand in ins.operands)
    if any(shape.dtype == "tuple" for shape in (*operands, *result.elements)):
        return None
    reused = _reused(ins.attr("backend_config") or "", count)
    return None if reused is None else Combined(ins.operands, reused)


def _reused(config: str, count: int) -> frozenset[int] | None:
    """Elements in the memory of their operand; `None` where operands are named in another way.

    The TPU compiler numbers operands first, then elements: `["1","9"]` is both ends of the second
    of eight.
    """
    if "operand" not in config:
        return frozenset()
    try:
        lists = json.loads(config)[_ALIASING]["lists"]
        pairs = [[int(index) for index in entry["indices"]] for entry in lists]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    found = frozenset(pair[0] for pair in pairs if len(pair) == 2 and pair[1] == pair[0] + count)
    named_once = config.count("operand") == 1 and len(found) == len(pairs)
    return found if named_once and all(0 <= k < count for k in found) else None


def _counted(text: str, reused: int) -> str:
    config: Mapping[str, object] = json.loads(text)
    return json.dumps({**config, _ALIASING: reused})
