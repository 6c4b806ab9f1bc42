"""How long a kernel takes at least, by the target's published peaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hloscope.attribute.cost_shapes import element_bits
from hloscope.model.cost import KernelTime, TimeBasis
from hloscope.model.hlo import Instruction, Shape
from hloscope.model.target import Chip
from hloscope.model.units import Maybe, Measured, Missing

MATRIX_OPCODES = frozenset({"convolution", "dot", "ragged-dot", "scaled-dot"})
# A TPU multiplies float32 matrices as several passes over bfloat16 parts; see
# https://docs.jax.dev/en/latest/jax.lax.html#jax.lax.Precision
_TPU_PASSES = {"default": 1, "high": 3, "highest": 6}
# the dtype whose peak stands for each in a chip's figures, in order of choice
_PEAK_NAMES = {
    "s8": ("int8",), "u8": ("int8",), "s4": ("int4", "int8"), "u4": ("int4", "int8"),
    "f8e4m3fn": ("fp8", "f8e4m3fn"), "f8e5m2": ("fp8", "f8e5m2"), "f8e4m3": ("fp8",),
    "f8e4m3fnuz": ("fp8",), "f8e5m2fnuz": ("fp8",), "f8e4m3b11fnuz": ("fp8",),
    "f4e2m1fn": ("fp4", "f4e2m1fn"), "f16": ("f16", "bf16"), "bf16": ("bf16",),
}  # fmt: skip


class Load(NamedTuple):
    """What one execution of a kernel asks of the chip.

    Attributes:
      flops_by_peak: FLOPs by (dtype, matrix passes) of the matrix unit.
      device_bytes: bytes to and from device memory.
      wire_bytes: bytes over the interconnect, 0 for none.
    """

    flops_by_peak: tuple[tuple[str, int, int], ...]
    device_bytes: Maybe[int]
    wire_bytes: Maybe[int] = Measured(0)


def matrix_peak(instruction: Instruction, operands: Sequence[Shape], chip: Chip) -> tuple[str, int]:
    """The dtype that a matrix product runs in, with the passes it takes.

    Products run in the dtype of the wider operand; a TPU takes masks as bfloat16, and a float32
    product as one, three or six bfloat16 passes, by `operand_precision`; a GPU takes float32 in
    tf32 unless a higher precision is asked for.
    """
    dtype = max((o for o in operands[:2]), key=element_bits, default=instruction.shape).dtype
    precision = instruction.attr("operand_precision") or "default"
    if chip.platform == "tpu" and dtype in ("f32", "f16"):
        passes = max((n for name, n in _TPU_PASSES.items() if name in _words(precision)), default=1)
        return "bf16", passes if dtype == "f32" else 1
    if chip.platform == "gpu" and dtype == "f32" and "high" not in precision:
        return "tf32", 1
    return ("bf16" if dtype == "pred" and chip.platform == "tpu" else dtype), 1


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.strip("{}").split(",")]


def kernel_time(load: Load, chip: Chip) -> KernelTime | Missing:
    """The longest of compute, memory and interconnect time; each at its published peak.

    Only the FLOPs of matrix products count as compute: makers publish no peak of the vector units,
    whose work is bound by memory nearly always.
    """
    spent = [
        (_compute_seconds(load, chip), TimeBasis.COMPUTE),
        (_seconds(load.device_bytes, chip.memory_bandwidth), TimeBasis.MEMORY),
        (_seconds(load.wire_bytes, chip.interconnect_bandwidth), TimeBasis.INTERCONNECT),
    ]
    longest = KernelTime(0.0, TimeBasis.MEMORY)
    for seconds, basis in spent:
        if isinstance(seconds, Missing):
            return seconds
        if seconds.value > longest.seconds:
            longest = KernelTime(seconds.value, basis)
    return longest


def _compute_seconds(load: Load, chip: Chip) -> Maybe[float]:
    total = 0.0
    for dtype, passes, flops in load.flops_by_peak:
        peak = peak_flops(chip, dtype)
        if isinstance(peak, Missing):
            return peak
        total += flops * passes / peak.value
    return Measured(total)


def peak_flops(chip: Chip, dtype: str) -> Maybe[float]:
    """The chip's published peak for a dtype, in FLOP/s."""
    for name in _PEAK_NAMES.get(dtype, (dtype,)):
        if name in chip.peak_flops:
            return Measured(chip.peak_flops[name])
    return Missing(f"no peak FLOP/s is known of {chip.platform}:{chip.name} for '{dtype}'")


def _seconds(amount: Maybe[int], rate: Maybe[float]) -> Maybe[float]:
    if amount == Measured(0):
        return Measured(0.0)
    if isinstance(amount, Missing):
        return amount
    return Measured(amount.value / rate.value) if isinstance(rate, Measured) else rate
