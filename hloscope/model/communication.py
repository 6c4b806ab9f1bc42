"""What a module's devices send to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.cost import Total, times
from hloscope.model.showing import Shown
from hloscope.model.units import Maybe, Measured

if TYPE_CHECKING:
    import pandas as pd


class Kind(StrEnum):
    """What a collective does, in XLA's words."""

    ALL_GATHER = "all-gather"
    ALL_REDUCE = "all-reduce"
    ALL_TO_ALL = "all-to-all"
    BROADCAST = "collective-broadcast"
    PERMUTE = "collective-permute"
    RAGGED_ALL_TO_ALL = "ragged-all-to-all"
    RECV = "recv"
    REDUCE_SCATTER = "reduce-scatter"
    SEND = "send"


class Form(StrEnum):
    """How the schedule holds a collective."""

    SYNC = "sync"
    PAIR = "start and done"
    WRAPPER = "async wrapper"
    FUSION = "inside a fusion"
    ASYNC_FUSION = "spread over fusions"
    SYNC_PAIR = "start and done, run at once"

    @property
    def is_async(self) -> bool:
        """Whether other work can run while bytes are under way."""
        return self in (Form.PAIR, Form.WRAPPER, Form.ASYNC_FUSION)


class Overlap(NamedTuple):
    """What the schedule runs between a collective's start and its done.

    Attributes:
      kernels: their number.
      names: of those that take longest or, without times, move most; three at most.
      flops, device_bytes: of one execution, all together, as far as known.
      seconds: their times one after the other.
    """

    kernels: int
    names: tuple[str, ...]
    flops: int
    device_bytes: int
    seconds: Maybe[float]


class Collective(NamedTuple):
    """One collective; bytes are those of one device and one execution, without layout padding.

    Attributes:
      ref: the collective itself, or its start.
      done: the end of an asynchronous one.
      dtype: element types, `/` between several.
      shape: what comes out.
      operand_bytes: what a device puts in.
      output_bytes: what a device has afterwards.
      wire_bytes: what a device sends, by the ring algorithm (docs/cost.md has the formulas).
      group_size: devices that take part in one exchange; `groups` exchanges run side by side.
      axes: mesh axes that the groups follow.
      executions: times per step.
      loops: names of the loops around it, outermost first.
      overlap: Missing for a synchronous one and where the module has no schedule.
    """

    ref: Ref
    done: Ref | None
    name: str
    kind: Kind
    form: Form
    computation: str
    dtype: str
    shape: str
    elements: int
    operand_bytes: int
    output_bytes: int
    wire_bytes: Maybe[int]
    group_size: Maybe[int]
    groups: Maybe[int]
    axes: Maybe[tuple[str, ...]]
    executions: Maybe[int]
    loops: tuple[str, ...]
    overlap: Maybe[Overlap]
    module_path: str | None
    source: str

    @property
    def wire_per_step(self) -> Maybe[int]:
        """Bytes that a device sends in one step."""
        return times(self.executions, self.wire_bytes)

    @property
    def axes_text(self) -> str:
        """The axes as reports name them."""
        if isinstance(self.axes, Measured):
            return ",".join(self.axes.value) or "(one device)"
        return "(axes unknown)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicationLedger(Shown):
    """Every collective of a module.

    Attributes:
      mesh: axis sizes in order, `None` where nothing says.
      collectives: in module order.
      wire_bytes: bytes that one device sends in one step.
      notes: assumptions, one sentence each.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "collective", "kind", "axes", "shape", "executions", "wire_bytes_per_step", "module",
    )  # fmt: skip

    label: str
    mesh: Mapping[str, int] | None
    collectives: tuple[Collective, ...]
    wire_bytes: Total
    notes: tuple[str, ...]

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.label}: what one device sends in one step"

    def frame(self) -> pd.DataFrame:
        """One row per collective.

        Columns: `collective` (instruction), `kind`, `form`, `asynchronous`, `dtype`, `shape`,
        `axes` (`,` between), `group_size`, `groups`, `executions` (per step), `loops`,
        `operand_bytes`, `output_bytes`, `wire_bytes` (one device, one execution),
        `wire_bytes_per_step`, `overlap_kernels`, `overlap_flops`, `overlap_bytes`,
        `overlap_seconds`, `computation`, `module`, `source`, `unknown` (why a figure is missing).
        Missing figures are NA, never 0.
        """
        import pandas as pd

        records = [_row(item) for item in self.collectives]
        table = pd.DataFrame.from_records(records, columns=_COLUMNS)
        return table.astype(dict.fromkeys(sorted(_COUNTS), "Int64"))


_COLUMNS = [
    "collective", "kind", "form", "asynchronous", "dtype", "shape", "axes", "group_size", "groups",
    "executions", "loops", "operand_bytes", "output_bytes", "wire_bytes", "wire_bytes_per_step",
    "overlap_kernels", "overlap_flops", "overlap_bytes", "overlap_seconds", "computation",
    "module", "source", "unknown",
]  # fmt: skip
_CHANGE_COLUMNS = [
    "change", "kind", "axes", "lhs", "rhs", "shape_lhs", "shape_rhs", "executions_lhs",
    "executions_rhs", "wire_bytes", "module", "source",
]  # fmt: skip
_COUNTS = frozenset(
    {"group_size", "groups", "executions", "operand_bytes", "output_bytes", "wire_bytes"}
    | {"wire_bytes_per_step", "overlap_kernels", "overlap_flops", "overlap_bytes"}
)


def _row(item: Collective) -> dict[str, object]:
    overlap = item.overlap.value if isinstance(item.overlap, Measured) else None
    return {
        "collective": item.name,
        "kind": item.kind.value,
        "form": item.form.value,
        "asynchronous": item.form.is_async,
        "dtype": item.dtype,
        "shape": item.shape,
        "axes": item.axes_text,
        "group_size": _value(item.group_size),
        "groups": _value(item.groups),
        "executions": _value(item.executions),
        "loops": "/".join(item.loops),
        "operand_bytes": item.operand_bytes,
        "output_bytes": item.output_bytes,
        "wire_bytes": _value(item.wire_bytes),
        "wire_bytes_per_step": _value(item.wire_per_step),
        "overlap_kernels": overlap.kernels if overlap else None,
        "overlap_flops": overlap.flops if overlap else None,
        "overlap_bytes": overlap.device_bytes if overlap else None,
        "overlap_seconds": _value(overlap.seconds) if overlap else None,
        "computation": item.computation,
        "module": item.module_path or "",
        "source": item.source,
        "unknown": _reasons(item),
    }


def _reasons(item: Collective) -> str:
    figures = (item.executions, item.wire_bytes, item.axes)
    return "; ".join(f.reason for f in figures if not isinstance(f, Measured))


def _value(figure: Maybe[int] | Maybe[float]) -> int | float | None:
    return figure.value if isinstance(figure, Measured) else None


class ChangeKind(StrEnum):
    """What became of a collective; a change can be several of these."""

    NEW = "new"
    GONE = "gone"
    OUT_OF_LOOP = "moved out of a loop"
    INTO_LOOP = "moved into a loop"
    MORE_OFTEN = "runs more often"
    LESS_OFTEN = "runs less often"
    GROWN = "grown"
    SHRUNK = "shrunk"
    DTYPE = "dtype changed"
    KIND = "kind changed"
    AXES = "axes changed"
    ASYNC = "became asynchronous"
    SYNC = "became synchronous"


class CollectiveChange(NamedTuple):
    """What one collective, or a pair, adds to the delta; `wire_bytes` is rhs - lhs per step."""

    lhs: Collective | None
    rhs: Collective | None
    kinds: tuple[ChangeKind, ...]
    wire_bytes: Maybe[int]

    @property
    def item(self) -> Collective:
        """The rhs collective, or the lhs one where there is no other."""
        item = self.rhs or self.lhs
        assert item is not None  # noqa: S101 - a change has a side
        return item


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicationDelta(Shown):
    """How the communication of lhs becomes that of rhs.

    Attributes:
      changes: what differs, largest wire delta first.
      equal: pairs that do not differ.
      wire_bytes: the sum of the changes' known figures: the delta of the two ledgers, less
        collectives whose figure is unknown on a side.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "change", "kind", "axes", "lhs", "rhs", "wire_bytes", "module",
    )  # fmt: skip

    lhs: CommunicationLedger
    rhs: CommunicationLedger
    changes: tuple[CollectiveChange, ...]
    equal: int
    wire_bytes: Total

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.lhs.label} -> {self.rhs.label}: what one device sends in one step"

    def frame(self) -> pd.DataFrame:
        """One row per change.

        Columns: `change` (`, ` between several), `kind`, `axes`, `lhs`, `rhs` (instructions),
        `shape_lhs`, `shape_rhs`, `executions_lhs`, `executions_rhs`, `wire_bytes` (rhs - lhs, one
        device, per step, NA where unknown), `module`, `source`.
        """
        import pandas as pd

        records = [_change_row(change) for change in self.changes]
        table = pd.DataFrame.from_records(records, columns=_CHANGE_COLUMNS)
        counts = ("executions_lhs", "executions_rhs", "wire_bytes")
        return table.astype(dict.fromkeys(counts, "Int64"))


def _change_row(change: CollectiveChange) -> dict[str, object]:
    lhs, rhs, item = change.lhs, change.rhs, change.item
    return {
        "change": ", ".join(kind.value for kind in change.kinds),
        "kind": item.kind.value,
        "axes": item.axes_text,
        "lhs": lhs.name if lhs else "",
        "rhs": rhs.name if rhs else "",
        "shape_lhs": lhs.shape if lhs else "",
        "shape_rhs": rhs.shape if rhs else "",
        "executions_lhs": _value(lhs.executions) if lhs else None,
        "executions_rhs": _value(rhs.executions) if rhs else None,
        "wire_bytes": _value(change.wire_bytes),
        "module": item.module_path or "",
        "source": item.source,
    }
