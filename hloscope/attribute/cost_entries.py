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
    for position, count, kernel, body in runs:
        computation = module.computations[position]
        for row in body.rows:
            instruction = computation.instructions[row.number]
            ref = Ref(position, row.number)
            flops, transcendentals, bytes_read, bytes_written = row.work
            yield CostEntry(
                ref=ref,
                kernel=kernel or ref,
                name=instruction.name,
                opcode=instruction.opcode,
                target=row.target,
                computation=computation.name,
                shape=row.shape,
                executions=count,
                flops=flops,
                transcendentals=transcendentals,
                bytes_read=bytes_read,
                bytes_written=bytes_written,
                device_bytes=row.device,
                module_path=places.module_path(ref),
                source=places.source(ref),
            )
