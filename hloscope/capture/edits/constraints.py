"""Sharding constraints where lhs has them, and nowhere else."""

from __future__ import annotations

from typing import Any

from hloscope.capture.edits.meshes import MeshMismatchError
from hloscope.capture.edits.program import Report, Sides, source_of, uses
from hloscope.capture.edits.shardings import GSPMD, Meshes, same, short
from hloscope.capture.edits.values import CONSTRAINT, Values, after, is_constraint, replace


def constraints(sides: Sides) -> Report:
    """Constrains the values that lhs constrains, as it does, and frees all others."""
    return _Constraining(sides).run()


class _Constraining:
    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.report = Report()
        self.values = Values(sides)
        self.meshes = Meshes(sides.lhs, sides.rhs)
        self.right: set[Any] = set()  # constraints of rhs that are as they should be

    def run(self) -> Report:
        found = [op for op in self.sides.rhs.operations if is_constraint(op)]
        for op in self.sides.lhs.operations:
            if is_constraint(op):
                self._demand(op)
        counterparts = set(self.sides.plan.operations.values())
        for op in found:
            if op not in self.right and self._is_known(op, counterparts):
                self._free(op)
        return self.report

    def _demand(self, op: Any) -> None:
        """Makes sure that rhs has the constraint too."""
        where = source_of(op) or op.name
        try:
            wanted = self._wanted(op)
        except MeshMismatchError as error:
            self.report.skipped.append(f"constraint of {where}: {error}")
            return
        existing = self._existing(op)
        if existing is not None:
            self.right.add(existing)
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

    def _is_known(self, op: Any, counterparts: set[int]) -> bool:
        """Whether what is constrained has a counterpart, which then is known to be free."""
        value = op.operands[0]
        if not hasattr(value.owner, "operation"):  # an argument of a block
            return False
        producer = value.owner.operation
        return any(self.sides.rhs.operations[number] == producer for number in counterparts)

    def _free(self, op: Any) -> None:
        where = source_of(op) or op.name
        self.report.done.append(
            f"{where}: no longer constrained to {short(op.attributes[_name(op)])}"
        )
        replace(op, [op.operands[0]])


def _name(op: Any) -> str:
    return "sharding" if op.name == CONSTRAINT else GSPMD
