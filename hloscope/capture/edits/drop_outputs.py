"""Outputs that need not be made: what a loop stacks unchanged, and what lhs does not return."""

from __future__ import annotations

from collections import Counter
from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.aliasing import alias_with, offer, output_of
from hloscope.capture.edits.program import Program, Report, Sides, source_of
from hloscope.capture.edits.read_only import read_only_results

_LEFT_TO_XLA = "allow_spmd_sharding_propagation_to_output"


def drop_outputs(sides: Sides) -> Report:
    """Reads what a loop hands through unchanged off its input, then drops outputs of rhs alone.

    Loops that hand as much through on lhs stay as they are.
    """
    report = Report()
    there = Counter(_extents(loop.results[slot]) for loop, slot, _ in _read_only(sides.lhs))
    for loop, slot, source in _read_only(sides.rhs):
        result = loop.results[slot]
        if there[_extents(result)]:
            there[_extents(result)] -= 1
        elif list(result.uses):
            result.replace_all_uses_with(loop.operands[source])
            where = source_of(loop) or loop.name
            report.done.append(f"{where}: loop result {slot} {result.type} is its operand {source}")
    _drop(sides, report)
    return report


def _read_only(program: Program) -> list[tuple[Any, int, int]]:
    return [
        (op, slot, source)
        for _, op in program.present()
        if op.name == "stablehlo.while"
        for slot, source in read_only_results(op, program)
    ]


def _extents(value: Any) -> tuple[int, ...]:
    return tuple(ir.RankedTensorType(value.type).shape)


def _drop(sides: Sides, report: Report) -> None:
    returned = sides.rhs.returned
    paired = {pair.rhs for pair in sides.plan.outputs}
    extra = [place for place in range(len(returned.operands)) if place not in paired]
    if not extra:
        return
    if not paired:
        report.skipped.append("no output of rhs has a counterpart, so none can be told to be extra")
        return
    report.done += [f"output {place} {returned.operands[place].type} dropped" for place in extra]
    report.dropped += extra
    kept = [place for place in range(len(returned.operands)) if place not in extra]
    results = sides.rhs.attributes("res_attrs")
    new_places = {old: new for new, old in enumerate(kept)}
    values = [returned.operands[place] for place in kept]
    ir.Operation.create("func.return", operands=values, ip=ir.InsertionPoint(returned))
    returned.erase()
    sides.rhs.set_attributes("res_attrs", [results[place] for place in kept])
    sides.rhs.set_type()
    _renumber_aliases(sides, new_places)
    _renumber_freedom(sides, kept)


def _renumber_aliases(sides: Sides, places: dict[int, int]) -> None:
    attributes = sides.rhs.attributes("arg_attrs")
    for held in attributes:
        output = output_of(held)
        if output in places:
            alias_with(held, places[output])
        elif output >= 0:
            offer(held)
    sides.rhs.set_attributes("arg_attrs", attributes)


def _renumber_freedom(sides: Sides, kept: list[int]) -> None:
    options = sides.rhs_options.executable_build_options
    free = list(getattr(options, _LEFT_TO_XLA))
    if len(free) > 1:
        setattr(options, _LEFT_TO_XLA, [free[place] for place in kept])
