"""How large a value was before it was partitioned over devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from hloscope.attribute.communication_ledger import device_count
from hloscope.attribute.cost_users import call_order
from hloscope.model.hlo import Module, Shape
from hloscope.model.ledger import LedgerEntry
from hloscope.model.source import Source

Whole = Callable[[LedgerEntry], int | None]
Extents = tuple[int, ...]
# calls in calls in calls could have more names than there is memory for
_MOST_CALLERS = 1024


def whole_of(source: Source) -> Whole:
    """A function from an entry to the elements of its value on all devices together.

    The module before optimization has the whole shapes, and an operation's op_name survives
    partitioning. `None` where that module is not at hand, or several shapes of the name fit.
    """
    names: dict[str, set[Extents]] = {}
    devices = device_count(source.module)

    def whole(entry: LedgerEntry) -> int | None:
        if source.before is None or devices == 1 or entry.shape is None or entry.value is None:
            return None
        if not names:
            names.update(_by_name(source.before))
        for value in (entry.value, *entry.members):
            body = source.module.computations[value.ref.computation]
            op_name = body.instructions[value.ref.instruction].metadata.op_name
            found = _fitting(names.get(op_name, ()), entry.shape.dims, devices)
            if found is not None:
                return found
        return None

    return whole


def _by_name(before: Module) -> dict[str, set[Extents]]:
    """Extents of all arrays that instructions of an op_name make.

    Inlining a call puts the call's name and a slash in front of the names of what it calls.
    """
    found: dict[str, set[Extents]] = {}
    callers: dict[int, set[str]] = {}
    for position in reversed(call_order(before)):
        fronts = callers.get(position, {""})
        for instruction in before.computations[position].instructions:
            name = instruction.metadata.op_name
            if not name:
                continue
            full = [front + name for front in sorted(fronts)]
            shapes = {shape.dims for shape in _arrays(instruction.shape)}
            for one in full:
                found.setdefault(one, set()).update(shapes)
            for _, callee in instruction.called if instruction.opcode == "call" else ():
                known = callers.setdefault(callee, set())
                known.update(f"{one}/" for one in full[: max(_MOST_CALLERS - len(known), 0)])
    return found


def _arrays(shape: Shape) -> Iterable[Shape]:
    return shape.elements or (shape,)


def _fitting(candidates: Iterable[Extents], part: Extents, devices: int) -> int | None:
    """Elements of the one shape that the part may be cut from along its dimensions."""
    sizes = {
        prod(whole)
        for whole in candidates
        if len(whole) == len(part)
        and all(extent > 0 and size % extent == 0 for size, extent in zip(whole, part, strict=True))
        and devices % (prod(whole) // prod(part)) == 0
    }
    return sizes.pop() if len(sizes) == 1 else None
