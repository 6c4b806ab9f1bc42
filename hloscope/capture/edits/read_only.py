"""Loop results that are the loop's own input, slice by slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.expressions import Frame, Held, Resolver
from hloscope.capture.edits.program import Program, last

_RESHAPES = frozenset({"stablehlo.reshape", "stablehlo.broadcast_in_dim"})
# what a counter is followed through; a longer loop is left alone
_MOST_TURNS = 100_000


def read_only_results(loop: Any, program: Program) -> Iterator[tuple[int, int]]:
    """Results of a `stablehlo.while` that equal one of its operands, as (result, operand).

    Result k is operand j where the loop carries j unchanged and writes into k, in each turn, the
    slice that it reads of j in that turn, and the turns cover all of it.
    """
    reading = _Reading(loop, program)
    for slot in range(len(loop.operands)):
        source = reading.source_of(slot)
        if source is not None and loop.operands[source].type == loop.operands[slot].type:
            yield slot, source


class _Reading:
    def __init__(self, loop: Any, program: Program) -> None:
        self._loop = loop
        self._resolver = Resolver(program.functions)
        self._body = loop.regions[1].blocks[0]
        self._yielded = last(self._body).operands
        self._turns = self._counted()

    def source_of(self, slot: int) -> int | None:
        """The operand that a slot's result equals."""
        update = self._made(self._yielded[slot], None, "stablehlo.dynamic_update_slice")
        if update is None or not self._turns:
            return None
        op, frame = update
        base = self._resolver.operand(op, 0, frame).value
        if base != self._body.arguments[slot]:
            return None
        read = self._read(self._resolver.operand(op, 1, frame))
        if read is None:
            return None
        piece, piece_frame = read
        source = self._slot_of(self._resolver.operand(piece, 0, piece_frame).value)
        if source is None or not self._unchanged(source):
            return None
        written = self._indices(op, 2, frame)
        return (
            source
            if written == self._indices(piece, 1, piece_frame)
            and _covers(written, piece, self._body.arguments[source])
            else None
        )

    def _made(self, value: Any, frame: Frame | None, name: str) -> tuple[Any, Frame | None] | None:
        found = self._resolver.operation(Held(value, frame))
        return found if found is not None and found[0].name == name else None

    def _read(self, held: Held) -> tuple[Any, Frame | None] | None:
        """The slice that is read, looking through changes of shape that keep every element."""
        found = self._resolver.operation(held)
        while found is not None and found[0].name in _RESHAPES and _keeps_elements(found[0]):
            found = self._resolver.operation(Held(found[0].operands[0], found[1]))
        if found is None or found[0].name != "stablehlo.dynamic_slice":
            return None
        return found

    def _slot_of(self, value: Any) -> int | None:
        arguments = list(self._body.arguments)
        return arguments.index(value) if value in arguments else None

    def _unchanged(self, slot: int) -> bool:
        return bool(
            self._resolver.resolve(Held(self._yielded[slot], None)).value
            == self._body.arguments[slot]
        )

    def _indices(self, op: Any, first: int, frame: Frame | None) -> list[tuple[int | None, ...]]:
        """Start indices in each turn."""
        held = [self._resolver.operand(op, n, frame) for n in range(first, len(op.operands))]
        return [tuple(self._resolver.integer(h, known) for h in held) for known in self._turns]

    def _counted(self) -> list[dict[Any, int]]:
        """The counters' values in each turn; empty where the loop's end is not known."""
        known = dict(self._counters())
        condition = self._loop.regions[0].blocks[0]
        outside = list(condition.arguments)
        turns: list[dict[Any, int]] = []
        while known and len(turns) < _MOST_TURNS:
            seen = {outside[self._slot(a)]: n for a, n in known.items()}
            goes_on = self._resolver.integer(Held(last(condition).operands[0], None), seen)
            if goes_on is None:
                return []
            if not goes_on:
                return turns
            turns.append(dict(known))
            known = dict(self._after(known))
        return []

    def _slot(self, argument: Any) -> int:
        return int(ir.BlockArgument(argument).arg_number)

    def _counters(self) -> Iterator[tuple[Any, int]]:
        """Integer scalars that the loop starts with."""
        for slot, argument in enumerate(self._body.arguments):
            if str(argument.type) in ("tensor<i32>", "tensor<i64>"):
                first = self._resolver.integer(Held(self._loop.operands[slot], None), {})
                if first is not None:
                    yield argument, first

    def _after(self, known: dict[Any, int]) -> Iterator[tuple[Any, int]]:
        for argument in known:
            value = self._resolver.integer(Held(self._yielded[self._slot(argument)], None), known)
            if value is not None:
                yield argument, value


def _keeps_elements(op: Any) -> bool:
    """Whether a change of shape neither repeats nor moves elements."""
    given, made = (ir.RankedTensorType(v.type) for v in (op.operands[0], op.results[0]))
    if [d for d in given.shape if d != 1] != [d for d in made.shape if d != 1]:
        return False
    if op.name == "stablehlo.reshape":
        return True
    dimensions = list(op.attributes["broadcast_dimensions"])
    return dimensions == sorted(dimensions)


def _covers(starts: list[tuple[int | None, ...]], piece: Any, whole: Any) -> bool:
    """Whether slices that start there tile an array along one dimension."""
    sizes = list(piece.attributes["slice_sizes"])
    extents = list(ir.RankedTensorType(whole.type).shape)
    cut = [n for n, (size, extent) in enumerate(zip(sizes, extents, strict=True)) if size != extent]
    if not cut:
        return bool(starts)
    if len(cut) != 1 or any(start is None for row in starts for start in row):
        return False
    (dimension,) = cut
    if any(n != dimension and start for row in starts for n, start in enumerate(row)):
        return False
    found = {row[dimension] for row in starts}
    return found == set(range(0, extents[dimension], sizes[dimension]))
