"""Which value of rhs is which value of lhs, and small edits of values."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.program import Sides

CONSTRAINT = "sdy.sharding_constraint"
BARRIER = "stablehlo.optimization_barrier"
_CUSTOM_CALL = "stablehlo.custom_call"
_GSPMD_CONSTRAINTS = frozenset({"Sharding", "@Sharding"})


def is_constraint(op: Any) -> bool:
    """Whether an operation says how its operand is to be sharded, and nothing else."""
    if op.name == _CUSTOM_CALL:
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        return target in _GSPMD_CONSTRAINTS
    return bool(op.name == CONSTRAINT)


def is_handing_on(op: Any) -> bool:
    """Whether an operation's results are its operands."""
    return bool(op.name == BARRIER) or is_constraint(op)


class Values:
    """Counterparts of lhs's values on rhs."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._numbers = sides.numbers()
        self._arguments = {pair.lhs: pair.rhs for pair in sides.plan.arguments}
        self._functions = self._paired_functions()

    def _paired_functions(self) -> dict[str, str]:
        """Functions that paired calls name."""
        found: dict[str, str] = {}
        for number, op in enumerate(self._sides.lhs.operations):
            other = self._sides.counterpart(number) if op.name == "func.call" else None
            if other is not None and other.name == "func.call":
                found.setdefault(callee(op), callee(other))
        return found

    def operation(self, op: Any) -> Any | None:
        """Rhs's operation for one of lhs."""
        number = self._numbers.get(op)
        return None if number is None else self._sides.counterpart(number)

    def value(self, value: Any) -> Any | None:
        """Rhs's value for one of lhs, looking through barriers and constraints."""
        if isinstance(value, ir.BlockArgument):
            return self._argument(value)
        op = value.owner.operation
        place = ir.OpResult(value).result_number
        other = self.operation(op)
        if other is None:
            return self.value(op.operands[place]) if is_handing_on(op) else None
        if len(other.results) != len(op.results):
            return None
        found = other.results[place]
        return found if same_shape(value, found) else None

    def _argument(self, value: Any) -> Any | None:
        argument = ir.BlockArgument(value)
        parent = argument.owner.owner.operation
        if parent.name == "func.func":
            block = self._entry_of(parent)
            place = argument.arg_number
            if parent == self._sides.lhs.main:
                place = self._arguments.get(place, -1)
        else:
            other = self.operation(parent)
            block = None
            if other is not None and len(other.operands) == len(parent.operands):
                block = other.regions[_region(parent, argument)].blocks[0]
            place = argument.arg_number
        if block is None or not 0 <= place < len(block.arguments):
            return None
        found = block.arguments[place]
        return found if same_shape(value, found) else None

    def _entry_of(self, function: Any) -> Any | None:
        """The entry block of a function's counterpart."""
        if function == self._sides.lhs.main:
            return self._sides.rhs.main.regions[0].blocks[0]
        name = self._functions.get(ir.StringAttr(function.attributes["sym_name"]).value)
        if name is None:
            return None
        block = self._sides.rhs.functions[name].regions[0].blocks[0]
        same = len(block.arguments) == len(function.regions[0].blocks[0].arguments)
        return block if same else None


def _region(parent: Any, argument: Any) -> int:
    return next(n for n, r in enumerate(parent.regions) if r.blocks[0] == argument.owner)


def callee(op: Any) -> str:
    """The function that a call names."""
    return str(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)


def same_shape(left: Any, right: Any) -> bool:
    """Whether two values have the same extents, whatever their elements are."""
    types = [ir.RankedTensorType(v.type) if _ranked(v.type) else None for v in (left, right)]
    if types[0] is None or types[1] is None:
        return bool(left.type == right.type)
    return list(types[0].shape) == list(types[1].shape)


def _ranked(kind: Any) -> bool:
    return isinstance(kind, ir.RankedTensorType)


def element(value: Any) -> Any | None:
    """A tensor's element type, `None` for what is no tensor."""
    return value.type.element_type if _ranked(value.type) else None


def after(value: Any) -> ir.InsertionPoint:
    """Where an operation that reads a value may stand at the earliest."""
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(ir.BlockArgument(value).owner)
    return ir.InsertionPoint.after(value.owner.operation)
