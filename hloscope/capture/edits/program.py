"""A StableHLO module with its operations numbered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlib.mlir import ir

from hloscope.model.edits import EditPlan, LeafPair

TAG = "hloscope"
_FRONTEND = "mhlo.frontend_attributes"
_NUMBERED = ("stablehlo.", "chlo.", "sdy.", "func.call", "mhlo.")
_NOT_NUMBERED = frozenset({"stablehlo.return", "sdy.mesh", "sdy.return"})
_FILE = re.compile(r'"([^"]*)":(\d+)')


class Program:
    """A module; to be used with its context entered.

    Attributes:
      module: the `builtin.module`.
      operations: in program order, numbered by their place; `None` in the place of one that an
        edit took out.
    """

    def __init__(self, bytecode: bytes) -> None:
        self.module = ir.Module.parse(bytecode)
        self.functions = {
            ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
            for op in self.module.body.operations
            if op.operation.name == "func.func"
        }
        self.operations: list[Any] = []
        self.module.operation.walk(self._number)

    def _number(self, op: Any) -> Any:
        op = op.operation
        if op.name.startswith(_NUMBERED) and op.name not in _NOT_NUMBERED:
            self.operations.append(op)
        return ir.WalkResult.ADVANCE

    @property
    def main(self) -> Any:
        """The function that the compiler is given."""
        return self.functions["main"]

    @property
    def arguments(self) -> Any:
        """The entry parameters."""
        return self.main.regions[0].blocks[0].arguments

    @property
    def returned(self) -> Any:
        """The operation that ends the entry function."""
        return last(self.main.regions[0].blocks[0])

    def attributes(self, which: str) -> list[dict[str, Any]]:
        """Attributes of each argument (`arg_attrs`) or result (`res_attrs`) of the entry."""
        count = len(self.arguments if which == "arg_attrs" else self.returned.operands)
        if which not in self.main.attributes:
            return [{} for _ in range(count)]
        listed = ir.ArrayAttr(self.main.attributes[which])
        return [{name: held[name] for name in names(held)} for held in map(ir.DictAttr, listed)]

    def set_attributes(self, which: str, attributes: list[dict[str, Any]]) -> None:
        """Replaces what `attributes` gives."""
        self.main.attributes[which] = ir.ArrayAttr.get([ir.DictAttr.get(a) for a in attributes])

    def present(self) -> list[tuple[int, Any]]:
        """Number and operation of those that no edit took out."""
        return [(number, op) for number, op in enumerate(self.operations) if op is not None]

    def take_out(self, number: int, values: Sequence[Any], instead: Any | None = None) -> None:
        """Takes an operation out.

        Args:
          number: its place in `operations`.
          values: what takes the place of its results.
          instead: the operation that has its number from now on.
        """
        op = self.operations[number]
        for result, value in zip(op.results, values, strict=True):
            result.replace_all_uses_with(value)
        op.erase()
        self.operations[number] = instead

    def set_type(self) -> None:
        """Makes the entry's type that of its arguments and of what it returns."""
        arguments = [argument.type for argument in self.arguments]
        results = [operand.type for operand in self.returned.operands]
        self.main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(arguments, results)
        )

    def tag(self) -> None:
        """Writes each operation's number into its frontend attribute `hloscope`."""
        for number, op in enumerate(self.operations):
            held = ir.DictAttr(op.attributes[_FRONTEND]) if _FRONTEND in op.attributes else None
            kept = {} if held is None else {name: held[name] for name in names(held)}
            kept[TAG] = ir.StringAttr.get(str(number))
            op.attributes[_FRONTEND] = ir.DictAttr.get(kept)


def names(held: Any) -> list[str]:
    """Names of a dictionary of attributes, which iterates as names or as pairs."""
    return [named.name if hasattr(named, "name") else named for named in held]


def last(block: Any) -> Any:
    """The operation that ends a block."""
    operations = block.operations
    return operations[len(operations) - 1].operation


def source_of(op: Any) -> str:
    """The innermost `file:line` of an operation's location."""
    found = _FILE.search(str(op.location))
    return f"{found[1]}:{found[2]}" if found else ""


@dataclass(kw_only=True)
class Sides:
    """Two programs of one context, with who corresponds to whom; rhs is edited.

    Attributes:
      lhs_options, rhs_options: compile options, those of rhs to be edited.
    """

    lhs: Program
    rhs: Program
    plan: EditPlan
    lhs_options: Any
    rhs_options: Any

    def counterpart(self, number: int) -> Any | None:
        """Rhs's operation for an operation of lhs."""
        found = self.plan.operations.get(number)
        return None if found is None else self.rhs.operations[found]

    def numbers(self) -> Mapping[Any, int]:
        """Lhs's operations to their numbers."""
        return {op: number for number, op in enumerate(self.lhs.operations)}


@dataclass(kw_only=True)
class Report:
    """What a probe did; see `Edited` for the fields."""

    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    arguments: list[LeafPair] = field(default_factory=list)
    outputs: list[LeafPair] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)


def uses(value: Any) -> Iterator[tuple[Any, int]]:
    """Each operation that reads a value, with the operand's place; safe to edit meanwhile."""
    yield from [(use.owner.operation, use.operand_number) for use in value.uses]
