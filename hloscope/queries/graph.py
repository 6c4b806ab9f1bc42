"""Walks over modules and over what differs between them."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.model.canonical import Ref
from hloscope.model.changes import Change, ChangeClass, Region, Role
from hloscope.model.comparison import Comparison
from hloscope.model.hlo import Computation, Instruction, Module


def instructions(module: Module, *opcodes: str) -> Iterator[tuple[Ref, Instruction]]:
    """All instructions in module order; with opcodes, those of any of these."""
    for number, computation in enumerate(module.computations):
        for place, instruction in enumerate(computation.instructions):
            if not opcodes or instruction.opcode in opcodes:
                yield Ref(number, place), instruction


def users(computation: Computation) -> dict[int, list[int]]:
    """Position of an instruction to the positions of those that read it, in order."""
    found: dict[int, list[int]] = {}
    for place, instruction in enumerate(computation.instructions):
        for operand in dict.fromkeys(instruction.operands):
            found.setdefault(operand, []).append(place)
    return found


def callers(module: Module) -> dict[int, list[tuple[Ref, str]]]:
    """Position of a computation to the instructions that call it, each with its role."""
    found: dict[int, list[tuple[Ref, str]]] = {}
    for ref, instruction in instructions(module):
        for role, callee in instruction.called:
            found.setdefault(callee, []).append((ref, role))
    return found


def changes(
    comparison: Comparison, *classes: ChangeClass, role: Role | None = None
) -> Iterator[tuple[Region, Change]]:
    """Changes of the graph with their regions, in the order of the diff.

    Args:
      comparison: the two sides.
      classes: those that are of any of these; all by default.
      role: causes or consequences alone.
    """
    for region in comparison.changes.regions:
        for change in (*region.heads, *region.followers):
            if role is not None and change.role is not role:
                continue
            if not classes or set(classes) & set(change.classes):
                yield region, change
