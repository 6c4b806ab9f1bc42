"""Arithmetic of one HLO instruction."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from hloscope.attribute.cost_convolution import convolution_flops, read_window
from hloscope.attribute.cost_shapes import element_count, leaves
from hloscope.model.hlo import Instruction, Shape

# One transcendental operation per element, in XLA's `HandleElementwiseOp` of jaxlib 0.10 to 0.12
TRANSCENDENTAL = frozenset({
    "acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosh", "cosine", "erf",
    "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "power", "rsqrt",
    "sine", "sinh", "sqrt", "tan", "tanh",
})  # fmt: skip
# One operation per element. XLA counts integer, comparing and converting ones too.
ELEMENTWISE = frozenset({
    "abs", "add", "and", "bitcast-convert", "ceil", "clamp", "compare", "complex", "convert",
    "count-leading-zeros", "divide", "floor", "imag", "is-finite", "maximum", "minimum", "multiply",
    "negate", "not", "or", "popcnt", "real", "reduce-precision", "remainder", "round-nearest-afz",
    "round-nearest-even", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical",
    "sign", "stochastic-convert", "subtract", "xor",
})  # fmt: skip
_NUMBERS = re.compile(r"-?\d+")


class Arithmetic(NamedTuple):
    """Operations of one execution."""

    flops: int = 0
    transcendentals: int = 0

    def scaled(self, count: int) -> Arithmetic:
        """As many of them."""
        return Arithmetic(self.flops * count, self.transcendentals * count)

    def plus(self, other: Arithmetic) -> Arithmetic:
        """Both together."""
        return Arithmetic(self.flops + other.flops, self.transcendentals + other.transcendentals)


NOTHING = Arithmetic()
# per application cost of the computations that the instruction calls, in order
Applied = Sequence[Arithmetic]


def arithmetic(instruction: Instruction, operands: Sequence[Shape], applied: Applied) -> Arithmetic:
    """What one execution computes, called computations (fusion, loop, branch) left out.

    Source of each formula: XLA's `HloCostAnalysis`, as in jaxlib 0.10 to 0.12.

    Args:
      instruction: the instruction.
      operands: the operands' shapes.
      applied: for `reduce` and the like, the cost of one application of each called computation.
    """
    opcode = instruction.opcode
    if opcode in ELEMENTWISE:
        return Arithmetic(element_count(instruction.shape))
    if opcode in TRANSCENDENTAL:
        return Arithmetic(0, element_count(instruction.shape))
    formula = _FORMULAS.get(opcode)
    return formula(instruction, operands, applied) if formula else NOTHING


def _first_array(shape: Shape) -> Shape:
    return next(leaves(shape), shape)


def numbers(text: str | None) -> tuple[int, ...]:
    """The integers in an attribute's text, in order."""
    return tuple(int(n) for n in _NUMBERS.findall(text or ""))


def _dot(instruction: Instruction, operands: Sequence[Shape], _: Applied) -> Arithmetic:
    contracted = numbers(instruction.attr("lhs_contracting_dims"))
    width = prod(operands[0].dims[d] for d in contracted)
    return Arithmetic(2 * element_count(instruction.shape) * width)


def _convolution(instruction: Instruction, operands: Sequence[Shape], _: Applied) -> Arithmetic:
    return Arithmetic(convolution_flops(instruction, operands[0], operands[1]))


def _map(instruction: Instruction, _: Sequence[Shape], applied: Applied) -> Arithmetic:
    return applied[0].scaled(element_count(_first_array(instruction.shape)))


def _reduce(instruction: Instruction, operands: Sequence[Shape], applied: Applied) -> Arithmetic:
    # the function runs once for each element that disappears
    removed = element_count(operands[0]) - element_count(_first_array(instruction.shape))
    return applied[0].scaled(removed)


def _window_size(instruction: Instruction) -> int:
    return prod(d.size for d in read_window(instruction.attr("window")))


def _reduce_window(instruction: Instruction, _: Sequence[Shape], applied: Applied) -> Arithmetic:
    output = _first_array(instruction.shape)
    count = (_window_size(instruction) - 1) * element_count(output)
    if (span := _broadcast_span(instruction)) is not None:
        count = element_count(output) // span + (span - 1)
    return applied[0].scaled(count)


def _broadcast_span(instruction: Instruction) -> int | None:
    """The extent of a reduced dimension that is broadcast back: its window covers all of it."""
    if instruction.shape.elements:
        return None
    window = read_window(instruction.attr("window"))
    padded = [d for d in window if d.pad_low or d.pad_high]
    wide = [n for n, d in enumerate(window) if d.size != 1]
    if len(padded) != 1 or len(wide) != 1:
        return None
    dimension, extent = window[wide[0]], instruction.shape.dims[wide[0]]
    covers = dimension.pad_low == dimension.pad_high == extent - 1 != 0
    return extent if covers and dimension.size == 2 * dimension.pad_low + 1 else None


def _select_and_scatter(
    instruction: Instruction, operands: Sequence[Shape], applied: Applied
) -> Arithmetic:
    sources = element_count(operands[1])
    selected = applied[0].scaled(sources * (_window_size(instruction) - 1))
    return selected.plus(applied[1].scaled(sources))


def _scatter(_: Instruction, operands: Sequence[Shape], applied: Applied) -> Arithmetic:
    # operands are n targets, the indices, n updates
    updates = operands[len(operands) // 2 + 1]
    return applied[0].scaled(element_count(updates))


def _all_reduce(instruction: Instruction, _: Sequence[Shape], __: Applied) -> Arithmetic:
    # XLA assumes two participants: one operation for each element
    return Arithmetic(sum(element_count(leaf) for leaf in leaves(instruction.shape)))


def _sort(_: Instruction, operands: Sequence[Shape], __: Applied) -> Arithmetic:
    count = element_count(operands[0])
    return Arithmetic(count * max(count - 1, 0).bit_length())


def _fft(instruction: Instruction, operands: Sequence[Shape], _: Applied) -> Arithmetic:
    # 2 operations, 4 multiply-adds for a complex product, floor(log2) of each length
    logs = prod(n.bit_length() - 1 for n in numbers(instruction.attr("fft_length")))
    return Arithmetic(8 * logs * element_count(_first_array(operands[0])))


def _cholesky(_: Instruction, operands: Sequence[Shape], __: Applied) -> Arithmetic:
    return Arithmetic(operands[0].dims[-1] * element_count(operands[0]) // 3)


def _triangular_solve(_: Instruction, operands: Sequence[Shape], __: Applied) -> Arithmetic:
    return Arithmetic(2 * operands[0].dims[-1] * element_count(operands[1]))


def _rng(instruction: Instruction, _: Sequence[Shape], __: Applied) -> Arithmetic:
    return Arithmetic(0, sum(element_count(leaf) for leaf in leaves(instruction.shape)))


_Formula = Callable[[Instruction, Sequence[Shape], Applied], Arithmetic]
_FORMULAS: dict[str, _Formula] = {
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "cholesky": _cholesky,
    "convolution": _convolution,
    "dot": _dot,
    "fft": _fft,
    "map": _map,
    "ragged-dot": _dot,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "rng": _rng,
    "rng-bit-generator": _rng,
    "scaled-dot": _dot,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
}
# these call a computation once per element; every other call runs as part of the program
APPLIED = frozenset({
    "map", "reduce", "reduce-window", "select-and-scatter", "scatter", "sort", "all-reduce",
    "all-reduce-start", "reduce-scatter", "topk",
})  # fmt: skip
