"""Reading two programs and applying sets of probes to the second; runs in a child process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.aliasing import keep_possible
from hloscope.capture.edits.program import Program, Report, Sides, names, source_of
from hloscope.capture.edits.registry import EDITS
from hloscope.capture.jax_private import modules
from hloscope.errors import HloscopeError
from hloscope.model.edits import Edited, EditPlan, LeafPair, Operation, ReadProgram

_UNDECIDED = "donated arguments that no longer lie as their output does, left to XLA"
_LITERAL_ELEMENTS = 16
_LONGEST_TEXT = 160
# says nothing of what is computed
_QUIET = frozenset({"mhlo.frontend_attributes", "indices_are_sorted", "unique_indices"})


def read_programs(programs: Sequence[bytes]) -> tuple[ReadProgram, ...]:
    """Each program's operations, and its HLO with the operations' numbers.

    Args:
      programs: MLIR bytecode of StableHLO modules.

    Raises:
      HloscopeError: the installed jaxlib cannot read one.
    """
    return tuple(_read(bytecode) for bytecode in programs)


def _read(bytecode: bytes) -> ReadProgram:
    with modules.context():
        program = parse(bytecode)
        operations = tuple(
            Operation(_text(op), source_of(op), _function(op)) for op in program.operations
        )
        program.tag()
        return ReadProgram(operations=operations, hlo=modules.hlo_proto(program.module))


def parse(bytecode: bytes) -> Program:
    """A program, in the current context.

    Raises:
      HloscopeError: the installed jaxlib cannot read it.
    """
    try:
        return Program(bytecode)
    except (ir.MLIRError, ValueError) as error:
        raise HloscopeError(
            f"the installed jaxlib cannot read the capture's StableHLO: {_first_line(error)}",
            remedy="the versions that the capture was taken with: hloscope show CAPTURE",
        ) from error


def _function(op: Any) -> str:
    while op is not None and op.name != "func.func":
        op = op.parent.operation if op.parent is not None else None
    return "" if op is None else str(ir.StringAttr(op.attributes["sym_name"]).value)


def _text(op: Any) -> str:
    """The operation's name, attributes and types; values have no names."""
    attributes = ", ".join(
        f"{name} = {_attribute(op.attributes[name])}"
        for name in sorted(names(op.attributes))
        if name not in _QUIET
    )
    given = ", ".join(str(operand.type) for operand in op.operands)
    results = ", ".join(str(result.type) for result in op.results)
    held = f" {{{attributes}}}" if attributes else ""
    text = f"{op.name}{held} : ({given}) -> ({results})"
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def _attribute(attribute: Any) -> str:
    dense = isinstance(attribute, ir.DenseElementsAttr)
    if dense and len(attribute) > _LITERAL_ELEMENTS and not attribute.is_splat:
        return f"dense<...> : {attribute.type}"
    return str(attribute)


def edit(lhs: tuple[bytes, bytes], rhs: tuple[bytes, bytes], plan: EditPlan) -> tuple[Edited, ...]:
    """Rhs after each of the plan's sets of probes.

    Args:
      lhs: MLIR bytecode and serialized compile options.
      rhs: the same of the side that is edited.
      plan: what to go by.
    """
    return tuple(_edit(lhs, rhs, plan, probes) for probes in plan.probes)


def _edit(
    lhs: tuple[bytes, bytes], rhs: tuple[bytes, bytes], plan: EditPlan, probes: Sequence[str]
) -> Edited:
    with modules.context():
        sides = Sides(
            lhs=parse(lhs[0]),
            rhs=parse(rhs[0]),
            plan=plan,
            lhs_options=modules.options_of(lhs[1]),
            rhs_options=modules.options_of(rhs[1]),
        )
        reports: dict[str, Report] = {}
        with ir.Location.unknown():
            for name in (name for name in EDITS if name in probes):
                reports[name] = EDITS[name](sides)
            undecided = keep_possible(sides.rhs)
        problem = _problem(sides)
        edited = any(report.done for report in reports.values())
        return Edited(
            stablehlo=modules.bytecode(sides.rhs.module) if edited and not problem else b"",
            options=sides.rhs_options.SerializeAsString(),
            done=tuple(line for report in reports.values() for line in report.done),
            skipped=(
                *(line for report in reports.values() for line in report.skipped),
                *([f"{_UNDECIDED}: {undecided}"] if undecided else []),
            ),
            arguments=_by_probe(reports, "arguments"),
            outputs=_by_probe(reports, "outputs"),
            dropped=tuple(n for report in reports.values() for n in report.dropped),
            problem=problem,
        )


def _problem(sides: Sides) -> str:
    """What MLIR's verifier says against the edited module."""
    try:
        sides.rhs.module.operation.verify()
    except ir.MLIRError as error:
        return _first_line(error)
    return ""


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])


def _by_probe(reports: dict[str, Report], field: str) -> dict[str, tuple[LeafPair, ...]]:
    return {name: tuple(getattr(r, field)) for name, r in reports.items() if getattr(r, field)}
