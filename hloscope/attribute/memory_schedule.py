"""When instructions run, with the bodies of loops and branches where they are called."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from hloscope.attribute.memory_values import Values
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Instruction, Module
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
        self._orders: dict[int, list[int]] = {}
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

    def named(self, name: str) -> Ref | None:
        """The first instruction of that name that runs by itself; `None` where none does."""
        for computation in self._orders:
            for number, instruction in enumerate(
                self.module.computations[computation].instructions
            ):
                if instruction.name == name:
                    return Ref(computation, number)
        return None

    def order(self, ref: Ref) -> int:
        """Where an instruction runs; -1 for one inside a kernel."""
        orders = self._orders.get(ref.computation)
        return -1 if orders is None else orders[ref.instruction]

    def uses(self, members: Iterable[Value], values: Values) -> tuple[str, str]:
        """Names of the instructions that first write and last read any of the values."""
        first: tuple[int, str] | None = None
        last: tuple[int, str] = (-1, "")
        for value in members:
            made = (self.order(value.ref), values.instruction(value.ref).name)
            first = made if first is None else min(first, made)
            last = max(last, self._last_reader(value))
        return (first[1] if first else "", last[1])

    def _last_reader(self, value: Value) -> tuple[int, str]:
        computation = value.ref.computation
        instructions = self.module.computations[computation].instructions
        orders = self._orders.get(computation)
        users = self._users_of(computation)
        best = (-1, "")
        seen: set[int] = set()
        waiting = [value.ref.instruction]
        while waiting:
            at = waiting.pop()
            for user in users.get(at, ()):
                instruction = instructions[user]
                if instruction.opcode not in _WIRES:
                    best = max(best, (-1 if orders is None else orders[user], instruction.name))
                elif user not in seen and _carries(value, at, instruction):
                    seen.add(user)
                    waiting.append(user)
        return best

    def _users_of(self, computation: int) -> dict[int, list[int]]:
        if computation not in self._users:
            users: dict[int, list[int]] = {}
            for number, instruction in enumerate(
                self.module.computations[computation].instructions
            ):
                for operand in instruction.operands:
                    found = users.setdefault(operand, [])
                    if not found or found[-1] != number:
                        found.append(number)
            self._users[computation] = users
        return self._users[computation]

    def _walk(self, entry: int) -> None:
        """Depth first without recursion: loops nest as deep as they like."""
        done: set[int] = {entry}
        clock = count()
        stack = [(entry, 0)]
        while stack:
            computation, at = stack.pop()
            instructions = self.module.computations[computation].instructions
            orders = self._orders.setdefault(computation, [])
            while at < len(instructions):
                instruction = instructions[at]
                called = instruction.called if instruction.opcode in _RUNNERS else ()
                inner = [c for role, c in called if role in _RUNS and c not in done]
                if inner:
                    done.add(inner[0])
                    stack.append((computation, at))
                    stack.append((inner[0], 0))
                    break
                orders.append(next(clock))
                at += 1


def _carries(value: Value, at: int, wire: Instruction) -> bool:
    """Whether a wire hands on the value; a get-tuple-element of another part does not."""
    if wire.opcode != "get-tuple-element" or at != value.ref.instruction:
        return True
    return not value.part or wire.attr("index") == str(value.part[0])
