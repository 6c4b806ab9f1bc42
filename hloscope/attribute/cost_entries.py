"""What each instruction of a module costs, one entry after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hloscope.attribute.cost_custom_calls import CustomWork, custom_work, target_of
from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_shapes import device_share, dtype_text
from hloscope.attribute.cost_traffic import NO_TRAFFIC, traffic
from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import Replay
from hloscope.model.canonical import Ref
from hloscope.model.cost import CostEntry, add
from hloscope.model.hlo import Computation, Instruction
from hloscope.model.units import Maybe, Measured, Missing

# They cost nothing of their own: names for values, and wrappers whose contents have entries
UNLISTED = frozenset({
    "add-dependency", "after-all", "async-start", "async-update", "bitcast", "call",
    "conditional", "constant", "domain", "get-tuple-element", "parameter", "tuple", "while",
})  # fmt: skip
_ZERO: Measured[int] = Measured(0)

ModulePath = Callable[[Ref], str | None]
Place = Callable[[Ref], str]


class Places:
    """Where instructions come from, as far as somebody told."""

    def __init__(self, module_path: ModulePath | None, source: Place | None) -> None:
        self.module_path = module_path or (lambda _: None)
        self.source = source or (lambda _: "")


def entries(graph: Graph, replay: Replay, runs: Executions, places: Places) -> Iterator[CostEntry]:
    """One entry for each instruction that runs as part of the program and may cost something."""
    for position, computation in enumerate(graph.module.computations):
        count = runs.computations[position]
        if count is None:
            continue
        kernel = runs.kernels.get(position)
        for number, instruction in enumerate(computation.instructions):
            if instruction.opcode not in UNLISTED:
                ref = Ref(position, number)
                work = _work(graph, replay, ref, instruction, fused=kernel is not None)
                yield _entry(computation, instruction, count, ref, kernel or ref, work, places)


def _entry(
    computation: Computation,
    instruction: Instruction,
    count: Maybe[int],
    ref: Ref,
    kernel: Ref,
    work: tuple[CustomWork, Maybe[int]],
    places: Places,
) -> CostEntry:
    figures, device_bytes = work
    return CostEntry(
        ref=ref,
        kernel=kernel,
        name=instruction.name,
        opcode=instruction.opcode,
        target=target_of(instruction) if instruction.opcode == "custom-call" else "",
        computation=computation.name,
        shape=dtype_text(instruction.shape),
        executions=count,
        flops=figures.flops,
        transcendentals=figures.transcendentals,
        bytes_read=figures.bytes_read,
        bytes_written=figures.bytes_written,
        device_bytes=device_bytes,
        module_path=places.module_path(ref),
        source=places.source(ref),
    )


def _work(
    graph: Graph, replay: Replay, ref: Ref, instruction: Instruction, *, fused: bool
) -> tuple[CustomWork, Maybe[int]]:
    """The figures of one execution with device memory's share; inside a fusion no byte moves."""
    computation = graph.body(ref.computation)
    if instruction.opcode == "custom-call":
        operands = [computation.instructions[n].shape for n in instruction.operands]
        known = custom_work(instruction, operands)
        if fused:
            known = known._replace(bytes_read=_ZERO, bytes_written=_ZERO)
        return known, _custom_device_bytes(known, instruction)
    if ref in replay.unreadable:
        unreadable = Missing(f"the attributes of '{instruction.opcode}' instructions do not read")
        return CustomWork(unreadable, unreadable, unreadable, unreadable), unreadable
    # a fusion's arithmetic is that of its contents, which have entries of their own
    done = replay.instructions[ref.computation][ref.instruction]
    idle = instruction.opcode == "fusion"
    moved = NO_TRAFFIC if fused else traffic(graph, computation, instruction)
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
