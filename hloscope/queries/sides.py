"""The two sides of a comparison, each with all that is known of it."""

from __future__ import annotations

from typing import NamedTuple

from hloscope import hlo
from hloscope.model.canonical import Ref
from hloscope.model.communication import CommunicationLedger
from hloscope.model.comparison import Comparison
from hloscope.model.cost import CostEntry, CostLedger
from hloscope.model.hlo import Instruction, Module, StackFrame
from hloscope.model.ledger import MemoryLedger
from hloscope.model.source import Source
from hloscope.model.units import Maybe, Missing


class Side(NamedTuple):
    """One side.

    Attributes:
      name: `lhs` or `rhs`.
      source: the modules (optimized and, where it has it, before optimization), capture, buffers.
      memory: what device memory holds at peak; `None` where either side has no buffers.
      cost: of one step on one device.
      communication: likewise.
    """

    name: str
    source: Source
    memory: MemoryLedger | None
    cost: CostLedger
    communication: CommunicationLedger

    @property
    def module(self) -> Module:
        """The optimized module."""
        return self.source.module

    def instruction(self, ref: Ref) -> Instruction:
        """An instruction of the optimized module."""
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def costs(self) -> dict[Ref, CostEntry]:
        """What each instruction costs; those that never run, and wiring, are absent."""
        return {entry.ref: entry for entry in self.cost.entries}


def sides(comparison: Comparison) -> tuple[Side, Side]:
    """lhs, then rhs."""
    cost, communication = comparison.cost, comparison.communication
    left, right = (
        (comparison.memory.lhs, comparison.memory.rhs) if comparison.memory else (None,) * 2
    )
    return (
        Side("lhs", comparison.lhs, left, cost.lhs, communication.lhs),
        Side("rhs", comparison.rhs, right, cost.rhs, communication.rhs),
    )


def executions(costs: dict[Ref, CostEntry], ref: Ref) -> Maybe[int]:
    """How often an instruction runs in one step; `costs` are its side's."""
    entry = costs.get(ref)
    return entry.executions if entry else Missing("nothing counts how often it runs")


def module_path(costs: dict[Ref, CostEntry], ref: Ref) -> tuple[str, ...]:
    """The module path of an instruction, outermost first; empty where none is known."""
    entry = costs.get(ref)
    return tuple(entry.module_path.split("/")) if entry and entry.module_path else ()


def source_frame(module: Module, instruction: Instruction) -> tuple[StackFrame, ...]:
    """The frame to show for an instruction, in the user's own code; empty where there is none."""
    frame = hlo.origin(module, instruction)
    return () if frame is None else (frame,)


def partners(comparison: Comparison) -> dict[Ref, Ref]:
    """Instruction of lhs to instruction of rhs."""
    return {pair.lhs: pair.rhs for pair in comparison.pairing.pairs}
