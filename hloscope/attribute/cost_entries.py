"""What each instruction of a module costs, one entry after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hloscope.attribute.cost_bodies import Run
from hloscope.model.canonical import Ref
from hloscope.model.cost import CostEntry
from hloscope.model.hlo import Module

ModulePath = Callable[[Ref], str | None]
Place = Callable[[Ref], str]


class Places:
    """Where instructions come from, as far as somebody told."""

    def __init__(self, module_path: ModulePath | None, source: Place | None) -> None:
        self.module_path = module_path or (lambda _: None)
        self.source = source or (lambda _: "")


def entries(module: Module, runs: Sequence[Run], places: Places) -> Iterator[CostEntry]:
    """One entry for each instruction that runs as part of the program and may cost something."""
    for position, executions, kernel, body in runs:
        computation = module.computations[position]
        for row in body.rows:
            instruction = computation.instructions[row.number]
            ref = Ref(position, row.number)
            # by position: a module has a hundred thousand of them, and keywords take twice as long
            yield CostEntry(
                ref, kernel or ref, instruction.name, instruction.opcode, row.target,
                computation.name, row.shape, executions, *row.work, row.device,
                places.module_path(ref), places.source(ref),
            )  # fmt: skip
