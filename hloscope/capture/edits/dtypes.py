"""Computing in the dtypes of lhs."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.program import Report, Sides, last, source_of
from hloscope.capture.edits.values import after, element, same_shape

_CONVERT = "stablehlo.convert"
# what holds other functions' or regions' types is edited by its parts
_BY_PARTS = frozenset({
    "func.call", "stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.custom_call",
    "stablehlo.optimization_barrier", "stablehlo.composite", "sdy.sharding_constraint",
    "sdy.manual_computation",
})  # fmt: skip


def dtypes(sides: Sides) -> Report:
    """Gives rhs's parameters, operations, loop carries and outputs the dtypes of lhs.

    Each operation is replaced by its counterpart's own with casts around it; a cast and the one
    that takes it back cancel out.
    """
    report = Report()
    _parameters(sides, report)
    _loops(sides, report)
    counts: dict[str, int] = {}
    for number, op in enumerate(sides.lhs.operations):
        other = sides.counterpart(number)
        if other is None or not _differ(op, other):
            continue
        new = _like(op, other)
        if new is None:
            continue
        line = f"{source_of(op) or op.name}: {_types(other)} -> {_types(op)}"
        counts[line] = counts.get(line, 0) + 1
        results = [cast(new.results[n], r.type) for n, r in enumerate(other.results)]
        sides.rhs.take_out(sides.plan.operations[number], results, instead=new)
    report.done += [line if count == 1 else f"{line} ({count}x)" for line, count in counts.items()]
    _outputs(sides, report)
    if report.arguments or report.outputs:
        sides.rhs.set_type()
    return report


def cast(value: Any, kind: Any) -> Any:
    """A value in another type of the same extents.

    Takes the value that a widening cast came from rather than casting it back: the two together
    change nothing.
    """
    if value.type == kind:
        return value
    if not isinstance(value, ir.BlockArgument) and value.owner.operation.name == _CONVERT:
        origin = value.owner.operation.operands[0]
        if origin.type == kind and _bits(origin) <= _bits(value):
            return origin
    new = ir.Operation.create(_CONVERT, results=[kind], operands=[value], ip=after(value))
    return new.results[0]


def _bits(value: Any) -> int:
    kind = element(value)
    return int(getattr(kind, "width", 0))


def _is_float(value: Any) -> bool:
    return isinstance(element(value), ir.FloatType)


def _other_float(left: Any, right: Any) -> bool:
    """Whether two values are the same but for their floating-point type."""
    return bool(
        left.type != right.type and same_shape(left, right) and _is_float(left) and _is_float(right)
    )


def _differ(op: Any, other: Any) -> bool:
    """Whether two operations do the same in other floating-point types."""
    if op.name != other.name or op.name in _BY_PARTS:
        return False
    left = [*op.results, *op.operands]
    right = [*other.results, *other.operands]
    if len(op.results) != len(other.results) or len(left) != len(right):
        return False
    pairs = list(zip(left, right, strict=True))
    if not all(a.type == b.type or _other_float(a, b) for a, b in pairs):
        return False
    return any(a.type != b.type for a, b in pairs)


def _like(op: Any, other: Any) -> Any | None:
    """A copy of lhs's operation in the place of rhs's, reading rhs's values."""
    wanted = [operand.type for operand in op.operands]
    given = [cast(operand, kind) for operand, kind in zip(other.operands, wanted, strict=True)]
    new = op.clone(ip=ir.InsertionPoint(other)).operation
    for place, value in enumerate(given):
        new.operands[place] = value
    return new


def _types(op: Any) -> str:
    kinds = dict.fromkeys(str(element(v)) for v in (*op.operands, *op.results) if _is_float(v))
    return "/".join(kinds)


def _parameters(sides: Sides, report: Report) -> None:
    for pair in sides.plan.arguments:
        left, right = sides.lhs.arguments[pair.lhs], sides.rhs.arguments[pair.rhs]
        if not _other_float(left, right):
            continue
        report.done.append(f"{pair.name}: {element(right)} -> {element(left)}")
        report.arguments.append(pair)
        _retype_argument(right, left.type)


def _retype_argument(argument: Any, kind: Any) -> None:
    """Gives a block's argument another type, and its readers the old one."""
    old = argument.type
    argument.set_type(kind)
    new = ir.Operation.create(_CONVERT, results=[old], operands=[argument], ip=after(argument))
    argument.replace_all_uses_except(new.results[0], new)


def _outputs(sides: Sides, report: Report) -> None:
    for pair in sides.plan.outputs:
        left = sides.lhs.returned.operands[pair.lhs]
        right = sides.rhs.returned.operands[pair.rhs]
        if not _other_float(left, right):
            continue
        report.done.append(f"output {pair.name}: {element(right)} -> {element(left)}")
        report.outputs.append(pair)
        sides.rhs.returned.operands[pair.rhs] = cast(right, left.type)


def _loops(sides: Sides, report: Report) -> None:
    for number, op in enumerate(sides.lhs.operations):
        other = sides.counterpart(number)
        if op.name != "stablehlo.while" or other is None or other.name != op.name:
            continue
        where = source_of(op) or op.name
        if len(op.operands) != len(other.operands):
            report.skipped.append(f"loop of {where}: the sides carry different values")
            continue
        for slot, (left, right) in enumerate(zip(op.operands, other.operands, strict=True)):
            if _other_float(left, right):
                report.done.append(
                    f"{where}: loop carry {slot} {element(right)} -> {element(left)}"
                )
                _retype_slot(other, slot, left.type)


def _retype_slot(loop: Any, slot: int, kind: Any) -> None:
    """Carries a value from turn to turn in another type."""
    loop.operands[slot] = cast(loop.operands[slot], kind)
    for region in loop.regions:
        _retype_argument(region.blocks[0].arguments[slot], kind)
    yielded = last(loop.regions[1].blocks[0])
    yielded.operands[slot] = cast(yielded.operands[slot], kind)
    result = loop.results[slot]
    old = result.type
    result.set_type(kind)
    new = ir.Operation.create(_CONVERT, results=[old], operands=[result], ip=after(result))
    result.replace_all_uses_except(new.results[0], new)
