"""Elements of tuples that nothing reads: some printers leave them out."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.model.hlo import Computation, Module

_ELEMENT = "get-tuple-element"


def dead_elements(module: Module, offsets: Sequence[int]) -> frozenset[int]:
    """The nodes of get-tuple-elements without users, and of those that only such ones read.

    Args:
      module: as read.
      offsets: the first node of each computation.
    """
    return frozenset(
        base + place
        for base, computation in zip(offsets, module.computations, strict=True)
        for place in _dead_in(computation)
    )


def _dead_in(computation: Computation) -> list[int]:
    instructions = computation.instructions
    elements = [k for k, ins in enumerate(instructions) if ins.opcode == _ELEMENT and ins.operands]
    if not elements:
        return []
    used = {computation.root}
    for ins in instructions:
        used.update(ins.control)
        if ins.opcode != _ELEMENT:
            used.update(ins.operands)
    dead = []
    for place in reversed(elements):  # what reads an element comes after it
        if place in used or instructions[place].control:
            used.update(instructions[place].operands)
        else:
            dead.append(place)
    return dead
