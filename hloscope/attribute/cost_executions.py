"""How often each computation of a module runs in one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import BRANCH_ROLES, PROGRAM_ROLES, Replay, XlaCost
from hloscope.model.canonical import Ref
from hloscope.model.cost import add, times
from hloscope.model.hlo import Instruction, Module
from hloscope.model.units import Maybe, Measured, Missing

TripCount = Callable[[Module, Ref], Maybe[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Executions:
    """What runs, and how often.

    Attributes:
      computations: times per step; `None` for one that never runs as part of the program (it is
        applied per element, or is not called).
      kernels: the fusion that holds a fused computation (the first, where several share it).
      loops: the `while` instructions around each computation, outermost first.
      starts: where the program begins: the entry.
      notes: loops whose trip count is unknown, branches that were chosen; one sentence each.
    """

    computations: tuple[Maybe[int] | None, ...]
    kernels: Mapping[int, Ref]
    loops: Mapping[int, tuple[Ref, ...]]
    starts: tuple[int, ...]
    notes: tuple[str, ...]


class _Walk:
    """One pass over the computations, callers before callees."""

    def __init__(self, graph: Graph, replay: Replay, trip_count: TripCount) -> None:
        self.graph = graph
        self.module = graph.module
        self.replay = replay
        self.trip_count = trip_count
        self.counts: list[Maybe[int] | None] = [None] * len(graph.module.computations)
        self.kernels: dict[int, Ref] = {}
        self.loops: dict[int, tuple[Ref, ...]] = {}
        self.notes: list[str] = []

    def run(self) -> Executions:
        starts = self.starts()
        for start in starts:
            self.counts[start] = Measured(1)
            self.loops[start] = ()
        for position in reversed(self.graph.order):
            count = self.counts[position]
            if count is None:
                continue
            for number, instruction in enumerate(self.module.computations[position].instructions):
                if instruction.called:
                    self.visit(Ref(position, number), instruction, count)
        return Executions(
            computations=tuple(self.counts),
            kernels=self.kernels,
            loops=self.loops,
            starts=tuple(starts),
            notes=tuple(self.notes),
        )

    def starts(self) -> list[int]:
        """The entry; in a module cut off before it, whatever nothing that was read calls."""
        if self.module.entry is not None:
            return [self.module.entry]
        called = {
            position
            for computation in self.module.computations
            for instruction in computation.instructions
            for _, position in instruction.called
        }
        self.notes.append(
            "the module has no entry computation: what nothing else calls is counted once"
        )
        return [n for n in range(len(self.module.computations)) if n not in called]

    def visit(self, ref: Ref, instruction: Instruction, count: Maybe[int]) -> None:
        if instruction.opcode == "while":
            self.loop(ref, instruction, count)
        elif instruction.opcode == "conditional":
            self.branch(ref, instruction, count)
        else:
            for role in PROGRAM_ROLES.get(instruction.opcode, ()):
                for name, callee in instruction.called:
                    if name == role:
                        self.enter(callee, count, self.loops[ref.computation])
                        if instruction.opcode == "fusion":
                            # a fusion inside a fusion belongs to the outer one
                            outer = self.kernels.get(ref.computation, ref)
                            self.kernels.setdefault(callee, outer)

    def loop(self, ref: Ref, instruction: Instruction, count: Maybe[int]) -> None:
        trips = self.trip_count(self.module, ref)
        if isinstance(trips, Missing):
            trips = Missing(f"loop '{instruction.name}' runs an unknown number of times")
            self.notes.append(f"{trips.reason}; what it does is left out of the totals per step")
        around = (*self.loops[ref.computation], ref)
        for role, callee in instruction.called:
            if role == "body":
                self.enter(callee, times(count, trips), around)
            elif role == "condition":
                # asked once more than the body runs
                self.enter(callee, times(count, add(trips, Measured(1))), around)

    def branch(self, ref: Ref, instruction: Instruction, count: Maybe[int]) -> None:
        branches = [callee for role, callee in instruction.called if role in BRANCH_ROLES]
        if not branches:
            return
        chosen = max(range(len(branches)), key=lambda n: (self.weight(branches[n]), -n))
        self.notes.append(
            f"of conditional '{instruction.name}', branch {chosen} is counted, which costs most: "
            "which branch runs is not known before it runs"
        )
        for number, callee in enumerate(branches):
            runs = count if number == chosen else Measured(0)
            self.enter(callee, runs, self.loops[ref.computation])

    def weight(self, position: int) -> XlaCost:
        return self.replay.computations[position]

    def enter(self, callee: int, count: Maybe[int], loops: tuple[Ref, ...]) -> None:
        known = self.counts[callee]
        self.counts[callee] = count if known is None else add(known, count)
        self.loops.setdefault(callee, loops)


def executions(graph: Graph, replay: Replay, trip_count: TripCount) -> Executions:
    """How often each computation runs in one step.

    A loop body runs as often as its trip count says, times the loop around it. Of a conditional the
    branch of the most FLOPs (then transcendentals, then bytes, then the first) is taken to run.

    Args:
      graph: the module.
      replay: costs of the computations, which choose between branches.
      trip_count: the trip count of a `while`.
    """
    return _Walk(graph, replay, trip_count).run()
