"""Accounts for all memory of one side at one instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hloscope import hlo
from hloscope.attribute.cost_shapes import array_bytes
from hloscope.attribute.memory_live import NOTHING, Moment, Slot, slots
from hloscope.attribute.memory_schedule import Schedule
from hloscope.attribute.memory_values import Values
from hloscope.attribute.module_path import ModulePath, ModulePaths
from hloscope.errors import HloscopeError
from hloscope.hlo.arguments import tupled_arguments
from hloscope.hlo.state_path import state_path
from hloscope.model.buffers import Allocation, BufferAssignment
from hloscope.model.capture import Leaf, MemoryFigures
from hloscope.model.hlo import Module, StackFrame
from hloscope.model.ledger import (
    Category,
    Held,
    Instant,
    LedgerEntry,
    MemoryLedger,
    PathSource,
    TimelinePoint,
    Value,
)
from hloscope.model.units import Bytes, Measured

DEVICE = 0
NO_INSTANT = Instant("", "")
HOLES = "holes between live buffers"
_SURENESS = {source: rank for rank, source in enumerate(PathSource)}
ON_TOP = "what the compiler's figure has on top"


def memory_ledger(
    module: Module,
    buffers: BufferAssignment,
    *,
    space: int = DEVICE,
    at: str | None = None,
    figures: MemoryFigures | None = None,
    inputs: Sequence[Leaf] = (),
    outputs: Sequence[Leaf] = (),
    paths: ModulePaths | None = None,
) -> MemoryLedger:
    """Accounts for every byte of one memory space.

    For device memory the total is argument + output - alias + temp + code as `memory_analysis()`
    has them (code where it is known), and constants, which XLA counts in none of these.

    Args:
      module: the module that `buffers` belongs to.
      buffers: its buffer assignment.
      space: XLA's memory space; 0 is device memory.
      at: an instruction's name; `None` for the instant at which temporaries hold most.
      figures: XLA's own figures, where the compile ran to its end; read off `buffers` otherwise.
      inputs: the program's input leaves, for state paths and shardings.
      outputs: the same of its outputs.
      paths: the module's paths; `None` works them out.

    Raises:
      HloscopeError: `at` names no instruction of the module.
    """
    builder = _Builder(module, buffers, space, at, inputs, outputs, paths)
    figures = figures or hlo.memory_figures(buffers, module)
    entries = [*builder.entries(), *(_rests(figures, builder) if space == DEVICE else ())]
    return MemoryLedger(
        space=space,
        instant=builder.instant,
        at_peak=at is None,
        entries=tuple(sorted(entries, key=_rank)),
        figures=figures,
        values=builder.held(),
        timeline=tuple(builder.timeline()),
        notes=tuple(builder.notes),
    )


def _rank(entry: LedgerEntry) -> tuple[int, str, str, int]:
    return (-entry.size, entry.category, entry.name, entry.allocation)


def _rests(figures: MemoryFigures, builder: _Builder) -> Iterator[LedgerEntry]:
    """What XLA's figures have on top of the allocations."""
    match figures.temp:
        case Measured(temp):
            extra = temp - sum(a.size for a in builder.temporaries)
            if extra:
                yield rest(Category.FRAGMENTATION, ON_TOP, extra)
    match figures.code:
        case Measured(code) if code:
            yield rest(Category.CODE, "generated code", code)


def rest(category: Category, name: str, size: int, allocation: int = -1) -> LedgerEntry:
    """An entry that is no buffer."""
    return LedgerEntry(
        category=category, name=name, size=Bytes(size), unpadded=Bytes(size), allocation=allocation
    )


class Place(NamedTuple):
    """Where a buffer lies: bytes, XLA's allocation number, offset in it."""

    size: int
    allocation: int
    offset: int


class _Builder:
    """One side, one space, one instant."""

    def __init__(
        self,
        module: Module,
        buffers: BufferAssignment,
        space: int,
        at: str | None,
        inputs: Sequence[Leaf],
        outputs: Sequence[Leaf],
        paths: ModulePaths | None,
    ) -> None:
        self.space = space
        self.buffers = buffers
        self.values = Values(module, buffers)
        self.schedule = Schedule(module)
        self.inputs = {leaf.parameter: leaf for leaf in inputs if leaf.parameter is not None}
        self.outputs = {leaf.parameter: leaf for leaf in outputs if leaf.parameter is not None}
        given = {number: leaf.path for number, leaf in self.inputs.items()}
        self.paths = paths or ModulePaths(module, given)
        self.tupled = tupled_arguments(module) is not None
        self.notes: list[str] = []
        own = [a for a in buffers.allocations if a.color == space]
        self.allocations = [a for a in own if not a.is_thread_local]
        self.temporaries = [a for a in self.allocations if hlo.is_temporary(a)]
        self.traces = {t.allocation_index: t for t in buffers.heap_traces}
        if len(own) > len(self.allocations):
            self.notes.append(
                f"{len(own) - len(self.allocations)} allocations are local to a kernel's thread "
                "and take no memory of their own"
            )
        position = None if at is None else _position(self.schedule, module, at)
        moment = Moment(schedule=self.schedule, position=position)
        self.stops = {
            a.number: moment.stop(self.traces.get(a.number), self.values.sizes)
            for a in self.temporaries
        }
        self.instant = self._instant(at)

    def entries(self) -> Iterator[LedgerEntry]:
        for allocation in self.allocations:
            if hlo.is_temporary(allocation):
                yield from self._temporary(allocation)
            else:
                yield self._lasting(allocation)

    def held(self) -> Mapping[Value, Held]:
        found = {}
        for allocation in self.buffers.allocations:
            category = _category(allocation)
            for assigned in allocation.assigned:
                value = self.values.by_buffer.get(assigned.logical_buffer_id)
                if value is not None:
                    shape = self.values.shape(value)
                    found[value] = Held(allocation.color, assigned.size, category, shape)
        return found

    def timeline(self) -> Iterator[TimelinePoint]:
        """Heap events of all temporary allocations, one allocation after the other."""
        lasting = sum(a.size for a in self.allocations if not hlo.is_temporary(a))
        for allocation in self.temporaries:
            trace = self.traces.get(allocation.number)
            if trace is None:
                continue
            for state in hlo.HeapReplay(trace, self.values.sizes).states():
                event = trace.events[state.event]
                held = lasting + state.size
                yield TimelinePoint(event.computation, event.instruction, held, allocation.number)

    def _instant(self, at: str | None) -> Instant:
        if at is not None:
            return Instant("", at)
        largest = max(self.temporaries, key=lambda a: (a.size, -a.number), default=None)
        trace = self.traces.get(largest.number) if largest is not None else None
        if largest is None or trace is None or self.stops[largest.number] == NOTHING:
            return NO_INSTANT
        event = trace.events[self.stops[largest.number]]
        return Instant(event.computation, event.instruction)

    def _lasting(self, allocation: Allocation) -> LedgerEntry:
        members = self._members(a.logical_buffer_id for a in allocation.assigned)
        outputs = sorted({n for value in members for n in self.values.outputs.get(value, ())})
        category = _category(allocation)
        if not members:
            return rest(Category.UNATTRIBUTED, f"allocation {allocation.number}", allocation.size,
                        allocation.number)  # fmt: skip
        value = self._spokesman(members, allocation)
        number = self._parameter(allocation) if allocation.is_entry_parameter else None
        leaf = self.inputs.get(number) if number is not None else None
        leaf = leaf or next((self.outputs[n] for n in outputs if n in self.outputs), None)
        place = Place(allocation.size, allocation.number, 0)
        entry = self._entry(category, value, members, place, leaf)
        return replace(entry, parameter=number, outputs=tuple(outputs))

    def _parameter(self, allocation: Allocation) -> int | None:
        """Which argument it holds: of a tuple of all arguments, which element; not its table."""
        if not self.tupled:
            return allocation.parameter_number
        return next(iter(allocation.parameter_shape_index), None)

    def _spokesman(self, members: Sequence[Value], allocation: Allocation) -> Value:
        """The value that a lasting allocation is there for."""
        if allocation.is_entry_parameter:
            for value in members:
                if self.values.instruction(value.ref).opcode == "parameter":
                    return value
        returned = [value for value in members if value in self.values.outputs]
        return max(returned or members, key=lambda v: (self._unpadded(v, 0), v))

    def _temporary(self, allocation: Allocation) -> Iterator[LedgerEntry]:
        """Live buffers, what lies beside them throughout, and the holes that are left."""
        used = 0
        trace = self.traces.get(allocation.number)
        stop = self.stops[allocation.number]
        for slot in slots(allocation, trace, stop, self.values.sizes):
            used += slot.size
            yield self._slot(slot, allocation.number)
        if used != allocation.size:
            yield rest(Category.FRAGMENTATION, HOLES, allocation.size - used, allocation.number)

    def _slot(self, slot: Slot, allocation: int) -> LedgerEntry:
        members = self._members(slot.buffers)
        if not members:
            return rest(Category.UNATTRIBUTED, f"allocation {allocation}", slot.size, allocation)
        tables = all(self.values.shape(value).dtype == "tuple" for value in members)
        return self._entry(
            Category.TABLE if tables else Category.TEMPORARY,
            self._named(members),
            members,
            Place(slot.size, allocation, slot.offset),
        )

    def _named(self, members: Sequence[Value]) -> Value:
        """The value in use, or the first that uses the same memory and says where it comes from."""
        for value in members:
            if self.values.instruction(value.ref).metadata.op_name:
                return value
        return members[0]

    def _entry(
        self,
        category: Category,
        value: Value,
        members: Sequence[Value],
        place: Place,
        leaf: Leaf | None = None,
    ) -> LedgerEntry:
        shape = self.values.shape(value)
        first, last = self.schedule.uses(members, self.values)
        state = state_path(leaf.path) if leaf is not None else self._state(members)
        module = self._module(value, members, state)
        return LedgerEntry(
            category=category,
            name=self.values.name(value),
            size=Bytes(place.size),
            unpadded=Bytes(min(self._unpadded(value, place.size), place.size)),
            value=value,
            members=tuple(members),
            shape=shape,
            shape_text=hlo.format_shape(shape),
            opcode=self.values.instruction(value.ref).opcode,
            first=first,
            last=last,
            path=module.path,
            path_source=module.source,
            state=state,
            leaf=leaf,
            frame=self._frame(members),
            allocation=place.allocation,
            offset=place.offset,
        )

    def _state(self, members: Sequence[Value]) -> tuple[str, ...]:
        for value in members:
            if self.values.instruction(value.ref).opcode == "parameter":
                state = self.paths.state(value.ref, value.part)
                if state:
                    return state
        return ()

    def _module(self, value: Value, members: Sequence[Value], state: tuple[str, ...]) -> ModulePath:
        if state:
            return ModulePath(state[:-1] or state, PathSource.STATE)
        refs = dict.fromkeys((value.ref, *(m.ref for m in members)))
        return min(
            (self.paths.path(ref) for ref in refs), key=lambda place: _SURENESS[place.source]
        )

    def _frame(self, members: Sequence[Value]) -> StackFrame | None:
        return next((f for m in members if (f := self.paths.frame(m.ref)) is not None), None)

    def _unpadded(self, value: Value, size: int) -> int:
        """Bytes of the elements; a tuple's table has no layout, so nothing of it is padding."""
        shape = self.values.shape(value)
        return size if shape.dtype == "tuple" else array_bytes(shape, padded=False)

    def _members(self, ids: Iterable[int]) -> list[Value]:
        return [self.values.by_buffer[i] for i in ids if i in self.values.by_buffer]


def _category(allocation: Allocation) -> Category:
    if allocation.is_entry_parameter:
        return Category.ALIASED if allocation.maybe_live_out else Category.ARGUMENT
    if allocation.maybe_live_out:
        return Category.OUTPUT
    return Category.CONSTANT if allocation.is_constant else Category.TEMPORARY


def _position(schedule: Schedule, module: Module, name: str) -> int:
    found = schedule.named(name.removeprefix("%"))
    if found is None:
        raise HloscopeError(
            f"no scheduled instruction '{name}' in module '{module.name}'",
            remedy="name an instruction of the entry or of a loop body, or use --at peak",
        )
    return schedule.order(found)
