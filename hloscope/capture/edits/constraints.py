"""Sharding constraints where lhs has them, and nowhere else."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.meshes import MeshMismatchError
from hloscope.capture.edits.program import Report, Sides, source_of, uses
from hloscope.capture.edits.shardings import GSPMD, Meshes, same, short
from hloscope.capture.edits.values import CONSTRAINT, Values, after, is_constraint


def constraints(sides: Sides) -> Report:
    """Constrains the values that lhs constrains, as it does, and frees all others."""
    return _Constraining(sides).run()


class _Constraining:
    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.report = Report()
        self.values = Values(sides)
        self.meshes = Meshes(sides.lhs, sides.rhs)
        self.right: set[Any] = set()  # constraints of rhs that stay

    def run(self) -> Report:
        found = [(number, op) for number, op in self.sides.rhs.present() if is_constraint(op)]
        for op in self.sides.lhs.operations:
            if is_constraint(op):
                self._demand(op)
        numbers = set(self.sides.plan.operations.values())
        paired = {op for number, op in self.sides.rhs.present() if number in numbers}
        for number, op in found:
            if op not in self.right and _producer(op) in paired:
                self._free(number, op)
        return self.report

    def _demand(self, op: Any) -> None:
        """Makes sure that rhs has the constraint too."""
        where = source_of(op) or op.name
        existing = self._existing(op)
        if existing is not None:
            self.right.add(existing)
        try:
            wanted = self._wanted(op)
        except MeshMismatchError as error:
            self.report.skipped.append(f"constraint of {where}: {error}")
            return
        if existing is not None:
            self._change(existing, wanted, where)
            return
        value = self.values.value(op.operands[0])
        if value is None:
            self.report.skipped.append(f"constraint of {where}: its value has no counterpart")
            return
        new = op.clone(ip=after(value)).operation
        new.operands[0] = value
        new.attributes[_name(new)] = wanted
        value.replace_all_uses_except(new.results[0], new)
        self.right.add(new)
        self.report.done.append(f"{where}: constrained to {short(wanted)}")

    def _wanted(self, op: Any) -> Any:
        given = op.attributes[_name(op)]
        return self.meshes.translated(given) if op.name == CONSTRAINT else given

    def _existing(self, op: Any) -> Any | None:
        """Rhs's constraint of the same value."""
        other = self.values.operation(op)
        if other is not None and is_constraint(other) and other.name == op.name:
            return other
        value = self.values.value(op.operands[0])
        if value is None:
            return None
        there = (user for user, _ in uses(value))
        return next((u for u in there if is_constraint(u) and u.name == op.name), None)

    def _change(self, op: Any, wanted: Any, where: str) -> None:
        name = _name(op)
        given = op.attributes[name]
        if same(self.meshes.plain(given), wanted):
            return
        op.attributes[name] = wanted
        self.report.done.append(f"{where}: {short(given)} -> {short(wanted)}")

    def _free(self, number: int, op: Any) -> None:
        """Takes a constraint out whose value has a counterpart, which then is known to be free."""
        where = source_of(op) or op.name
        self.report.done.append(
            f"{where}: no longer constrained to {short(op.attributes[_name(op)])}"
        )
        self.sides.rhs.take_out(number, [op.operands[0]])


def _producer(op: Any) -> Any | None:
    """What makes the value that is constrained, `None` for an argument of a block."""
    value = op.operands[0]
    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def _name(op: Any) -> str:
    return "sharding" if op.name == CONSTRAINT else GSPMD
