"""A time for each kernel: measured where a profile has it, estimated otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hloscope.attribute.roofline import MATRIX_OPCODES, Load, kernel_time, matrix_peak
from hloscope.model.canonical import Ref
from hloscope.model.cost import CostEntry, KernelTime, TimeBasis
from hloscope.model.hlo import MeasuredTimes, Module
from hloscope.model.target import Chip
from hloscope.model.units import Maybe, Measured, Missing

NO_CHIP = "no target is known whose peaks an estimate could rest on"


def kernel_times(
    module: Module,
    listed: Sequence[CostEntry],
    chip: Chip | None,
    measured: MeasuredTimes | None,
    wire: Mapping[Ref, Maybe[int]],
) -> tuple[dict[Ref, KernelTime], dict[Ref, str]]:
    """Seconds of one execution by kernel, and why the other kernels have none."""
    loads = _matrix_loads(module, listed, chip)
    timed: dict[Ref, KernelTime] = {}
    untimed: dict[Ref, str] = {}
    for entry in listed:
        if entry.kernel != entry.ref:
            continue
        found = _measured(entry, measured) or _estimated(entry, loads, chip, wire)
        if isinstance(found, KernelTime):
            timed[entry.ref] = found
        else:
            untimed[entry.ref] = found.reason
    return timed, untimed


def _measured(entry: CostEntry, measured: MeasuredTimes | None) -> KernelTime | None:
    if measured is None or not measured.occurrences.get(entry.name):
        return None
    seconds = measured.seconds[entry.name] / measured.occurrences[entry.name]
    return KernelTime(seconds, TimeBasis.MEASURED)


def _matrix_loads(
    module: Module, listed: Sequence[CostEntry], chip: Chip | None
) -> Mapping[Ref, Maybe[dict[tuple[str, int], int]]]:
    """Kernel to FLOPs of its matrix products by (dtype, passes)."""
    loads: defaultdict[Ref, dict[tuple[str, int], int]] = defaultdict(dict)
    unknown: dict[Ref, Maybe[dict[tuple[str, int], int]]] = {}
    for entry in listed:
        if isinstance(entry.flops, Missing):
            unknown[entry.kernel] = entry.flops
        elif chip is not None and entry.flops.value and _is_matrix(entry):
            computation = module.computations[entry.ref.computation]
            instruction = computation.instructions[entry.ref.instruction]
            operands = [computation.instructions[n].shape for n in instruction.operands]
            peak = matrix_peak(instruction, operands, chip)
            load = loads[entry.kernel]
            load[peak] = load.get(peak, 0) + entry.flops.value
    return {kernel: Measured(load) for kernel, load in loads.items()} | unknown


def _is_matrix(entry: CostEntry) -> bool:
    return entry.opcode in MATRIX_OPCODES or bool(entry.target)


def _estimated(
    entry: CostEntry,
    loads: Mapping[Ref, Maybe[dict[tuple[str, int], int]]],
    chip: Chip | None,
    wire: Mapping[Ref, Maybe[int]],
) -> KernelTime | Missing:
    if chip is None:
        return Missing(NO_CHIP)
    load = loads.get(entry.ref, Measured({}))
    if isinstance(load, Missing):
        return load
    peaks = tuple((dtype, passes, flops) for (dtype, passes), flops in sorted(load.value.items()))
    sent = wire.get(entry.ref, Measured(0))
    return kernel_time(Load(peaks, entry.device_bytes, sent), chip)
