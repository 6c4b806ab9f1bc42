"""A time for each kernel: measured where a profile has it, estimated otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from hloscope.attribute.cost_bodies import Body, Row, Run
from hloscope.attribute.roofline import MATRIX_OPCODES, kernel_time, matrix_peak
from hloscope.attribute.roofline import Load as KernelLoad
from hloscope.model.canonical import Ref
from hloscope.model.cost import KernelTime, TimeBasis
from hloscope.model.hlo import Computation, MeasuredTimes, Module
from hloscope.model.target import Chip
from hloscope.model.units import Maybe, Measured, Missing

# FLOPs of matrix products by (dtype, passes)
Load: TypeAlias = Maybe[Mapping[tuple[str, int], int]]
_NO_LOAD: Load = Measured({})
_NOT_SENT: Maybe[int] = Measured(0)
NO_CHIP = "no target is known whose peaks an estimate could rest on"


def kernel_times(
    module: Module,
    runs: Sequence[Run],
    chip: Chip | None,
    measured: MeasuredTimes | None,
    wire: Mapping[Ref, Maybe[int]],
) -> tuple[dict[Ref, KernelTime], dict[Ref, str]]:
    """Seconds of one execution by kernel, and why the other kernels have none."""
    loads = _matrix_loads(module, runs, chip)
    estimate = _Estimates(chip)
    timed: dict[Ref, KernelTime] = {}
    untimed: dict[Ref, str] = {}
    for run in runs:
        if run.kernel is not None:
            continue
        instructions = module.computations[run.position].instructions
        for row in run.body.rows:
            ref = Ref(run.position, row.number)
            found = _measured(instructions[row.number].name, measured) or estimate.time(
                loads.get(ref, _NO_LOAD), row.device, wire.get(ref, _NOT_SENT)
            )
            if isinstance(found, KernelTime):
                timed[ref] = found
            else:
                untimed[ref] = found.reason
    return timed, untimed


def _measured(name: str, measured: MeasuredTimes | None) -> KernelTime | None:
    if measured is None or not measured.occurrences.get(name):
        return None
    seconds = measured.seconds[name] / measured.occurrences[name]
    return KernelTime(seconds, TimeBasis.MEASURED)


def _matrix_loads(module: Module, runs: Sequence[Run], chip: Chip | None) -> dict[Ref, Load]:
    """Kernel to FLOPs of its matrix products by (dtype, passes)."""
    found: dict[Ref, Load] = {}
    rows: dict[int, list[tuple[int, Load]]] = {}  # alike computations have the same loads
    for run in runs:
        key = id(run.body)
        if key not in rows:
            rows[key] = list(_loads(module.computations[run.body.first], run.body, chip))
        for number, load in rows[key]:
            kernel = run.kernel or Ref(run.position, number)
            before = found.get(kernel, _NO_LOAD)
            found[kernel] = _together(before, load)
    return found


def _loads(computation: Computation, body: Body, chip: Chip | None) -> Iterator[tuple[int, Load]]:
    """The rows that ask something of the matrix unit, or that nobody knows it of."""
    for row in body.rows:
        instruction = computation.instructions[row.number]
        flops = row.work.flops
        if isinstance(flops, Missing):
            yield row.number, flops
        elif chip is not None and flops.value and _is_matrix(instruction.opcode, row):
            operands = [computation.instructions[n].shape for n in instruction.operands]
            yield row.number, Measured({matrix_peak(instruction, operands, chip): flops.value})


def _is_matrix(opcode: str, row: Row) -> bool:
    return opcode in MATRIX_OPCODES or bool(row.target)


def _together(before: Load, more: Load) -> Load:
    """Both; of what is unknown the later reason."""
    if isinstance(more, Missing):
        return more
    if isinstance(before, Missing):
        return before
    peaks = dict(before.value)
    for peak, flops in more.value.items():
        peaks[peak] = peaks.get(peak, 0) + flops
    return Measured(peaks)


class _Estimates:
    """Times by the roofline; layers ask the same again and again."""

    def __init__(self, chip: Chip | None) -> None:
        self._chip = chip
        self._known: dict[tuple[object, ...], KernelTime | Missing] = {}

    def time(self, load: Load, device_bytes: Maybe[int], sent: Maybe[int]) -> KernelTime | Missing:
        if self._chip is None:
            return Missing(NO_CHIP)
        if isinstance(load, Missing):
            return load
        peaks = tuple((dtype, n, flops) for (dtype, n), flops in sorted(load.value.items()))
        key = (peaks, device_bytes, sent)
        if key not in self._known:
            asked = KernelLoad(peaks, device_bytes, sent)
            self._known[key] = kernel_time(asked, self._chip)
        return self._known[key]
