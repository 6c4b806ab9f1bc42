"""A comparison as one of its sides sees it, so that a cause is written once for both directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hloscope import hlo
from hloscope.hlo.dataflow import Dataflow, NodeKind
from hloscope.model.canonical import Ref
from hloscope.model.communication import Collective, CollectiveChange
from hloscope.model.comparison import Comparison
from hloscope.model.cost import CostEntry
from hloscope.model.cost import DeltaEntry as CostDeltaEntry
from hloscope.model.finding import Direction, Evidence
from hloscope.model.hlo import Instruction, Module, StackFrame
from hloscope.model.ledger import DeltaEntry, LedgerEntry, Value
from hloscope.model.source import Source
from hloscope.model.units import Measured
from hloscope.queries.flow import flow

# more frames than this are a list to read, not a place to look at
_FRAMES = 3


@dataclass(frozen=True, kw_only=True)
class View:
    """A comparison seen from one side: `here` is that side, `there` the other.

    Attributes:
      name: `lhs` or `rhs`.
      direction: what it means that something is here and not there: on rhs, worse.
    """

    comparison: Comparison
    name: str
    direction: Direction

    @property
    def source(self) -> Source:
        """This side."""
        return self.comparison.rhs if self.name == "rhs" else self.comparison.lhs

    @property
    def module(self) -> Module:
        """This side's optimized module."""
        return self.source.module

    @property
    def flow(self) -> Dataflow:
        """Data flow of the optimized module."""
        return flow(self.module)

    @property
    def written(self) -> Dataflow:
        """Data flow as the program was written: before optimization, where the side has that."""
        return flow(self.source.before or self.module)

    @cached_property
    def there(self) -> View:
        """The comparison seen from the other side."""
        better = Direction.BETTER if self.direction is Direction.WORSE else Direction.WORSE
        name = "lhs" if self.name == "rhs" else "rhs"
        return View(comparison=self.comparison, name=name, direction=better)

    @cached_property
    def partners(self) -> dict[Ref, Ref]:
        """Instructions of this side's optimized module to those of the other's."""
        pairs = self.comparison.pairing.pairs
        if self.name == "lhs":
            return {pair.lhs: pair.rhs for pair in pairs}
        return {pair.rhs: pair.lhs for pair in pairs}

    def held(self, entry: DeltaEntry) -> LedgerEntry | None:
        """This side of an entry of the memory delta."""
        return entry.rhs if self.name == "rhs" else entry.lhs

    def cost(self, entry: CostDeltaEntry) -> CostEntry | None:
        """This side of an entry of the cost delta."""
        return entry.rhs if self.name == "rhs" else entry.lhs

    def collective(self, change: CollectiveChange) -> Collective | None:
        """This side of a change of a collective."""
        return change.rhs if self.name == "rhs" else change.lhs

    def grown(self, size: int) -> bool:
        """Whether a difference (rhs - lhs) means that this side has more."""
        return size > 0 if self.name == "rhs" else size < 0

    def seen(self, text: str, here: str | None = None, there: str | None = None) -> Evidence:
        """An observation with each side in its place."""
        return Evidence(text, there, here) if self.name == "rhs" else Evidence(text, here, there)

    @cached_property
    def _holders(self) -> dict[Value, int]:
        memory = self.comparison.memory
        return {
            value: position
            for position, entry in enumerate(memory.entries if memory else ())
            if (held := self.held(entry)) is not None
            for value in (*held.members, *((held.value,) if held.value else ()))
        }

    def memory_of(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """Positions of the memory delta's entries that hold nodes of `flow`."""
        found = {
            self._holders[value]
            for node in nodes
            for value in self._values(node)
            if value in self._holders
        }
        return tuple(sorted(found))

    def more_memory_of(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """As `memory_of`, the entries alone in which this side has more."""
        memory = self.comparison.memory
        found = self.memory_of(nodes)
        return tuple(p for p in found if memory and self.grown(memory.entries[p].size))

    def _values(self, node: int) -> Iterator[Value]:
        found = self.flow.nodes[node]
        if found.kind in (NodeKind.SLOT, NodeKind.RESULT, NodeKind.ELEMENT, NodeKind.CHOICE):
            yield Value(found.ref, (found.position,))
        else:
            yield Value(found.ref, ())
            if found.shape.dtype == "tuple":
                yield from (Value(found.ref, (k,)) for k in range(len(found.shape.elements)))
        if found.kernel != found.ref:
            yield Value(found.kernel, ())

    def cost_of(self, refs: Iterable[Ref]) -> tuple[int, ...]:
        """Positions of the cost delta's entries of instructions, or of kernels and all inside."""
        wanted = frozenset(refs)
        return tuple(
            position
            for position, entry in enumerate(self.comparison.cost.entries)
            if (cost := self.cost(entry)) and (cost.ref in wanted or cost.kernel in wanted)
        )

    def more_cost_of(self, refs: Iterable[Ref]) -> tuple[int, ...]:
        """As `cost_of`, the entries alone in which this side moves more bytes."""
        return tuple(p for p in self.cost_of(refs) if self.grown(self.moved(p)))

    def moved(self, position: int) -> int:
        """Bytes moved of an entry of the cost delta, rhs - lhs; 0 where they are unknown."""
        figure = self.comparison.cost.entries[position].bytes
        return figure.value if isinstance(figure, Measured) else 0

    def path_of(self, positions: Iterable[int]) -> tuple[str, ...]:
        """The first module path that entries of the cost delta have on this side."""
        for position in positions:
            cost = self.cost(self.comparison.cost.entries[position])
            if cost is not None and cost.module_path:
                return tuple(cost.module_path.split("/"))
        return ()

    def communication_of(self, refs: Iterable[Ref]) -> tuple[int, ...]:
        """Positions of the communication delta's changes of collectives."""
        wanted = frozenset(refs)
        return tuple(
            position
            for position, change in enumerate(self.comparison.communication.changes)
            if (item := self.collective(change)) and item.ref in wanted
        )

    def instruction(self, ref: Ref) -> Instruction:
        """An instruction of the optimized module."""
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def where(
        self, here: Iterable[StackFrame | None], there: Iterable[StackFrame | None] = ()
    ) -> dict[str, Any]:
        """Frames as keyword arguments of `Finding`, without repeats."""
        mine, others = _distinct(here), _distinct(there)
        if self.name == "rhs":
            return {"rhs_frames": mine, "lhs_frames": others}
        return {"lhs_frames": mine, "rhs_frames": others}


def _distinct(frames: Iterable[StackFrame | None]) -> tuple[StackFrame, ...]:
    found = dict.fromkeys(frame for frame in frames if frame is not None)
    return tuple(found)[:_FRAMES]


def views(comparison: Comparison) -> tuple[View, View]:
    """Seen from rhs, where what is here alone is worse; then from lhs, where it is better."""
    rhs = View(comparison=comparison, name="rhs", direction=Direction.WORSE)
    return rhs, rhs.there


def frame_of(found: Dataflow, node: int) -> StackFrame | None:
    """The Python frame to show for a node, `None` where the source has none."""
    return hlo.origin(found.module, found.instruction(node))


def as_written_alike(comparison: Comparison, *, types: bool = True) -> bool:
    """Whether the two programs do the same, as written, apart from how arrays are partitioned.

    Their operations are counted, by opcode, type and extents and by the loop depth they stand at;
    constraints are left out; without `types`, so are types, casts and constants, which a cast of
    them can make again. `False` where a side does not have the module before optimization.
    """
    if comparison.lhs.before is None or comparison.rhs.before is None:
        return False
    left, right = (
        _operations(flow(side), types) for side in (comparison.lhs.before, comparison.rhs.before)
    )
    return left == right


def _operations(found: Dataflow, types: bool) -> Counter[tuple[str, str, tuple[int, ...], int]]:
    left_out = {"", "Sharding"} if types else {"", "Sharding", "convert", "constant"}
    return Counter(
        (opcode, node.shape.dtype if types else "", node.shape.dims, len(node.loops))
        for number, node in enumerate(found.nodes)
        if (opcode := found.opcode(number)) not in left_out
    )


def written_types(view: View) -> Counter[str]:
    """How many operations give each type, as this side was written."""
    found = view.written
    return Counter(
        node.shape.dtype
        for number, node in enumerate(found.nodes)
        if found.opcode(number) not in ("", "Sharding")
    )
