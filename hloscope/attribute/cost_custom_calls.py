"""What is known of custom calls, by target."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from hloscope.attribute.cost_convolution import convolution_flops
from hloscope.attribute.cost_flops import numbers
from hloscope.attribute.cost_shapes import element_count, leaf_bytes, leaves
from hloscope.attribute.cost_solvers import solver_flops
from hloscope.model.hlo import Instruction, Shape
from hloscope.model.units import Maybe, Measured, Missing

# They mark a place or a placement: no arithmetic, and the value does not move
_MARKERS = frozenset({
    "AllocateBuffer", "AssumeGatherIndicesInBound", "AsyncCollectiveDone",
    "AsyncCollectiveStart", "BarrierDone", "BarrierStart", "ConcatBitcast", "LayoutConstraint",
    "PinningCustomCall", "Sharding", "SPMDFullToShardShape",
    "SPMDShardToFullShape", "SetBound", "annotate_device_placement", "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape", "Pin", "Unpin", "CreateBuffer",
})  # fmt: skip
# They copy or choose: bytes as at their border, no arithmetic
_COPIES = frozenset({
    "MoveToDevice", "MoveToHost", "PadToStatic", "SliceToDynamic", "TopK", "__gpu$TopK",
})  # fmt: skip
_GEMM = re.compile(r"__cublas\$|__onednn\$matmul|__triton_gemm|__hipblas")
_FORWARD_CONVOLUTION = re.compile(r"__cudnn\$conv(Forward|BiasActivationForward)")
_CONTRACTING = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_ESTIMATE = re.compile(r'"cost_estimate":(\{[^{}]*\})')
_WORKSPACE = "s8"


class CustomWork(NamedTuple):
    """A custom call's figures of one execution; bytes are read and written together."""

    flops: Maybe[int]
    transcendentals: Maybe[int]
    bytes_read: Maybe[int]
    bytes_written: Maybe[int]


NONE = Measured(0)


def target_of(instruction: Instruction) -> str:
    """`custom_call_target` without its quotes."""
    return (instruction.attr("custom_call_target") or "").strip('"')


def custom_work(instruction: Instruction, operands: Sequence[Shape]) -> CustomWork:
    """What a custom call does; a kernel's own `cost_estimate` counts before what its name says.

    Where neither says anything every figure is Missing, with the target in the reason.
    """
    target = target_of(instruction)
    estimate = _estimate(instruction)
    if estimate is not None:
        return estimate
    if target in _MARKERS or target.startswith("xla.sdy."):
        return CustomWork(NONE, NONE, NONE, NONE)
    if target in _COPIES:
        return _border(NONE, instruction, operands)
    try:
        flops = _known_flops(target, instruction, operands)
    except (IndexError, ValueError):  # its attributes make no sense
        flops = None
    if flops is not None:
        return _border(Measured(flops), instruction, operands)
    unknown = Missing(f"custom call '{target}' does not say what it does")
    return CustomWork(unknown, unknown, unknown, unknown)


def _border(flops: Maybe[int], instruction: Instruction, operands: Sequence[Shape]) -> CustomWork:
    """Every operand read once, every result written once; scratch memory not counted."""
    results = list(leaves(instruction.shape))
    if len(results) > 1 and results[-1].dtype == _WORKSPACE:
        results.pop()
    read = sum(leaf_bytes(operand) for operand in operands)
    written = sum(leaf_bytes(result) for result in results)
    return CustomWork(flops, NONE, Measured(read), Measured(written))


def _config(instruction: Instruction) -> str:
    """The text of `backend_config`, out of its quotes where it has them."""
    text = instruction.attr("backend_config") or ""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return text
    return text


def read_estimate(instruction: Instruction) -> tuple[int, int, int] | None:
    """FLOPs, transcendentals and bytes of a kernel's `cost_estimate`, `None` where it has none."""
    found = _ESTIMATE.search(_config(instruction))
    if found is None:
        return None
    try:
        fields = json.loads(found[1])
        names = ("flops", "transcendentals", "bytes_accessed")
        flops, transcendentals, moved = (max(int(fields.get(name, 0)), 0) for name in names)
    except (ValueError, TypeError):
        return None
    return flops, transcendentals, moved


def _estimate(instruction: Instruction) -> CustomWork | None:
    """The kernel author's estimate; of its one figure of bytes the results are written."""
    figures = read_estimate(instruction)
    if figures is None:
        return None
    flops, transcendentals, moved = figures
    written = min(leaf_bytes(instruction.shape), moved)
    return CustomWork(
        Measured(flops), Measured(transcendentals), Measured(moved - written), Measured(written)
    )


def _known_flops(target: str, instruction: Instruction, operands: Sequence[Shape]) -> int | None:
    solved = solver_flops(target, operands)
    if solved is not None:
        return solved
    result = next(leaves(instruction.shape), None)
    if result is None or len(operands) < 2:
        return None
    if _GEMM.match(target):
        found = _CONTRACTING.search(_config(instruction).replace(" ", ""))
        contracted = numbers(found[1]) if found else ()
        if not contracted or max(contracted) >= len(operands[0].dims):
            return None
        width = prod(operands[0].dims[d] for d in contracted)
        return 2 * element_count(result) * width
    return _convolution_flops(target, instruction, result, operands)


def _convolution_flops(
    target: str, instruction: Instruction, result: Shape, operands: Sequence[Shape]
) -> int | None:
    """CuDNN's convolutions; the window and labels of a gradient are those of its forward one."""
    first, second = operands[:2]
    if _FORWARD_CONVOLUTION.match(target):
        return convolution_flops(instruction._replace(shape=result), first, second)
    if target == "__cudnn$convBackwardInput":
        return convolution_flops(instruction._replace(shape=first), result, second)
    if target == "__cudnn$convBackwardFilter":
        return convolution_flops(instruction._replace(shape=second), first, result)
    return None
