"""How much a changed instruction matters: bytes moved, operations done, times run."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

from hloscope.diff.joined import NONE, Side
from hloscope.hlo import BITS, trip_count
from hloscope.model.canonical import NodeKind, Ref
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.model.units import Maybe, Measured, Missing

Flops = Callable[[Module, Ref], int]
Trips = Callable[[Module, Ref], Maybe[int]]

_WORDLESS = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while"})
_ARITHMETIC = frozenset(
    {
        "abs", "add", "and", "atan2", "ceil", "clamp", "compare", "cosine", "divide",
        "exponential", "exponential-minus-one", "floor", "log", "log-plus-one", "logistic",
        "maximum", "minimum", "multiply", "negate", "or", "power", "remainder", "rsqrt",
        "select", "sine", "sqrt", "subtract", "tanh", "xor",
    }
)  # fmt: skip


class Weight(NamedTuple):
    """Of one instruction in one execution of the module.

    Attributes:
      moved: bytes of its operands and its result.
      counted: whether every loop around it has a known trip count; unknown ones count once.
    """

    moved: int
    flops: int
    counted: bool


class Scale:
    """Weighs the instructions of one side."""

    def __init__(self, side: Side, flops: Flops | None, trips: Trips | None) -> None:
        self._side = side
        self._trips = trips or trip_count
        self._flops = flops or estimated_flops
        self._runs: dict[int, Maybe[int]] = {}

    def weigh(self, node: int) -> Weight:
        """The weight of an instruction; wires, loops and the like weigh nothing."""
        side = self._side
        ins = side.instruction(node)
        runs = self.runs(side.computation_of[node])
        times = runs.value if isinstance(runs, Measured) else 1
        counted = isinstance(runs, Measured)
        if ins.opcode in _WORDLESS or side.kinds[node] == NodeKind.WIRE:
            return Weight(0, 0, counted)
        ref = side.canonical.ref(node)
        flops = 0 if ref is None else self._flops(side.module, ref)
        return Weight(times * self._moved(node, ins), times * flops, counted)

    def runs(self, computation: int) -> Maybe[int]:
        """How often a computation runs: the product of the trip counts around it."""
        chain = []
        while computation not in self._runs:
            chain.append(computation)
            wrapper = self._side.canonical.inlined[computation]
            if wrapper == NONE:
                break
            computation = self._side.computation_of[wrapper]
        for number in reversed(chain):
            self._runs[number] = self._product(number)
        return self._runs[chain[0]] if chain else self._runs[computation]

    def _product(self, computation: int) -> Maybe[int]:
        side = self._side
        wrapper = side.canonical.inlined[computation]
        if wrapper == NONE:
            return Measured(1)
        outer = self._runs[side.computation_of[wrapper]]
        ref = side.canonical.ref(wrapper)
        if side.instruction(wrapper).opcode != "while" or ref is None:
            return outer
        match outer, self._trips(side.module, ref):
            case Measured(value=times), Measured(value=trips):
                return Measured(times * trips)
            case Missing() as missing, _:
                return missing
            case _, missing:
                return missing

    def _moved(self, node: int, ins: Instruction) -> int:
        holder = self._side.module.computations[self._side.computation_of[node]].instructions
        return sum(size(holder[o].shape) for o in ins.operands) + size(ins.shape)


def size(shape: Shape) -> int:
    """Bytes of a value, without padding; 0 for a token or an opaque value."""
    if shape.dtype == "tuple":
        return sum(size(element) for element in shape.elements)
    return (prod(shape.dims) * BITS.get(shape.dtype, 0) + 7) // 8


def estimated_flops(module: Module, ref: Ref) -> int:
    """Two for each multiply and add of a product, one for each element of other arithmetic."""
    holder = module.computations[ref.computation].instructions
    ins = holder[ref.instruction]
    elements = prod(ins.shape.dims)
    if ins.opcode == "dot":
        lhs = holder[ins.operands[0]].shape.dims
        return 2 * elements * prod(lhs[d] for d in _contracting(ins) if d < len(lhs))
    if ins.opcode == "convolution":
        kernel = prod(holder[ins.operands[1]].shape.dims)
        return 2 * elements * kernel // max(_output_features(ins, holder[ins.operands[1]]), 1)
    return elements if ins.opcode in _ARITHMETIC else 0


def _contracting(ins: Instruction) -> list[int]:
    text = ins.attr("lhs_contracting_dims") or "{}"
    return [int(part) for part in text.strip("{}").split(",") if part]


def _output_features(ins: Instruction, kernel: Instruction) -> int:
    """The kernel's extent along `o` of `dim_labels` (`b01f_01io->b01f`)."""
    labels = (ins.attr("dim_labels") or "_->").partition("_")[2].partition("->")[0]
    place = labels.find("o")
    return kernel.shape.dims[place] if 0 <= place < len(kernel.shape.dims) else 1
