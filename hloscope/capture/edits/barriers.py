"""Optimization barriers where lhs has them, and nowhere else."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.program import Report, Sides, source_of, uses
from hloscope.capture.edits.values import BARRIER, Values


def barriers(sides: Sides) -> Report:
    """Puts the barriers of lhs before the operations that they stand before there.

    A barrier keeps what is computed again from being merged with what it repeats: with it remat
    has an effect, without it XLA may take the remat back. Nothing is computed again that rhs's
    program does not compute again by itself.
    """
    report = Report()
    values = Values(sides)
    before = [(number, op) for number, op in sides.rhs.present() if op.name == BARRIER]
    kept = []
    for op in sides.lhs.operations:
        if op.name != BARRIER:
            continue
        other = values.operation(op)
        if other is not None and other.name == BARRIER:
            kept.append(other)
        else:
            _add(op, values, report)
    for number, op in before:
        if op not in kept:
            where = source_of(op) or op.name
            report.done.append(f"{where}: barrier around {len(op.operands)} values dropped")
            sides.rhs.take_out(number, op.operands)
    return report


def _add(op: Any, values: Values, report: Report) -> None:
    """A barrier of rhs's values, before those of rhs's operations that read lhs's barrier."""
    where = source_of(op) or op.name
    reads = [
        (value, user, place)
        for result, operand in zip(op.results, op.operands, strict=True)
        if (value := values.value(operand)) is not None
        for user, place in _readers(result, value, values)
    ]
    if not reads:
        report.skipped.append(f"barrier of {where}: what reads it has no counterpart")
        return
    reads = [read for read in reads if read[1].block == reads[0][1].block]
    first = _first([user for _, user, _ in reads])
    given = [value for value in dict.fromkeys(read[0] for read in reads) if _precedes(value, first)]
    if not given:
        report.skipped.append(f"barrier of {where}: its values come too late")
        return
    types = [value.type for value in given]
    place_of = ir.InsertionPoint(first)
    new = ir.Operation.create(BARRIER, results=types, operands=given, ip=place_of)
    for value, user, place in reads:
        if value in given:
            user.operands[place] = new.results[given.index(value)]
    report.done.append(f"{where}: barrier around {len(given)} values added")


def _first(operations: list[Any]) -> Any:
    """The first operation of one block."""
    found = operations[0]
    for op in operations[1:]:
        if op.is_before_in_block(found):
            found = op
    return found


def _readers(result: Any, value: Any, values: Values) -> list[tuple[Any, int]]:
    """Counterparts of what reads a barrier's result that read the value at the same place."""
    found = []
    for user, place in uses(result):
        other = values.operation(user)
        if other is not None and place < len(other.operands) and other.operands[place] == value:
            found.append((other, place))
    return found


def _precedes(value: Any, op: Any) -> bool:
    """Whether a value is there before an operation runs."""
    if isinstance(value, ir.BlockArgument):
        return True
    owner = value.owner.operation
    return bool(owner.block != op.block or owner.is_before_in_block(op))
