"""What a value is made of, through the functions that are called on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jaxlib.mlir import ir

from hloscope.capture.edits.program import last
from hloscope.capture.edits.values import callee

# deeper than any call chain that JAX writes; ends what recursion would not
_MOST_CALLS = 64


class Frame(NamedTuple):
    """A call that a value is inside of.

    Attributes:
      call: the `func.call`.
      outer: the call around it, `None` for none.
    """

    call: Any
    outer: Frame | None


class Held(NamedTuple):
    """A value as seen from inside a chain of calls."""

    value: Any
    frame: Frame | None


class Resolver:
    """Follows values out of calls and into them."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions

    def resolve(self, held: Held) -> Held:
        """The operation's result, or the argument of a loop or of the entry, that a value is."""
        for _ in range(_MOST_CALLS):
            value, frame = held
            if isinstance(value, ir.BlockArgument):
                block = ir.BlockArgument(value)
                if frame is None or block.owner.owner.operation.name != "func.func":
                    return held
                held = Held(frame.call.operands[block.arg_number], frame.outer)
            elif value.owner.operation.name == "func.call":
                call = value.owner.operation
                place = ir.OpResult(value).result_number
                body = self._functions[callee(call)].regions[0].blocks[0]
                held = Held(last(body).operands[place], Frame(call, frame))
            else:
                return held
        return held

    def operation(self, held: Held) -> tuple[Any, Frame | None] | None:
        """The operation that makes a value, `None` for an argument."""
        value, frame = self.resolve(held)
        if isinstance(value, ir.BlockArgument):
            return None
        return value.owner.operation, frame

    def operand(self, op: Any, place: int, frame: Frame | None) -> Held:
        """An operand of an operation, resolved."""
        return self.resolve(Held(op.operands[place], frame))

    def integer(self, held: Held, known: Mapping[Any, int]) -> int | None:
        """An integer scalar, worked out; `None` where it depends on more than `known` says.

        Args:
          held: the value.
          known: loop arguments to their values.
        """
        held = self.resolve(held)
        if isinstance(held.value, ir.BlockArgument):
            return known.get(held.value)
        op, frame = held.value.owner.operation, held.frame
        if op.name == "stablehlo.constant":
            return _constant(op)
        compute = _COMPUTED.get(op.name)
        if compute is None:
            return None
        given = [self.integer(self.operand(op, n, frame), known) for n in range(len(op.operands))]
        if any(number is None for number in given):
            return None
        if op.name == "stablehlo.compare":
            return _compare(op, [number for number in given if number is not None])
        return compute(*(number for number in given if number is not None))


def _constant(op: Any) -> int | None:
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseIntElementsAttr) or not value.is_splat:
        return None
    return int(value[0])


def _compare(op: Any, given: list[int]) -> int | None:
    said = str(op.attributes["comparison_direction"])
    for name, compare in _COMPARED.items():
        if f" {name}>" in said:
            return int(compare(*given))
    return None


_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
}
_COMPUTED: Mapping[str, Callable[..., int]] = {
    "stablehlo.add": lambda a, b: a + b,
    "stablehlo.subtract": lambda a, b: a - b,
    "stablehlo.multiply": lambda a, b: a * b,
    "stablehlo.negate": lambda a: -a,
    "stablehlo.maximum": max,
    "stablehlo.minimum": min,
    "stablehlo.clamp": lambda low, a, high: min(max(a, low), high),
    "stablehlo.select": lambda on, a, b: a if on else b,
    "stablehlo.convert": lambda a: a,
    "stablehlo.reshape": lambda a: a,
    "stablehlo.compare": lambda a, _b: a,
}
