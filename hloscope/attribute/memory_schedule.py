"""When instructions run, with the bodies of loops and branches where they are called."""

from __future__ import annotations

from collections.abc import Iterable

from hloscope.attribute.memory_values import Values
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Module
from hloscope.model.ledger import Value

# called computations that run as instructions of their own; others are inside one kernel
_RUNS = frozenset({"body", "condition", "to_apply", "branch_computations", "calls",
                   "true_computation", "false_computation", "called_computations",
                   "async_execution"})  # fmt: skip
_RUNNERS = frozenset({"while", "conditional", "call", "async-start"})
# what a value passes through without being read
_WIRES = frozenset({"get-tuple-element", "bitcast", "tuple", "optimization-barrier"})


class Schedule:
    """Positions of instructions in the order in which XLA plans memory.

    A called computation comes before the instruction that runs it ends; a computation that is
    called twice keeps its first place.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.position: dict[Ref, int] = {}
        self._names: dict[tuple[str, str], Ref] = {}
        self._users: dict[int, dict[int, list[int]]] = {}
        if module.entry is not None:
            self._walk(module.entry)

    def find(self, computation: str, instruction: str) -> Ref | None:
        """The instruction of a heap event."""
        if not self._names:
            self._names = {
                (c.name, i.name): Ref(n, k)
                for n, c in enumerate(self.module.computations)
                for k, i in enumerate(c.instructions)
            }
        return self._names.get((computation, instruction))

    def order(self, ref: Ref) -> int:
        """Where an instruction runs; -1 for one inside a kernel."""
        return self.position.get(ref, -1)

    def uses(self, members: Iterable[Value], values: Values) -> tuple[str, str]:
        """Names of the instructions that first write and last read any of the values."""
        first: tuple[int, str] | None = None
        last: tuple[int, str] = (-1, "")
        for value in members:
            made = (self.order(value.ref), values.instruction(value.ref).name)
            first = made if first is None else min(first, made)
            last = max(last, self._last_reader(value, values))
        return (first[1] if first else "", last[1])

    def _last_reader(self, value: Value, values: Values) -> tuple[int, str]:
        users = self._users_of(value.ref.computation)
        best = (-1, "")
        seen: set[int] = set()
        waiting = [value.ref.instruction]
        while waiting:
            at = waiting.pop()
            for user in users.get(at, ()):
                ref = Ref(value.ref.computation, user)
                instruction = values.instruction(ref)
                if instruction.opcode in _WIRES:
                    if user not in seen and self._carries(value, at, user, values):
                        seen.add(user)
                        waiting.append(user)
                    continue
                best = max(best, (self.order(ref), instruction.name))
        return best

    def _carries(self, value: Value, at: int, user: int, values: Values) -> bool:
        """Whether a wire hands on the value; a get-tuple-element of another part does not."""
        instruction = values.instruction(Ref(value.ref.computation, user))
        if instruction.opcode != "get-tuple-element" or at != value.ref.instruction:
            return True
        return not value.part or instruction.attr("index") == str(value.part[0])

    def _users_of(self, computation: int) -> dict[int, list[int]]:
        if computation not in self._users:
            users: dict[int, list[int]] = {}
            for number, instruction in enumerate(
                self.module.computations[computation].instructions
            ):
                for operand in dict.fromkeys(instruction.operands):
                    users.setdefault(operand, []).append(number)
            self._users[computation] = users
        return self._users[computation]

    def _walk(self, entry: int) -> None:
        """Depth first without recursion: loops nest as deep as they like."""
        done: set[int] = {entry}
        stack = [(entry, 0)]
        while stack:
            computation, at = stack.pop()
            instructions = self.module.computations[computation].instructions
            while at < len(instructions):
                instruction = instructions[at]
                inner = [
                    c
                    for role, c in instruction.called
                    if instruction.opcode in _RUNNERS and role in _RUNS and c not in done
                ]
                if inner:
                    done.add(inner[0])
                    stack.append((computation, at))
                    stack.append((inner[0], 0))
                    break
                self.position.setdefault(Ref(computation, at), len(self.position))
                at += 1
