"""Who uses each instruction of a module, worked out for a computation when first asked."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.attribute.cost_alike import alike
from hloscope.model.hlo import Computation, Instruction, Module

Users = dict[int, list[int]]


class Graph:
    """A module with its use lists.

    Attributes:
      order: positions of all computations, callees before callers.
      alike: by computation, the first one that is equal but for names; see `cost_alike`.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.order = call_order(module)
        self.alike = alike(module, self.order)
        self._users: dict[int, Users] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._signatures: dict[int, list[int]] = {}

    def body(self, position: int) -> Computation:
        """The computation at a position."""
        return self.module.computations[position]

    def users(self, position: int) -> Users:
        """Instruction to the instructions that use it, each user once, in order."""
        first = self.alike[position]
        found = self._users.get(first)
        if found is None:
            found = self._users[first] = _users_of(self.body(first))
        return found

    def signatures(self, position: int) -> list[int]:
        """By instruction, a number that is equal for those that do the same to the same shapes.

        What one costs by itself, with the computations that it calls, follows from that.
        """
        first = self.alike[position]
        found = self._signatures.get(first)
        if found is None:
            instructions = self.body(first).instructions
            found = self._signatures[first] = [self._number(i, instructions) for i in instructions]
        return found

    def _number(self, instruction: Instruction, instructions: Sequence[Instruction]) -> int:
        key: tuple[object, ...] = (
            instruction.opcode, id(instruction.shape), id(instruction.attrs),
            *[id(instructions[n].shape) for n in instruction.operands],
        )  # fmt: skip
        if instruction.called:
            # no shape's id is a tuple
            key = (*key, tuple((role, self.alike[n]) for role, n in instruction.called))
        return self._numbers.setdefault(key, len(self._numbers))


def _users_of(body: Computation) -> Users:
    users: Users = {}
    for number, instruction in enumerate(body.instructions):
        for operand in instruction.operands:
            found = users.setdefault(operand, [])
            if not found or found[-1] != number:
                found.append(number)
    return users


def call_order(module: Module) -> tuple[int, ...]:
    """Positions of all computations, callees before callers; XLA's order where that is one.

    A call that closes a cycle is passed over, as no XLA module has one.
    """
    callees = [
        {callee for instruction in computation.instructions for _, callee in instruction.called}
        for computation in module.computations
    ]
    done: dict[int, None] = {}
    entered: set[int] = set()
    for start in range(len(callees)):
        stack = [start]
        while stack:
            position = stack[-1]
            waiting = () if position in entered else callees[position] - entered - {position}
            entered.add(position)
            stack.extend(sorted(waiting, reverse=True))
            if not waiting:
                stack.pop()
                done.setdefault(position)
    return tuple(done)


def called(instruction: Instruction, role: str = "calls") -> int | None:
    """The computation that an instruction calls in a role, `None` where it does not."""
    for name, position in instruction.called:
        if name == role:
            return position
    return None


def outputs_of(body: Computation) -> tuple[int, ...]:
    """Positions of what a fused computation returns: the root, or the root tuple's operands."""
    root = body.instructions[body.root]
    return root.operands if root.opcode == "tuple" else (body.root,)
