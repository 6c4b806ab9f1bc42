"""Makes small modules of random shape: loops, fusions, reducers, collectives, donation."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from benchmarks.draft import Body, Draft, Node, freeze
from hloscope.model.hlo import Layout, Literal, Metadata, Module, Shape

MATRIX = Shape("f32", (8, 8), Layout((1, 0)))
ROW = Shape("f32", (8,), Layout((0,)))
SCALAR = Shape("f32", (), Layout(()))
COUNTER = Shape("s32", (), Layout(()))
TRUTH = Shape("pred", (), Layout(()))
TRIPS = "5"

_UNARY = ("tanh", "exponential", "negate", "cosine", "copy")
_BINARY = ("add", "multiply", "subtract", "divide", "maximum")


def make_module(rng: Random, *, size: int = 20) -> Module:
    """A module of about `size` operations, the same for the same random numbers."""
    return freeze(_Maker(rng).draft(size))[0]


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.next_id = 1
        self.bodies: list[Body] = []

    def draft(self, size: int) -> Draft:
        nodes: list[Node] = []
        inputs = [self._parameter(nodes, k, MATRIX) for k in range(self.rng.randint(2, 4))]
        values = list(inputs)
        for _ in range(size):
            self._grow(nodes, values)
        outputs = values[-self.rng.randint(1, 3) :]
        root = self._add(nodes, "tuple", _tuple(outputs), outputs)
        entry = Body("main", nodes, root, "main")
        self.bodies.append(entry)
        draft = Draft("made", self.bodies, entry, self.rng.random() < 0.3, {}, (), ())
        if outputs[0].shape == MATRIX and self.rng.random() < 0.5:
            draft.header["input_output_alias"] = "{ {0}: (0, {}, may-alias) }"
        draft.header["num_partitions"] = "4"
        return draft

    def _grow(self, nodes: list[Node], values: list[Node]) -> None:
        elementwise = [self._unary, self._binary, self._binary]
        calling = [self._reduce, self._fusion, self._loop, self._all_reduce, self._combined]
        self.rng.choice([*elementwise, self._dot, self._row, *calling])(nodes, values)

    def _pick(self, values: Sequence[Node], shape: Shape) -> Node:
        return self.rng.choice([value for value in values if value.shape == shape])

    def _unary(self, nodes: list[Node], values: list[Node]) -> None:
        operand = self.rng.choice(values)
        values.append(self._add(nodes, self.rng.choice(_UNARY), operand.shape, [operand]))

    def _binary(self, nodes: list[Node], values: list[Node]) -> None:
        left = self.rng.choice(values)
        right = self._pick(values, left.shape)
        values.append(self._add(nodes, self.rng.choice(_BINARY), left.shape, [left, right]))

    def _dot(self, nodes: list[Node], values: list[Node]) -> None:
        operands = [self._pick(values, MATRIX) for _ in range(2)]
        dot = self._add(nodes, "dot", MATRIX, operands)
        dot.attrs = {"lhs_contracting_dims": "{1}", "rhs_contracting_dims": "{0}"}
        values.append(dot)

    def _row(self, nodes: list[Node], values: list[Node]) -> None:
        rows = [value for value in values if value.shape == ROW]
        if rows:
            broadcast = self._add(nodes, "broadcast", MATRIX, [self.rng.choice(rows)])
            broadcast.attrs = {"dimensions": "{1}"}
            values.append(broadcast)

    def _reduce(self, nodes: list[Node], values: list[Node]) -> None:
        start = self._constant(nodes, SCALAR, "0")
        reduce = self._add(nodes, "reduce", ROW, [self._pick(values, MATRIX), start])
        reduce.attrs = {"dimensions": f"{{{self.rng.randint(0, 1)}}}"}
        reduce.called = [("to_apply", self._reducer())]
        values.append(reduce)

    def _all_reduce(self, nodes: list[Node], values: list[Node]) -> None:
        operand = self.rng.choice(values)
        collective = self._add(nodes, "all-reduce", operand.shape, [operand])
        groups = self.rng.choice(["[2,2]<=[4]", "{{0,2},{1,3}}", "[1,4]<=[4]"])
        collective.attrs = {"channel_id": str(self.next_id), "replica_groups": groups}
        collective.called = [("to_apply", self._reducer())]
        values.append(collective)

    def _combined(self, nodes: list[Node], values: list[Node]) -> None:
        """One all-reduce of several values, as XLA combines them."""
        operands = self.rng.choices(values, k=self.rng.randint(2, 3))
        collective = self._add(nodes, "all-reduce", _tuple(operands), operands)
        collective.attrs = {"channel_id": str(self.next_id), "replica_groups": "[1,4]<=[4]"}
        collective.called = [("to_apply", self._reducer())]
        values.extend(self._element(nodes, collective, k) for k in range(len(operands)))

    def _reducer(self) -> Body:
        nodes: list[Node] = []
        operands = [self._parameter(nodes, k, SCALAR, "") for k in range(2)]
        root = self._add(nodes, self.rng.choice(["add", "maximum"]), SCALAR, operands)
        self.bodies.append(Body(f"reducer.{root.id}", nodes, root, "main"))
        return self.bodies[-1]

    def _fusion(self, nodes: list[Node], values: list[Node]) -> None:
        left = self.rng.choice(values)
        operands = [left, self._pick(values, left.shape)]
        inner: list[Node] = []
        inside = [self._parameter(inner, k, left.shape, "") for k in range(2)]
        first = self._add(inner, self.rng.choice(_BINARY), left.shape, inside)
        root = self._add(inner, self.rng.choice(_UNARY), left.shape, [first])
        self.bodies.append(Body(f"fused.{root.id}", inner, root, "main"))
        fusion = self._add(nodes, "fusion", left.shape, operands)
        fusion.attrs, fusion.called = {"kind": "kLoop"}, [("calls", self.bodies[-1])]
        values.append(fusion)

    def _loop(self, nodes: list[Node], values: list[Node]) -> None:
        carried = [self._constant(nodes, COUNTER, "0"), *(self.rng.choices(values, k=2))]
        shape = _tuple(carried)
        init = self._add(nodes, "tuple", shape, carried)
        loop = self._add(nodes, "while", shape, [init])
        condition, body = self._condition(shape), self._body(shape)
        loop.called = [("condition", condition), ("body", body)]
        values.append(self._element(nodes, loop, 1))
        values.append(self._element(nodes, loop, 2))

    def _condition(self, shape: Shape) -> Body:
        nodes: list[Node] = []
        carry = self._parameter(nodes, 0, shape, "")
        operands = [self._element(nodes, carry, 0), self._constant(nodes, COUNTER, TRIPS)]
        root = self._add(nodes, "compare", TRUTH, operands)
        root.attrs = {"direction": "LT"}
        self.bodies.append(Body(f"condition.{root.id}", nodes, root, "main"))
        return self.bodies[-1]

    def _body(self, shape: Shape) -> Body:
        nodes: list[Node] = []
        carry = self._parameter(nodes, 0, shape, "")
        count, *values = (self._element(nodes, carry, k) for k in range(3))
        step = self._add(nodes, "add", COUNTER, [count, self._constant(nodes, COUNTER, "1")])
        changed = [self._add(nodes, self.rng.choice(_UNARY), v.shape, [v]) for v in values]
        root = self._add(nodes, "tuple", shape, [step, *changed])
        self.bodies.append(Body(f"body.{root.id}", nodes, root, "main"))
        return self.bodies[-1]

    def _element(self, nodes: list[Node], value: Node, index: int) -> Node:
        shape = value.shape.elements[index]
        element = self._add(nodes, "get-tuple-element", shape, [value])
        element.attrs = {"index": str(index)}
        return element

    def _constant(self, nodes: list[Node], shape: Shape, text: str) -> Node:
        constant = self._add(nodes, "constant", shape, [])
        constant.literal = Literal(text, text.encode().ljust(16, b"\0"))
        return constant

    def _parameter(
        self, nodes: list[Node], number: int, shape: Shape, path: str = "params['w{}']"
    ) -> Node:
        parameter = self._add(nodes, "parameter", shape, [])
        parameter.parameter = number
        parameter.metadata = Metadata(op_name=path.format(number))
        return parameter

    def _add(self, nodes: list[Node], opcode: str, shape: Shape, operands: Sequence[Node]) -> Node:
        node = Node(f"{opcode}.{self.next_id}", self.next_id, opcode, shape, list(operands))
        node.metadata = Metadata(op_name=f"jit(f)/{opcode}")
        self.next_id += 1
        nodes.append(node)
        return node


def _tuple(values: Sequence[Node]) -> Shape:
    return Shape("tuple", elements=tuple(value.shape for value in values))
