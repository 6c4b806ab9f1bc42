"""A module's data flow with every call, fusion and loop opened.

Unlike a canonical module this works on one side alone, opens a computation again for each of its
callers (JAX calls one `dynamic_index_in_dim` from every loop), and tells a loop's slot, as its body
reads it, from the loop's result.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from hloscope.hlo.arguments import entry_arguments, tupled_arguments
from hloscope.hlo.trip_count import trip_count
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.model.units import Maybe

Value: TypeAlias = "int | tuple[Value, ...]"

MAX_DEPTH = 60  # calls within calls; what is deeper stays one opaque operation
# calls of shared computations multiply; from here on they stay closed
MAX_NODES = 1_000_000
MAX_OPENED = 200_000

# hands on a value in another form or place
FORM = frozenset({"copy", "copy-start", "bitcast", "reshape"})
# also what only tells the partitioner something
ANNOTATED = FORM | {"Sharding"}


# equal operands do not make equal results
_OTHER_EACH_TIME = frozenset({"parameter", "rng", "infeed", "recv", "partition-id", "replica-id"})
# attributes that do not change a value
_NO_MATTER = frozenset({"backend_config", "frontend_attributes", "sharding", "channel_id"})


class NodeKind(IntEnum):
    """What a node of the data flow is."""

    OPERATION = 0  # an instruction
    ELEMENT = 1  # one element of an operation's tuple result
    SLOT = 2  # one array of a loop's carry, as the body reads it
    RESULT = 3  # one array that a loop returns
    CHOICE = 4  # one array that a conditional returns


class Node(NamedTuple):
    """A value.

    Attributes:
      ref: the instruction; of a slot, result or choice the loop or conditional.
      position: leaf number in the instruction's tuple, -1 for its whole result.
      operands: nodes it is made of, wiring seen through; of a slot its first value, of a result
        its slot.
      loops: positions in `Dataflow.loops` of the loops around it, outermost first.
      kernel: the outermost fusion around it, otherwise its own instruction.
    """

    kind: NodeKind
    ref: Ref
    position: int
    shape: Shape
    operands: tuple[int, ...]
    loops: tuple[int, ...]
    kernel: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A while loop at one place of the flow; the three lists go together, slot by slot.

    Attributes:
      around: loops around it, outermost first.
      slots: nodes as the body reads them.
      after: nodes that the body puts there for the next turn.
      results: nodes that the loop returns.
      trips: how often the body runs in one run of the loop.
    """

    ref: Ref
    around: tuple[int, ...]
    slots: tuple[int, ...]
    after: tuple[int, ...]
    results: tuple[int, ...]
    trips: Maybe[int]


@dataclass(frozen=True, kw_only=True)
class Dataflow:
    """The opened graph; operands have smaller numbers than their users, `Loop.after` apart.

    Attributes:
      parameters: nodes of the entry's arguments, by number.
      outputs: nodes that the entry returns, in the order of its flattened result.
      closed: instructions that were not opened because of a budget.
    """

    module: Module
    nodes: tuple[Node, ...]
    loops: tuple[Loop, ...]
    parameters: tuple[int, ...]
    outputs: tuple[int, ...]
    closed: int

    def instruction(self, node: int) -> Instruction:
        """The instruction of a node."""
        ref = self.nodes[node].ref
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def opcode(self, node: int) -> str:
        """XLA's opcode; a custom call's target; empty for what is no operation."""
        if self.nodes[node].kind is not NodeKind.OPERATION:
            return ""
        found = self.instruction(node)
        if found.opcode == "custom-call":
            return (found.attr("custom_call_target") or "").strip('"')
        return found.opcode

    @cached_property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """By node, the nodes that read it; a slot is read by its loop's result."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            for operand in dict.fromkeys(node.operands):
                found[operand].append(number)
        return tuple(map(tuple, found))

    @cached_property
    def at(self) -> dict[Ref, tuple[int, ...]]:
        """By instruction, the nodes that stand for it."""
        found: dict[Ref, list[int]] = {}
        for number, node in enumerate(self.nodes):
            found.setdefault(node.ref, []).append(number)
        return {ref: tuple(numbers) for ref, numbers in found.items()}

    @cached_property
    def slot_of(self) -> dict[int, tuple[int, int]]:
        """A slot or result to its loop and its position there."""
        return {
            node: (number, position)
            for number, loop in enumerate(self.loops)
            for nodes in (loop.slots, loop.results)
            for position, node in enumerate(nodes)
        }

    @cached_property
    def invariant(self) -> frozenset[int]:
        """Slots that every turn of their loop hands on as they were."""
        found: set[int] = set()
        for loop in self.loops:  # inner loops come before those around them
            for slot, after in zip(loop.slots, loop.after, strict=True):
                if self._origin(after, FORM, found) == slot:
                    found.add(slot)
        return frozenset(found)

    @cached_property
    def value_of(self) -> tuple[int, ...]:
        """By node, a number that is equal for nodes worked out in the same way from the same.

        A fusion may hold a copy of what another one holds: both have one number.
        """
        numbers: dict[tuple[object, ...], int] = {}
        found: list[int] = []
        for number, node in enumerate(self.nodes):
            key: tuple[object, ...] = (number,)
            if node.kind in (NodeKind.OPERATION, NodeKind.ELEMENT):
                ins = self.instruction(number)
                if ins.opcode not in _OTHER_EACH_TIME:
                    attrs = tuple(a for a in ins.attrs if a[0] not in _NO_MATTER)
                    operands = tuple(found[o] for o in node.operands)
                    key = (ins.opcode, node.position, node.shape.dtype, node.shape.dims, attrs,
                           ins.literal, operands)  # fmt: skip
            found.append(numbers.setdefault(key, number))
        return tuple(found)

    def origin(self, node: int, through: Iterable[str] = ANNOTATED) -> int:
        """The node whose value this is, through `through` (opcodes) and unchanged loop slots."""
        return self._origin(node, frozenset(through), self.invariant)

    def _origin(self, node: int, through: frozenset[str], invariant: Container[int]) -> int:
        while True:
            found = self.nodes[node]
            match found.kind:
                case NodeKind.RESULT:
                    hands_on = found.operands[0] in invariant
                case NodeKind.SLOT:
                    hands_on = node in invariant
                case _:
                    hands_on = bool(found.operands) and self.opcode(node) in through
            if not hands_on:
                return node
            node = found.operands[0]

    def inside(self, loop: int) -> Iterator[int]:
        """Nodes of a loop's body and condition, inner loops included, in order."""
        return (n for n, node in enumerate(self.nodes) if loop in node.loops)


def dataflow(module: Module) -> Dataflow:
    """Opens a module; a fragment without an entry gives an empty flow."""
    return _Opener(module).run()


class _Opener:
    """One walk through the entry, into every computation that it runs."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.nodes: list[Node] = []
        self.loops: list[Loop | None] = []
        self.closed_loops: list[int] = []
        self.elements: dict[tuple[int, int], int] = {}
        self.trips: dict[Ref, Maybe[int]] = {}
        self.parameters: dict[int, int] = {}
        self.tupled = tupled_arguments(module)
        self.opened = self.closed = 0

    def run(self) -> Dataflow:
        module = self.module
        outputs: tuple[int, ...] = ()
        if module.entry is not None:
            outputs = _leaves(_Frame(self, module.entry, None, (), None, 0).run())
        # numbered as they were closed: inner before outer
        order = {old: new for new, old in enumerate(self.closed_loops)}
        moved = [n._replace(loops=tuple(order[k] for k in n.loops)) for n in self.nodes]
        return Dataflow(
            module=module,
            nodes=tuple(moved),
            loops=tuple(self._loop(number, order) for number in self.closed_loops),
            parameters=tuple(node for _, node in sorted(self.parameters.items())),
            outputs=outputs,
            closed=self.closed,
        )

    def _loop(self, number: int, order: dict[int, int]) -> Loop:
        loop = self.loops[number]
        assert loop is not None  # noqa: S101 - it was closed
        return Loop(
            ref=loop.ref,
            around=tuple(order[k] for k in loop.around),
            slots=loop.slots,
            after=loop.after,
            results=loop.results,
            trips=loop.trips,
        )

    def new(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def element(self, node: int, position: int, shape: Shape) -> int:
        key = (node, position)
        if key not in self.elements:
            whole = self.nodes[node]
            self.elements[key] = self.new(
                whole._replace(
                    kind=NodeKind.ELEMENT, position=position, shape=shape, operands=(node,)
                )
            )
        return self.elements[key]

    def spread(self, value: Value, shape: Shape) -> Value:
        """The value with the tuples of its shape taken apart."""
        if shape.dtype != "tuple":
            return value
        if isinstance(value, int):
            value = tuple(self.element(value, k, s) for k, s in enumerate(shape.elements))
        return tuple(self.spread(v, s) for v, s in zip(value, shape.elements, strict=False))

    def trip_count(self, ref: Ref) -> Maybe[int]:
        if ref not in self.trips:
            self.trips[ref] = trip_count(self.module, ref)
        return self.trips[ref]


class _Frame:
    """One computation, opened for one of its callers."""

    def __init__(
        self,
        opener: _Opener,
        computation: int,
        arguments: list[Value] | None,
        loops: tuple[int, ...],
        kernel: Ref | None,
        depth: int,
    ) -> None:
        self.opener = opener
        self.number = computation
        self.arguments = arguments
        self.loops = loops
        self.kernel = kernel
        self.depth = depth
        self.values: list[Value] = []

    def run(self) -> Value:
        computation = self.opener.module.computations[self.number]
        for index, ins in enumerate(computation.instructions):
            handler = _HANDLERS.get(ins.opcode, _Frame.operation)
            self.values.append(handler(self, Ref(self.number, index), ins))
        return self.values[computation.root]

    def _operands(self, ins: Instruction) -> list[Value]:
        return [self.values[o] for o in ins.operands]

    def _new(
        self, kind: NodeKind, ref: Ref, position: int, shape: Shape, operands: tuple[int, ...]
    ) -> int:
        kernel = self.kernel or ref
        return self.opener.new(Node(kind, ref, position, shape, operands, self.loops, kernel))

    def _called(
        self,
        computation: int,
        arguments: list[Value],
        kernel: Ref | None = None,
        loops: tuple[int, ...] | None = None,
    ) -> Value:
        inner = self.loops if loops is None else loops
        kernel = self.kernel or kernel
        return _Frame(self.opener, computation, arguments, inner, kernel, self.depth + 1).run()

    def _too_much(self) -> bool:
        opener = self.opener
        opener.opened += 1
        full = self.depth >= MAX_DEPTH or len(opener.nodes) >= MAX_NODES
        full = full or opener.opened > MAX_OPENED
        opener.closed += full
        return full

    def operation(self, ref: Ref, ins: Instruction) -> Value:
        operands = _leaves(tuple(self._operands(ins)))
        return self._new(NodeKind.OPERATION, ref, -1, ins.shape, operands)

    def parameter(self, ref: Ref, ins: Instruction) -> Value:
        if self.arguments is not None and 0 <= ins.parameter < len(self.arguments):
            return self.arguments[ins.parameter]
        if self.arguments is None and ref.instruction == self.opener.tupled:
            return self._tupled(ref)
        node = self._new(NodeKind.OPERATION, ref, -1, ins.shape, ())
        if self.arguments is None:
            self.opener.parameters[ins.parameter] = node
        return node

    def _tupled(self, ref: Ref) -> Value:
        """Each element of the entry's only parameter is a parameter, where it is read."""
        nodes = {
            argument.number: self._new(
                NodeKind.OPERATION, Ref(ref.computation, argument.place), -1, argument.shape, ()
            )
            for argument in entry_arguments(self.opener.module)
        }
        self.opener.parameters.update(nodes)
        return tuple(nodes.values())

    def tuple_(self, ref: Ref, ins: Instruction) -> Value:  # noqa: ARG002 - all handlers alike
        return tuple(self._operands(ins))

    def get_tuple_element(self, ref: Ref, ins: Instruction) -> Value:
        (whole, *_) = self._operands(ins) or [()]
        position = int(ins.attr("index") or 0)
        if isinstance(whole, int):
            return self.opener.element(whole, position, ins.shape)
        return whole[position] if position < len(whole) else self.operation(ref, ins)

    def fusion(self, ref: Ref, ins: Instruction) -> Value:
        if len(ins.called) != 1 or self._too_much():
            return self.operation(ref, ins)
        kernel = ref if ins.opcode == "fusion" else None
        return self._called(ins.called[0][1], self._operands(ins), kernel)

    def async_start(self, ref: Ref, ins: Instruction) -> Value:
        """Stands for ((operands), result, context), as its shape says."""
        operands = self._operands(ins)
        if len(ins.called) != 1 or self._too_much():
            return self.operation(ref, ins)
        return (tuple(operands), self._called(ins.called[0][1], operands))

    def async_done(self, ref: Ref, ins: Instruction) -> Value:
        value = self._operands(ins)[:1]
        if not value:
            return self.operation(ref, ins)
        if isinstance(value[0], int):
            return self.opener.spread(value[0], ins.shape)
        return value[0][1] if len(value[0]) > 1 else self.operation(ref, ins)

    def hand_on(self, ref: Ref, ins: Instruction) -> Value:
        """An optimization barrier; an async-update."""
        operands = self._operands(ins)
        return operands[0] if len(operands) == 1 else self.operation(ref, ins)

    def done(self, ref: Ref, ins: Instruction) -> Value:
        """`copy-done`, `all-gather-done`, ...: the start stands for what it starts."""
        operands = self._operands(ins)
        if len(operands) != 1 or not isinstance(operands[0], int):
            return self.operation(ref, ins)
        return self.opener.spread(operands[0], ins.shape)

    def while_(self, ref: Ref, ins: Instruction) -> Value:
        called = dict(ins.called)
        operands = self._operands(ins)
        if not {"body", "condition"} <= called.keys() or len(operands) != 1 or self._too_much():
            return self.operation(ref, ins)
        opener = self.opener
        number = len(opener.loops)
        opener.loops.append(None)
        loops = (*self.loops, number)
        first = _leaves(opener.spread(operands[0], ins.shape))
        shapes = _shape_leaves(ins.shape)
        outer, self.loops = self.loops, loops
        slots = tuple(
            self._new(NodeKind.SLOT, ref, k, shape, (node,))
            for k, (node, shape) in enumerate(zip(first, shapes, strict=False))
        )
        self.loops = outer
        carry = _nested(iter(slots), ins.shape)
        self._called(called["condition"], [carry], loops=loops)
        after = opener.spread(self._called(called["body"], [carry], loops=loops), ins.shape)
        results = tuple(
            self._new(NodeKind.RESULT, ref, k, opener.nodes[slot].shape, (slot,))
            for k, slot in enumerate(slots)
        )
        kept = min(len(slots), len(_leaves(after)))
        opener.loops[number] = Loop(
            ref=ref, around=outer, slots=slots[:kept], after=_leaves(after)[:kept],
            results=results[:kept], trips=opener.trip_count(ref),
        )  # fmt: skip
        opener.closed_loops.append(number)
        return _nested(iter(results), ins.shape)

    def conditional(self, ref: Ref, ins: Instruction) -> Value:
        operands = self._operands(ins)
        if len(operands) != len(ins.called) + 1 or self._too_much():
            return self.operation(ref, ins)
        branches = [
            _leaves(self.opener.spread(self._called(callee, [operand]), ins.shape))
            for (_, callee), operand in zip(ins.called, operands[1:], strict=True)
        ]
        chosen = _leaves(operands[0])
        leaves = (
            self._new(NodeKind.CHOICE, ref, k, shape, chosen + tuple(b[k] for b in branches))
            for k, shape in enumerate(_shape_leaves(ins.shape))
            if all(k < len(b) for b in branches)
        )
        return _nested(leaves, ins.shape)


def _leaves(value: Value) -> tuple[int, ...]:
    """The nodes in a value, in order."""
    if isinstance(value, int):
        return (value,)
    return tuple(leaf for part in value for leaf in _leaves(part))


def _shape_leaves(shape: Shape) -> tuple[Shape, ...]:
    if shape.dtype != "tuple":
        return (shape,)
    return tuple(leaf for element in shape.elements for leaf in _shape_leaves(element))


def _nested(leaves: Iterator[int], shape: Shape) -> Value:
    """Leaves in the tuple structure of a shape."""
    if shape.dtype != "tuple":
        return next(leaves, ())
    return tuple(_nested(leaves, element) for element in shape.elements)


_HANDLERS = {
    "parameter": _Frame.parameter,
    "tuple": _Frame.tuple_,
    "get-tuple-element": _Frame.get_tuple_element,
    "fusion": _Frame.fusion,
    "call": _Frame.fusion,
    "while": _Frame.while_,
    "conditional": _Frame.conditional,
    "async-start": _Frame.async_start,
    "async-update": _Frame.hand_on,
    "async-done": _Frame.async_done,
    "optimization-barrier": _Frame.hand_on,
    "opt-barrier": _Frame.hand_on,
    **dict.fromkeys(
        (
            "copy-done", "all-gather-done", "all-reduce-done", "collective-permute-done",
            "send-done", "recv-done",
        ),
        _Frame.done,
    ),
}  # fmt: skip
