"""How often a loop's body runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hloscope.model.canonical import Ref
from hloscope.model.hlo import Computation, Instruction, Module
from hloscope.model.units import Maybe, Measured, Missing

# `{"known_trip_count":{"n":"4"}}`, WhileLoopBackendConfig of xla_data.proto as JSON
_KNOWN = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"?(\d{1,18})"?')

# what hands on a scalar's value unchanged
_SAME = frozenset({"copy", "bitcast", "reshape", "copy-done", "copy-start", "optimization-barrier"})
_MAX_STEPS = 200  # definitions followed for one value; chains of copies are two or three long
_MAX_LOOPS = 20  # loops around a loop that are looked through
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}
_NEGATED = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}


@dataclass(frozen=True, slots=True)
class _Value:
    """What is known of a scalar: a number, or an element of the loop's carry plus a number.

    Attributes:
      element: position in the carry, `None` for a plain number; -1 for a carry that is no tuple.
    """

    element: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class _Scope:
    """A computation with the values of its parameters' elements, as seen from the loop."""

    computation: Computation
    arguments: tuple[tuple[Instruction, _Scope] | None, ...] | None


def trip_count(module: Module, ref: Ref) -> Maybe[int]:
    """How often the body of the while at `ref` runs.

    Taken from the compiler's own `known_trip_count`, or else worked out from a condition that
    compares a counter with a constant, where the counter starts at a constant and moves by one.

    Returns:
      Missing with the reason, where the count is not a constant of the program.
    """
    loop = module.computations[ref.computation].instructions[ref.instruction]
    known = _KNOWN.search(loop.attr("backend_config") or "")
    if known is not None:
        return Measured(int(known[1]))
    called = dict(loop.called)
    if loop.opcode != "while" or "condition" not in called or "body" not in called:
        return Missing(f"'{loop.name}' is no while loop with a condition and a body")
    return _Loop(module, ref, called["condition"], called["body"]).count()


class _Loop:
    """The search for one loop's counter, start, step and bound."""

    def __init__(self, module: Module, ref: Ref, condition: int, body: int, depth: int = 0) -> None:
        self.module = module
        self.depth = depth
        self.owner = module.computations[ref.computation]
        self.loop = self.owner.instructions[ref.instruction]
        self.condition = module.computations[condition]
        self.body = module.computations[body]

    def count(self) -> Maybe[int]:
        test = self.test()
        if test is None:
            return Missing("the loop's condition is no comparison of a counter with a constant")
        direction, counter, bound = test
        start = self.start(counter)
        if start is None:
            return Missing("the loop's counter does not start at a constant")
        step = self.step(counter)
        if step is None:
            return Missing("the loop's counter does not move by a constant")
        limit = bound.offset if bound.element is None else self.invariant(bound.element)
        if limit is None:
            return Missing("the loop's bound is not a constant")
        return _times(direction, start + _offset(test), step, limit + _extra(bound))

    def test(self) -> tuple[str, _Value, _Value] | None:
        """The comparison's direction with the counter on its left, the counter, the bound."""
        root = self.condition.instructions[self.condition.root]
        return self.comparison(root, _Scope(self.condition, None), 0)

    def comparison(
        self, root: Instruction, scope: _Scope, depth: int
    ) -> tuple[str, _Value, _Value] | None:
        root, scope = self.resolved(root, scope)
        if root.opcode == "not" and depth < 4:
            inner = self.comparison(
                scope.computation.instructions[root.operands[0]], scope, depth + 1
            )
            return None if inner is None else (_NEGATED[inner[0]], inner[1], inner[2])
        direction = root.attr("direction") or ""
        if root.opcode != "compare" or direction not in _MIRRORED or len(root.operands) != 2:
            return None
        left, right = (self.value(scope.computation.instructions[n], scope) for n in root.operands)
        if left is None or right is None or (left.element is None and right.element is None):
            return None
        # the counter is the side that the body changes
        if left.element is None or (right.element is not None and self.stays(left.element)):
            return _MIRRORED[direction], right, left
        return direction, left, right

    def stays(self, element: int) -> bool:
        return self.invariant(element) is not None

    def value(self, instruction: Instruction, scope: _Scope) -> _Value | None:
        """A scalar as a number or as an element of the carry, plus a number."""
        offset = 0
        for _ in range(_MAX_STEPS):
            instruction, scope = self.resolved(instruction, scope)
            number = _constant(instruction)
            if number is not None:
                return _Value(None, number + offset)
            element = self.carried(instruction, scope)
            if element is not None:
                return _Value(element, offset)
            moved = self.moved(instruction, scope)
            if moved is None:
                return None
            instruction, by = moved
            offset += by
        return None

    def moved(self, instruction: Instruction, scope: _Scope) -> tuple[Instruction, int] | None:
        """The operand that an `add` or `subtract` moves by a constant, and by how much."""
        if instruction.opcode not in ("add", "subtract") or len(instruction.operands) != 2:
            return None
        operands = [scope.computation.instructions[n] for n in instruction.operands]
        numbers = [_constant(self.resolved(o, scope)[0]) for o in operands]
        if numbers[1] is not None:
            by = numbers[1] if instruction.opcode == "add" else -numbers[1]
            return operands[0], by
        if numbers[0] is not None and instruction.opcode == "add":
            return operands[1], numbers[0]
        return None

    def carried(self, instruction: Instruction, scope: _Scope) -> int | None:
        """The element of the loop's carry that an instruction of condition or body reads."""
        if scope.arguments is not None:
            return None
        if instruction.opcode == "parameter" and instruction.shape.dtype != "tuple":
            return -1
        if instruction.opcode == "get-tuple-element":
            source = scope.computation.instructions[instruction.operands[0]]
            if source.opcode == "parameter":
                return _index(instruction)
        return None

    def resolved(self, instruction: Instruction, scope: _Scope) -> tuple[Instruction, _Scope]:
        """The instruction behind copies, tuples, fusions and calls."""
        for _ in range(_MAX_STEPS):
            behind = self.behind(instruction, scope)
            if behind is None:
                return instruction, scope
            instruction, scope = behind
        return instruction, scope

    def behind(self, instruction: Instruction, scope: _Scope) -> tuple[Instruction, _Scope] | None:
        names = scope.computation.instructions
        if instruction.opcode in _SAME and instruction.operands:
            return names[instruction.operands[0]], scope
        if instruction.opcode in ("fusion", "call") and instruction.called:
            return self.inside(instruction, scope)
        if instruction.opcode == "parameter" and scope.arguments is not None:
            number = instruction.parameter
            return scope.arguments[number] if 0 <= number < len(scope.arguments) else None
        if instruction.opcode == "get-tuple-element":
            source, at = self.resolved(names[instruction.operands[0]], scope)
            index = _index(instruction)
            if source.opcode == "tuple" and index is not None and index < len(source.operands):
                return at.computation.instructions[source.operands[index]], at
        return None

    def inside(self, call: Instruction, scope: _Scope) -> tuple[Instruction, _Scope]:
        """The root of what a fusion or call runs, its parameters bound."""
        callee = self.module.computations[call.called[0][1]]
        arguments = tuple((scope.computation.instructions[n], scope) for n in call.operands)
        return callee.instructions[callee.root], _Scope(callee, arguments)

    def start(self, counter: _Value) -> int | None:
        """The counter's value before the first round."""
        scope = _Scope(self.owner, ())
        initial = self.owner.instructions[self.loop.operands[0]]
        element = counter.element
        found, at = self.resolved(initial, scope)
        if element is not None and element >= 0:
            if found.opcode != "tuple" or element >= len(found.operands):
                return None
            found, at = self.resolved(at.computation.instructions[found.operands[element]], at)
        number = _constant(found)
        return self.from_outside(found) if number is None else number

    def from_outside(self, instruction: Instruction) -> int | None:
        """A constant that an enclosing loop carries unchanged into this one's computation."""
        if instruction.opcode != "get-tuple-element":
            return None
        source = self.owner.instructions[instruction.operands[0]]
        index = _index(instruction)
        if source.opcode != "parameter" or index is None:
            return None
        own = next(n for n, c in enumerate(self.module.computations) if c is self.owner)
        callers = [
            (Ref(number, place), dict(i.called))
            for number, c in enumerate(self.module.computations)
            for place, i in enumerate(c.instructions)
            if any(callee == own for _, callee in i.called)
        ]
        if len(callers) != 1 or callers[0][1].get("body") != own or self.depth >= _MAX_LOOPS:
            return None
        ref, called = callers[0]
        outer = _Loop(self.module, ref, called["condition"], own, self.depth + 1)
        return outer.invariant(index)

    def step(self, counter: _Value) -> int | None:
        """How far the body moves the counter."""
        after = self.after(counter.element)
        if after is None or after.element != counter.element or after.element is None:
            return None
        return after.offset

    def after(self, element: int | None) -> _Value | None:
        """An element of the carry after one round."""
        scope = _Scope(self.body, None)
        found, at = self.resolved(self.body.instructions[self.body.root], scope)
        if element is not None and element >= 0:
            if found.opcode != "tuple" or element >= len(found.operands):
                return None
            found = at.computation.instructions[found.operands[element]]
        return self.value(found, at)

    def invariant(self, element: int) -> int | None:
        """The constant that a carry element holds in every round, `None` where it is none."""
        if self.after(element) != _Value(element, 0):
            return None
        return self.start(_Value(element, 0))


def _offset(test: tuple[str, _Value, _Value]) -> int:
    """What the condition adds to the counter before it compares."""
    return test[1].offset


def _extra(bound: _Value) -> int:
    """What the condition adds to a bound that is carried."""
    return 0 if bound.element is None else bound.offset


def _times(direction: str, start: int, step: int, limit: int) -> Maybe[int]:
    """Rounds of `while (i <direction> limit) i += step` from `start`."""
    if step == 0:
        return Missing("the loop's counter does not move")
    if direction == "NE":
        distance = limit - start
        if distance % step or distance // step < 0:
            return Missing("the loop's counter passes its bound")
        return Measured(distance // step)
    if direction in ("LE", "GE"):
        limit += 1 if direction == "LE" else -1
    rising = direction in ("LT", "LE")
    if direction == "EQ" or rising != (step > 0):
        return Missing("the loop's counter moves away from its bound")
    distance = limit - start if rising else start - limit
    return Measured(max(0, -(-distance // abs(step))))


def _index(instruction: Instruction) -> int | None:
    text = instruction.attr("index") or ""
    return int(text) if text.isascii() and text.isdigit() else None


def _constant(instruction: Instruction) -> int | None:
    """A whole number that an instruction is."""
    literal = instruction.literal
    if instruction.opcode != "constant" or literal is None or literal.digest is None:
        return None
    text = literal.preview.strip("{} ")
    return int(text) if re.fullmatch(r"-?[0-9]{1,20}", text) else None
