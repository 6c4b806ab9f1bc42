"""A module as one graph: called computations inside the instructions that call them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.hlo import Module


class Edge(NamedTuple):
    """Data that flows from one instruction to another.

    Attributes:
      operand: position among the operands, -1 where a called computation gives its result.
    """

    source: Ref
    user: Ref
    operand: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGraph:
    """Where each computation lies, and how data flows in and out of it.

    Attributes:
      callers: computation to the instruction that calls it first; absent for the entry.
    """

    module: Module
    callers: dict[int, Ref]

    def place(self, computation: int) -> tuple[str, ...]:
        """Names of the instructions around a computation, outermost first, with its own role."""
        names: list[str] = []
        while computation in self.callers:
            ref = self.callers[computation]
            names.append(self.module.computations[computation].name)
            computation = ref.computation
        return tuple(reversed(names))

    def edges(self) -> Iterator[Edge]:
        """Operands, then what flows into called computations and out of them."""
        for number, computation in enumerate(self.module.computations):
            for position, instruction in enumerate(computation.instructions):
                user = Ref(number, position)
                for at, operand in enumerate(instruction.operands):
                    yield Edge(Ref(number, operand), user, at)
        for called, caller in sorted(self.callers.items()):
            yield from self._through(called, caller)

    def _through(self, called: int, caller: Ref) -> Iterator[Edge]:
        """A called computation reads what its caller reads, and the caller gives its result."""
        operands = (
            self.module.computations[caller.computation].instructions[caller.instruction].operands
        )
        computation = self.module.computations[called]
        for position, instruction in enumerate(computation.instructions):
            number = instruction.parameter
            if 0 <= number < len(operands):
                yield Edge(Ref(caller.computation, operands[number]), Ref(called, position), 0)
        yield Edge(Ref(called, computation.root), caller, -1)


def call_graph(module: Module) -> CallGraph:
    """The graph of a module; a computation that is called many times lies at its first caller."""
    callers: dict[int, Ref] = {}
    # callees come before callers, so that the last one seen first is the outermost
    for number in range(len(module.computations) - 1, -1, -1):
        for position, instruction in enumerate(module.computations[number].instructions):
            for _, called in instruction.called:
                callers.setdefault(called, Ref(number, position))
    return CallGraph(module=module, callers=callers)
