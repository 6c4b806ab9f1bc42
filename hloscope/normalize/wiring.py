"""Where every operand really comes from: tuples, called computations and loop carries seen through.

A value is a node number, or a tuple of values where the elements of a tuple are known one by one.
Computations with one caller are inlined: their parameters stand for the caller's operands. What a
loop carries becomes a slot node per element, so that positions in the carry never matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from hloscope.hlo.arguments import tupled_arguments
from hloscope.model.canonical import NodeKind
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.normalize.combined import Combined, combined_collectives
from hloscope.normalize.dead import dead_elements
from hloscope.normalize.inlining import inlined_callees

Value: TypeAlias = "int | tuple[Value, ...]"

# no real tuple nests deeper; beyond this a tuple is handled as one value
MAX_TUPLE_DEPTH = 64
# a carry of a large train step has about 2,000; only a forged module has more
MAX_TUPLE_LEAVES = 100_000

OPERATION, WIRE, WRAPPER = NodeKind.OPERATION, NodeKind.WIRE, NodeKind.WRAPPER
ELEMENT, SLOT = NodeKind.ELEMENT, NodeKind.SLOT


@dataclass(slots=True)
class Wiring:
    """The graph of a module while and after it is wired; see `CanonicalModule` for the fields.

    Attributes:
      values: node to the value it stands for.
      topological: nodes, sources before users but for `back`.
      back: a loop's slot to the value that the body puts there.
      virtual: shape and position of elements and slots, from node `count` on.
      dead: elements that nothing reads, which hand nothing on.
      combined: collectives on several values, whose order says nothing. An element of one has two
        sources, the collective and the operand that it is made of.
      tupled: the entry's only parameter, where that is a tuple; -1 where it is not.
      arguments: the elements of that parameter.
    """

    count: int
    offsets: list[int]
    kinds: bytearray
    sources: list[tuple[int, ...]]
    values: list[Value]
    called: dict[int, tuple[tuple[str, int], ...]]
    control: dict[int, tuple[int, ...]]
    inlined: list[int]
    topological: list[int] = field(default_factory=list)
    back: dict[int, int] = field(default_factory=dict)
    virtual: list[tuple[Shape, int]] = field(default_factory=list)
    elements: dict[tuple[int, int], int] = field(default_factory=dict)
    dead: frozenset[int] = frozenset()
    combined: dict[int, Combined] = field(default_factory=dict)
    tupled: int = -1
    arguments: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)


def leaves(value: Value) -> tuple[int, ...]:
    """The nodes in a value, in order."""
    if isinstance(value, int):
        return (value,)
    found: list[int] = []
    stack: list[Value] = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, int):
            found.append(top)
        else:
            stack.extend(reversed(top))
    return tuple(found)


def wire(module: Module, *, keep_dead: bool = False, keep_order: bool = False) -> Wiring:
    """Looks every operand of a module up through its wiring.

    Args:
      module: as read.
      keep_dead: whether an element that nothing reads counts like any other.
      keep_order: whether the order of a combined collective's operands counts.
    """
    return _Wirer(module, keep_dead, keep_order).run()


class _Wirer:
    """One walk over a module, callers before what they call, without recursion."""

    def __init__(self, module: Module, keep_dead: bool, keep_order: bool) -> None:
        self.module = module
        offsets, total = [], 0
        for computation in module.computations:
            offsets.append(total)
            total += len(computation.instructions)
        self.graph = Wiring(
            count=total,
            offsets=offsets,
            kinds=bytearray(total),
            sources=[()] * total,
            values=list(range(total)),
            called={},
            control={},
            inlined=[-1] * len(offsets),
            dead=frozenset() if keep_dead else dead_elements(module, offsets),
            combined={} if keep_order else combined_collectives(module, offsets),
        )
        tupled = tupled_arguments(module)
        if tupled is not None and module.entry is not None:
            self.graph.tupled = offsets[module.entry] + tupled
        self.inlining = inlined_callees(module)
        self.bound: dict[int, list[Value]] = {}  # inlined computation to its parameters' values
        self.sizes: dict[int, int] = {}  # id of a tuple of `graph.values` to its leaves
        self.done = bytearray(len(offsets))

    def run(self) -> Wiring:
        numbers = range(len(self.graph.offsets))
        inlined = {callee for callees in self.inlining.values() for callee in callees}
        # in XLA's order, so that what is called and not inlined comes before its callers
        for number in (*(n for n in numbers if n not in inlined), *numbers):
            if not self.done[number]:
                self._walk(number)
        return self.graph

    def _walk(self, start: int) -> None:
        stack: list[tuple[int, int, int]] = [
            (start, 0, -1)
        ]  # computation, position, node to finish
        while stack:
            number, position, finish = stack.pop()
            if finish >= 0:
                self._finish(number, finish)
                continue
            self.done[number] = 1
            paused = self._run(number, position)
            if paused < 0:
                continue
            node = self.graph.offsets[number] + paused
            stack.append((number, paused + 1, -1))
            stack.append((number, 0, node))
            callees = self.inlining[number, paused]
            stack.extend((callee, 0, -1) for callee in reversed(callees))

    def _run(self, number: int, position: int) -> int:
        """Wires instructions from `position` on; returns the first that inlines, or -1."""
        graph = self.graph
        base, values, sources = graph.offsets[number], graph.values, graph.sources
        topological = graph.topological
        instructions = self.module.computations[number].instructions
        for index in range(position, len(instructions)):
            ins = instructions[index]
            node = base + index
            handler = _HANDLERS.get(ins.opcode)
            if ins.control:
                graph.control[node] = tuple(base + c for c in ins.control)
            if handler is not None:
                if handler(self, number, node, ins):
                    return index
                continue
            operands = tuple([values[base + o] for o in ins.operands])
            for operand in operands:
                if operand.__class__ is tuple:
                    operands = leaves(operands)
                    break
            sources[node] = operands  # type: ignore[assignment]  # all ints by now
            if ins.called:
                self._note_calls(node, ins)
            topological.append(node)
        return -1

    def _operands(self, number: int, ins: Instruction) -> list[Value]:
        base = self.graph.offsets[number]
        return [self.graph.values[base + o] for o in ins.operands]

    def _note_calls(self, node: int, ins: Instruction) -> None:
        computations, offsets = self.module.computations, self.graph.offsets
        self.graph.called[node] = tuple(
            (role, offsets[number] + computations[number].root) for role, number in ins.called
        )

    def _wire(self, node: int, value: Value) -> None:
        graph = self.graph
        graph.kinds[node] = WIRE
        graph.values[node] = value
        graph.sources[node] = leaves(value)
        graph.topological.append(node)

    def _new(self, kind: NodeKind, shape: Shape, position: int, sources: tuple[int, ...]) -> int:
        graph = self.graph
        node = len(graph.sources)
        graph.kinds.append(kind)
        graph.sources.append(sources)
        graph.values.append(node)
        graph.virtual.append((shape, position))
        graph.topological.append(node)
        return node

    def _element(self, node: int, position: int, shape: Shape) -> int:
        key = (node, position)
        found = self.graph.elements.get(key)
        if found is None:
            made_of = self._made_of(node, position)
            found = self._new(ELEMENT, shape, position, (node, *made_of))
            self.graph.elements[key] = found
        return found

    def _made_of(self, node: int, position: int) -> tuple[int, ...]:
        """What an element of a combined collective is made of; nothing for any other."""
        collective = self.graph.combined.get(node)
        if collective is None or not 0 <= position < len(collective.operands):
            return ()
        return leaves(self.graph.values[collective.operands[position]])

    def _open(self, value: Value, shape: Shape, depth: int = 0) -> Value:
        """The value with every tuple in it taken apart into elements."""
        if shape.dtype != "tuple":
            return value
        if depth > MAX_TUPLE_DEPTH:
            return leaves(value)
        if isinstance(value, int):
            value = tuple(self._element(value, k, s) for k, s in enumerate(shape.elements))
        return tuple(
            self._open(v, s, depth + 1) for v, s in zip(value, shape.elements, strict=False)
        )

    def _slots(self, value: Value, shape: Shape, base: int = 0) -> Value:
        """A slot for every leaf of an opened value."""
        if isinstance(value, int):
            return self._new(SLOT, shape, base, (value,))
        return tuple(
            self._slots(v, s, base + k)
            for k, (v, s) in enumerate(zip(value, shape.elements, strict=False))
        )

    def _inlines(self, number: int, node: int) -> tuple[int, ...]:
        """The computations to be wired into this instruction, none where it just computes."""
        callees = self.inlining.get((number, node - self.graph.offsets[number]), ())
        if not callees or any(self.done[callee] for callee in callees):
            self.graph.topological.append(node)
            return ()
        for callee in callees:
            self.graph.inlined[callee] = node
        self.graph.kinds[node] = WRAPPER
        return callees

    # one handler per opcode that wires; True where the walk has to go into callees first

    def parameter(self, number: int, node: int, ins: Instruction) -> bool:
        bound = self.bound.get(number)
        if bound is not None and 0 <= ins.parameter < len(bound):
            self._wire(node, bound[ins.parameter])
        else:
            self.graph.topological.append(node)
            if node == self.graph.tupled:
                self._open_arguments(node, ins.shape)
        return False

    def _open_arguments(self, node: int, shape: Shape) -> None:
        elements = tuple(self._element(node, k, s) for k, s in enumerate(shape.elements))
        self.graph.values[node] = self.graph.arguments = elements
        self.sizes[id(elements)] = len(elements)

    def tuple_(self, number: int, node: int, ins: Instruction) -> bool:
        value = tuple(self._operands(number, ins))
        size = sum(1 if isinstance(v, int) else self.sizes.get(id(v), 1) for v in value)
        if size > MAX_TUPLE_LEAVES:
            self.graph.notes.append(f"tuple '{ins.name}' has {size} leaves and is kept whole")
            value = (node,)
        self.sizes[id(value)] = size
        self._wire(node, value)
        return False

    def get_tuple_element(self, number: int, node: int, ins: Instruction) -> bool:
        values = self._operands(number, ins)
        position = int(ins.attr("index") or 0)
        if not values:
            self.graph.topological.append(node)
        elif isinstance(values[0], int):
            dead = node in self.graph.dead  # then no node stands for the element
            element = values[0] if dead else self._element(values[0], position, ins.shape)
            self._wire(node, element)
        elif position < len(values[0]):
            self._wire(node, values[0][position])
        else:
            self.graph.topological.append(node)
        return False

    def fusion(self, number: int, node: int, ins: Instruction) -> bool:
        """Fusion and call: each parameter is the operand of that number."""
        operands = self._operands(number, ins)
        self.graph.sources[node] = leaves(tuple(operands))
        self._note_calls(node, ins)
        callees = self._inlines(number, node)
        for callee in callees:
            self.bound[callee] = operands
        return bool(callees)

    def while_(self, number: int, node: int, ins: Instruction) -> bool:
        operands = self._operands(number, ins)
        self._note_calls(node, ins)
        self.graph.sources[node] = leaves(tuple(operands))
        callees = self._inlines(number, node)
        if not callees:
            return False
        slots = self._slots(self._open(operands[0], ins.shape), ins.shape)
        self.graph.values[node] = slots
        self.graph.sources[node] = leaves(slots)
        for callee in callees:
            self.bound[callee] = [slots]
        return True

    def conditional(self, number: int, node: int, ins: Instruction) -> bool:
        operands = self._operands(number, ins)
        self.graph.sources[node] = leaves(tuple(operands))
        self._note_calls(node, ins)
        callees = self._inlines(number, node)
        for callee, operand in zip(callees, operands[1:], strict=False):
            self.bound[callee] = [operand]
        return bool(callees)

    def async_follower(self, number: int, node: int, ins: Instruction) -> bool:
        """async-update and async-done hand on what their async-start stands for."""
        graph, base = self.graph, self.graph.offsets[number]
        operands = self._operands(number, ins)
        self._note_calls(node, ins)
        graph.sources[node] = leaves(tuple(operands))
        if ins.operands and graph.kinds[base + ins.operands[0]] == WRAPPER:
            graph.kinds[node] = WRAPPER
            graph.values[node] = operands[0]
        graph.topological.append(node)
        return False

    def barrier(self, number: int, node: int, ins: Instruction) -> bool:
        """An optimization barrier passes each element on by itself."""
        operands = self._operands(number, ins)
        if ins.shape.dtype != "tuple" or len(operands) != 1:
            self.graph.sources[node] = leaves(tuple(operands))
        else:
            slots = self._slots(self._open(operands[0], ins.shape), ins.shape)
            self.graph.kinds[node] = WRAPPER
            self.graph.values[node] = slots
            self.graph.sources[node] = leaves(slots)
        self.graph.topological.append(node)
        return False

    def _finish(self, number: int, node: int) -> None:
        """Once its callees are wired: what an inlining instruction stands for."""
        graph = self.graph
        ins = self.module.computations[number].instructions[node - graph.offsets[number]]
        roots = [graph.values[root] for _, root in graph.called[node]]
        shapes = [self._root_shape(callee) for _, callee in ins.called]
        if ins.opcode == "while":
            body = [role for role, _ in ins.called].index("body")
            self._close_loop(node, self._open(roots[body], shapes[body]))
        elif ins.opcode == "conditional":
            opened = [leaves(self._open(r, s)) for r, s in zip(roots, shapes, strict=True)]
            graph.values[node] = self._choice(node, opened, ins.shape)
        else:
            graph.values[node] = roots[0]
        graph.topological.append(node)

    def _root_shape(self, number: int) -> Shape:
        computation = self.module.computations[number]
        return computation.instructions[computation.root].shape

    def _close_loop(self, node: int, result: Value) -> None:
        graph = self.graph
        for slot, after in zip(graph.sources[node], leaves(result), strict=False):
            graph.back[slot] = after

    def _choice(self, node: int, branches: list[tuple[int, ...]], shape: Shape) -> Value:
        """A slot per element of a conditional's result, with what each branch puts there."""
        selector = self.graph.sources[node][:1]
        results = iter(list(zip(*branches, strict=False)))

        def build(part: Shape, depth: int) -> Value:
            if part.dtype != "tuple" or depth > MAX_TUPLE_DEPTH:
                return self._new(SLOT, part, 0, selector + next(results, ()))
            return tuple(build(s, depth + 1) for s in part.elements)

        return build(shape, 0)


_HANDLERS = {
    "parameter": _Wirer.parameter,
    "tuple": _Wirer.tuple_,
    "get-tuple-element": _Wirer.get_tuple_element,
    "fusion": _Wirer.fusion,
    "call": _Wirer.fusion,
    "async-start": _Wirer.fusion,
    "while": _Wirer.while_,
    "conditional": _Wirer.conditional,
    "async-update": _Wirer.async_follower,
    "async-done": _Wirer.async_follower,
    "optimization-barrier": _Wirer.barrier,
    "opt-barrier": _Wirer.barrier,
}
