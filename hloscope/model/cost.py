"""What a module's instructions cost: work, traffic, time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.capture import CostFigures
from hloscope.model.showing import Shown
from hloscope.model.units import Maybe, Measured

if TYPE_CHECKING:
    import pandas as pd


class Quantity(StrEnum):
    """What a cost ledger counts; each is the name of a `CostEntry` field."""

    FLOPS = "flops"
    TRANSCENDENTALS = "transcendentals"
    BYTES_READ = "bytes_read"
    BYTES_WRITTEN = "bytes_written"
    DEVICE_BYTES = "device_bytes"


class CostEntry(NamedTuple):
    """One instruction's cost on one device, each figure of one execution.

    A fusion is opened: the instructions inside it have the FLOPs and transcendentals, the fusion
    itself has the bytes, because what is inside never leaves the chip's registers.

    Attributes:
      kernel: the instruction that the schedule runs: `ref` itself, or the fusion around it.
      target: a custom call's target, otherwise empty.
      computation: name of the computation that holds the instruction.
      executions: times per step: trip counts of all loops around it multiplied.
      device_bytes: the bytes read and written that lie in device memory (space 0), as the rest
        stays in the chip's own memories.
      module_path: `None` where nothing names one.
      source: `file:line`, empty where unknown.
    """

    ref: Ref
    kernel: Ref
    name: str
    opcode: str
    target: str
    computation: str
    shape: str
    executions: Maybe[int]
    flops: Maybe[int]
    transcendentals: Maybe[int]
    bytes_read: Maybe[int]
    bytes_written: Maybe[int]
    device_bytes: Maybe[int]
    module_path: str | None
    source: str


class TimeBasis(StrEnum):
    """What a time rests on."""

    COMPUTE = "estimate: compute"
    MEMORY = "estimate: memory bandwidth"
    INTERCONNECT = "estimate: interconnect"
    MEASURED = "measured"


class KernelTime(NamedTuple):
    """One execution's time of a kernel, in seconds; every basis but MEASURED is an estimate."""

    seconds: float
    basis: TimeBasis


class Total(NamedTuple):
    """A sum over entries.

    Attributes:
      known: the sum of what is known.
      unknown: reason to the number of entries left out for it, sorted by reason; unless empty, the
        sum is a lower bound.
    """

    known: int | float
    unknown: tuple[tuple[str, int], ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether nothing was left out."""
        return not self.unknown


class Step(NamedTuple):
    """One named reason why hloscope's total is not XLA's, with what it adds."""

    rule: str
    flops: int
    transcendentals: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """How hloscope's totals follow from XLA's cost analysis of the same module.

    `body_once + sum(steps) = total`, exactly, for each of the three quantities.

    Attributes:
      reported: what XLA said, from the capture; its own sums are rounded to float32.
      body_once: hloscope's replay of XLA's rules (flops, transcendentals, bytes), where a loop body
        counts once.
      total: the ledger's totals (flops, transcendentals, bytes read + written).
    """

    reported: CostFigures | None
    body_once: Step
    steps: tuple[Step, ...]
    total: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLedger(Shown):
    """The cost of one step on one device.

    Attributes:
      entries: in module order.
      times: by kernel; a kernel without a time has its reason in `untimed`.
      totals: quantity to the sum of executions times cost over all entries.
      seconds: kernels' times one after the other; overlap is not taken off.
      notes: every assumption that this module needed, one sentence each.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "instruction", "opcode", "shape", "executions", "flops_per_step", "bytes_per_step",
        "module", "source",
    )  # fmt: skip

    label: str
    target: str
    entries: tuple[CostEntry, ...]
    times: Mapping[Ref, KernelTime]
    untimed: Mapping[Ref, str]
    totals: Mapping[Quantity, Total]
    seconds: Total
    reconciliation: Reconciliation
    notes: tuple[str, ...]

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.label}: cost of one step on one device"

    def frame(self) -> pd.DataFrame:
        """One row per instruction.

        Columns: `instruction`, `opcode`, `target` (custom calls), `computation`, `kernel` (the
        instruction that the schedule runs), `shape`, `executions` (per step), `flops`,
        `transcendentals`, `bytes_read`, `bytes_written`, `device_bytes` (of one execution),
        `flops_per_step`, `transcendentals_per_step`, `bytes_per_step`, `seconds` and
        `seconds_per_step` (a kernel's, on the kernel's row), `time_basis`, `module`, `source`,
        `unknown` (why a figure is missing). Missing figures are NA, never 0.
        """
        import pandas as pd

        names = {entry.ref: entry.name for entry in self.entries}
        records = [self._row(entry, names) for entry in self.entries]
        table = pd.DataFrame.from_records(records, columns=_COLUMNS)
        return table.astype(dict.fromkeys(sorted(_COUNTS), "Int64"))

    def _row(self, entry: CostEntry, names: Mapping[Ref, str]) -> dict[str, object]:
        time = self.times.get(entry.ref)
        moved = add(entry.bytes_read, entry.bytes_written)
        runs = entry.executions
        return {
            "instruction": entry.name,
            "opcode": entry.opcode,
            "target": entry.target,
            "computation": entry.computation,
            "kernel": names.get(entry.kernel, entry.name),
            "shape": entry.shape,
            "executions": _value(runs),
            "flops": _value(entry.flops),
            "transcendentals": _value(entry.transcendentals),
            "bytes_read": _value(entry.bytes_read),
            "bytes_written": _value(entry.bytes_written),
            "device_bytes": _value(entry.device_bytes),
            "flops_per_step": _value(times(runs, entry.flops)),
            "transcendentals_per_step": _value(times(runs, entry.transcendentals)),
            "bytes_per_step": _value(times(runs, moved)),
            "seconds": time.seconds if time else None,
            "seconds_per_step": _scaled(time, runs),
            "time_basis": time.basis.value if time else "",
            "module": entry.module_path or "",
            "source": entry.source,
            "unknown": reason_of(entry) or self.untimed.get(entry.ref, ""),
        }


_COLUMNS = [
    "instruction", "opcode", "target", "computation", "kernel", "shape", "executions", "flops",
    "transcendentals", "bytes_read", "bytes_written", "device_bytes", "flops_per_step",
    "transcendentals_per_step", "bytes_per_step", "seconds", "seconds_per_step", "time_basis",
    "module", "source", "unknown",
]  # fmt: skip
_DELTA_COLUMNS = [
    "lhs", "rhs", "opcode", "shape_lhs", "shape_rhs", "executions_lhs", "executions_rhs", "flops",
    "transcendentals", "bytes", "seconds", "module", "source",
]  # fmt: skip
_COUNTS = frozenset(
    {"executions", "flops", "transcendentals", "bytes_read", "bytes_written", "device_bytes"}
    | {"flops_per_step", "transcendentals_per_step", "bytes_per_step"}
)


class DeltaEntry(NamedTuple):
    """What one pair of instructions, or one instruction of one side alone, adds to the delta.

    Figures are per step, rhs - lhs; Missing where either side's is.
    """

    lhs: CostEntry | None
    rhs: CostEntry | None
    flops: Maybe[int]
    transcendentals: Maybe[int]
    bytes: Maybe[int]
    seconds: Maybe[float]

    @property
    def entry(self) -> CostEntry:
        """The rhs entry, or the lhs one where there is no other."""
        entry = self.rhs or self.lhs
        assert entry is not None  # noqa: S101 - a delta entry has a side
        return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDelta(Shown):
    """How the cost of lhs becomes that of rhs.

    For flops, transcendentals and bytes: the entries' known figures, plus `uncompared`, are the
    known total of rhs less that of lhs, exactly.

    Attributes:
      entries: those that differ, largest byte delta first.
      equal: pairs whose figures are all equal.
      flops, transcendentals, bytes, seconds: sums over the entries.
      uncompared: what pairs have on one side whose other side is unknown (rhs less lhs).
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "lhs", "rhs", "opcode", "flops", "bytes", "seconds", "module", "source",
    )  # fmt: skip

    lhs: CostLedger
    rhs: CostLedger
    entries: tuple[DeltaEntry, ...]
    equal: int
    flops: Total
    transcendentals: Total
    bytes: Total
    seconds: Total
    uncompared: Step

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.lhs.label} -> {self.rhs.label}: cost of one step, rhs - lhs"

    def frame(self) -> pd.DataFrame:
        """One row per differing pair.

        Columns: `lhs`, `rhs` (instruction names), `opcode`, `shape_lhs`, `shape_rhs`,
        `executions_lhs`, `executions_rhs`, `flops`, `transcendentals`, `bytes`, `seconds` (deltas
        per step, rhs - lhs, NA where unknown), `module`, `source`.
        """
        import pandas as pd

        records = [_delta_row(entry) for entry in self.entries]
        table = pd.DataFrame.from_records(records, columns=_DELTA_COLUMNS)
        counts = ("executions_lhs", "executions_rhs", "flops", "transcendentals", "bytes")
        return table.astype(dict.fromkeys(counts, "Int64"))


def _delta_row(delta: DeltaEntry) -> dict[str, object]:
    lhs, rhs, entry = delta.lhs, delta.rhs, delta.entry
    return {
        "lhs": lhs.name if lhs else "",
        "rhs": rhs.name if rhs else "",
        "opcode": entry.opcode,
        "shape_lhs": lhs.shape if lhs else "",
        "shape_rhs": rhs.shape if rhs else "",
        "executions_lhs": _value(lhs.executions) if lhs else None,
        "executions_rhs": _value(rhs.executions) if rhs else None,
        "flops": _value(delta.flops),
        "transcendentals": _value(delta.transcendentals),
        "bytes": _value(delta.bytes),
        "seconds": _value(delta.seconds),
        "module": entry.module_path or "",
        "source": entry.source,
    }


def add(first: Maybe[int], second: Maybe[int]) -> Maybe[int]:
    """The sum; the first unknown makes it unknown."""
    if not isinstance(first, Measured):
        return first
    return Measured(first.value + second.value) if isinstance(second, Measured) else second


def times(first: Maybe[int], second: Maybe[int]) -> Maybe[int]:
    """The product; a known 0 makes it 0, otherwise the first unknown makes it unknown."""
    if isinstance(first, Measured):
        if first.value == 0:
            return first
        return Measured(first.value * second.value) if isinstance(second, Measured) else second
    return second if isinstance(second, Measured) and second.value == 0 else first


def reason_of(entry: CostEntry) -> str:
    """Why a figure of the entry is unknown, empty where all are known."""
    figures = (entry.executions, entry.flops, entry.bytes_read, entry.bytes_written)
    for figure in figures:
        if not isinstance(figure, Measured):
            return figure.reason
    return ""


def _value(figure: Maybe[int] | Maybe[float]) -> int | float | None:
    return figure.value if isinstance(figure, Measured) else None


def _scaled(time: KernelTime | None, runs: Maybe[int]) -> float | None:
    if time is None or not isinstance(runs, Measured):
        return None
    return time.seconds * runs.value
