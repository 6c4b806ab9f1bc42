"""Memory accounted for, byte by byte, and the difference between two such accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.capture import Leaf, MemoryFigures
from hloscope.model.hlo import Shape, StackFrame
from hloscope.model.number_text import bytes_text
from hloscope.model.showing import Shown
from hloscope.model.units import Bytes, Maybe

if TYPE_CHECKING:
    import pandas as pd


class Category(StrEnum):
    """What an entry's memory is for."""

    ARGUMENT = "argument"
    OUTPUT = "output"
    ALIASED = "aliased"  # a donated argument whose memory an output takes over
    TEMPORARY = "temporary"
    TABLE = "tuple table"  # the addresses of a tuple's elements; lives as long as its allocation
    CONSTANT = "constant"
    FRAGMENTATION = "fragmentation"
    CODE = "code"
    UNATTRIBUTED = "unattributed"


class PathSource(StrEnum):
    """Where an entry's module path comes from, surest first."""

    STATE = "state path"
    SCOPE = "op_name"
    FLOW = "state flowing in"
    NEIGHBOUR = "neighbour"
    PAIRED = "paired entry"
    FRAME = "stack frame"
    NONE = "none"


class Value(NamedTuple):
    """One value of a module: an instruction's result, or the element of it at `part`."""

    ref: Ref
    part: tuple[int, ...]


class Held(NamedTuple):
    """Where a value lies.

    Attributes:
      size: bytes, padding included.
      category: of its allocation.
      shape: the value's.
    """

    space: int
    size: int
    category: Category
    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """Memory that one buffer holds, or a named rest.

    Attributes:
      name: the instruction's name with its tuple index, or what the rest is.
      size: bytes held, padding included.
      unpadded: bytes of the elements alone; equal to `size` for a rest.
      value: what is held; `None` for a rest.
      members: every value that uses the same memory in turn, `value` included.
      shape: with its layout; `None` for a rest.
      first: instruction that first writes the memory, `""` for a rest.
      last: instruction that last reads it, `""` where nothing does or for a rest.
      path: module path, outermost first; empty where unknown.
      state: state path of the input or output leaf, empty for any other memory.
      leaf: the input or output leaf, where the source has them.
      frame: the Python line that made the value.
      allocation: XLA's allocation number, -1 for a rest that belongs to none.
      outputs: positions in the entry's flattened result that lie in this memory.
    """

    category: Category
    name: str
    size: Bytes
    unpadded: Bytes
    value: Value | None = None
    members: tuple[Value, ...] = ()
    shape: Shape | None = None
    shape_text: str = ""
    opcode: str = ""
    first: str = ""
    last: str = ""
    path: tuple[str, ...] = ()
    path_source: PathSource = PathSource.NONE
    state: tuple[str, ...] = ()
    leaf: Leaf | None = None
    frame: StackFrame | None = None
    allocation: int = -1
    offset: int = 0
    parameter: int | None = None
    outputs: tuple[int, ...] = ()

    @property
    def padding(self) -> int:
        """Bytes that layout and alignment add to the elements."""
        return self.size - self.unpadded

    @property
    def source(self) -> str:
        """File and line that made the value, `""` where unknown."""
        return f"{self.frame.file}:{self.frame.line}" if self.frame else ""


class Instant(NamedTuple):
    """A point of the schedule; `instruction` is `""` where nothing is allocated over time."""

    computation: str
    instruction: str


class TimelinePoint(NamedTuple):
    """Bytes held after one heap event, arguments, outputs and constants included.

    Attributes:
      allocation: XLA's number of the temporary allocation that the event is of, whose points
        follow each other in schedule order; -1 where nothing is allocated over time.
    """

    computation: str
    instruction: str
    size: int
    allocation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLedger(Shown):
    """All memory of one memory space at one instant; entries add up to `total` exactly.

    Attributes:
      space: XLA's memory space; 0 is device memory.
      instant: what the entries were live at.
      at_peak: whether that is the instant at which temporaries hold most.
      entries: largest first.
      figures: XLA's totals, for device memory.
      values: every value that has memory, in any space.
      timeline: in schedule order, one temporary allocation after the other.
      notes: what is not counted or had to be guessed, one sentence each.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "category", "name", "bytes", "shape", "module_path", "state_path", "source",
    )  # fmt: skip

    space: int
    instant: Instant
    at_peak: bool
    entries: tuple[LedgerEntry, ...]
    figures: MemoryFigures
    values: Mapping[Value, Held]
    timeline: tuple[TimelinePoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> Bytes:
        """Bytes of all entries."""
        return Bytes(sum(entry.size for entry in self.entries))

    def of(self, *categories: Category) -> Bytes:
        """Bytes of the entries of some categories."""
        return Bytes(sum(e.size for e in self.entries if e.category in categories))

    @property
    def unplaced(self) -> int:
        """Entries with a value and without a module path."""
        return sum(1 for e in self.entries if e.value is not None and not e.path)

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{bytes_text(self.total)} at {self.instant.instruction or 'any instant'}"

    def frame(self) -> pd.DataFrame:
        """One row per entry, largest first.

        Columns: `category`, `name`, `bytes` (padding included), `unpadded_bytes`, `shape`,
        `opcode`, `first_use`, `last_use`, `module_path` (joined by `/`), `path_source`,
        `state_path`, `source` (file:line), `allocation`, `offset` (bytes), `parameter`.
        """
        import pandas as pd

        rows = [_row(entry) for entry in self.entries]
        table = pd.DataFrame(rows, columns=list(_COLUMNS))
        return table.astype(dict.fromkeys(_COUNTS, "Int64"))


class DeltaKind(StrEnum):
    """Why memory differs; every entry of a delta is of exactly one kind."""

    ONLY_LHS = "only in lhs"
    ONLY_RHS = "only in rhs"
    RESIZED = "grown or shrunk"
    LIFETIME = "lives at peak on one side only"
    DONATION_LOST = "donation or aliasing lost"
    DONATION_WON = "donation or aliasing won"
    ARGUMENT_ADDED = "argument added"
    ARGUMENT_REMOVED = "argument removed"
    OUTPUT_ADDED = "output added"
    OUTPUT_REMOVED = "output removed"
    FRAGMENTATION = "fragmentation"
    CONSTANTS = "constants"
    CODE = "code"
    UNATTRIBUTED = "unattributed"


class Part(StrEnum):
    """What a buffer that both sides have grew or shrank by."""

    SHAPE = "shape"
    DTYPE = "dtype"
    LAYOUT = "layout or padding"
    SHARDING = "sharding"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaEntry:
    """One reason for a difference in bytes.

    Attributes:
      size: bytes, rhs - lhs: positive is worse.
      parts: for `RESIZED`, what the bytes are due to; they add up to `size`.
      note: where the other side keeps the value, and the like.
    """

    kind: DeltaKind
    size: Bytes
    lhs: LedgerEntry | None = None
    rhs: LedgerEntry | None = None
    parts: tuple[tuple[Part, Bytes], ...] = ()
    note: str = ""

    @property
    def shown(self) -> LedgerEntry:
        """The side that the entry is named by: rhs where it has one."""
        entry = self.rhs or self.lhs
        assert entry is not None  # noqa: S101 - one side always has one
        return entry

    @property
    def path(self) -> tuple[str, ...]:
        """Module path, of either side."""
        return next((e.path for e in (self.rhs, self.lhs) if e is not None and e.path), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerDelta(Shown):
    """Why two ledgers differ; entries add up to `total` exactly.

    Attributes:
      entries: those that differ, largest difference first.
      unchanged: buffers that both sides hold with the same size.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "kind", "bytes", "note", "lhs_name", "rhs_name", "rhs_shape", "rhs_module_path",
        "rhs_source",
    )  # fmt: skip

    lhs: MemoryLedger
    rhs: MemoryLedger
    entries: tuple[DeltaEntry, ...]
    unchanged: int

    @property
    def total(self) -> Bytes:
        """Bytes of rhs - bytes of lhs."""
        return Bytes(self.rhs.total - self.lhs.total)

    @property
    def unattributed(self) -> Bytes:
        """What no buffer explains; 0 wherever both sides have a buffer assignment."""
        kinds = (DeltaKind.UNATTRIBUTED,)
        return Bytes(sum(e.size for e in self.entries if e.kind in kinds))

    def by_kind(self) -> dict[DeltaKind, Bytes]:
        """Bytes of each kind that occurs, largest difference first."""
        sizes: Counter[DeltaKind] = Counter()
        for entry in self.entries:
            sizes[entry.kind] += entry.size
        ranked = sorted(sizes.items(), key=lambda item: (-abs(item[1]), item[0]))
        return {kind: Bytes(size) for kind, size in ranked}

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{bytes_text(self.total)} of memory, rhs - lhs"

    def frame(self) -> pd.DataFrame:
        """One row per entry, largest difference first.

        Columns: `kind`, `bytes` (rhs - lhs), one column of bytes per `Part` (`shape_bytes`,
        `dtype_bytes`, `layout_bytes`, `sharding_bytes`), `note`, then those of
        `MemoryLedger.frame` twice, with the prefixes `lhs_` and `rhs_`; a side without the buffer
        has missing values there.
        """
        import pandas as pd

        parts = {Part.SHAPE: "shape_bytes", Part.DTYPE: "dtype_bytes",
                 Part.LAYOUT: "layout_bytes", Part.SHARDING: "sharding_bytes"}  # fmt: skip
        sides = [f"{side}_{column}" for side in ("lhs", "rhs") for column in _COLUMNS]
        rows = []
        for entry in self.entries:
            split = dict(entry.parts)
            row: list[object] = [str(entry.kind), entry.size]
            row += [split.get(part, 0) for part in parts]
            row.append(entry.note)
            for side in (entry.lhs, entry.rhs):
                row += _row(side) if side is not None else [None] * len(_COLUMNS)
            rows.append(row)
        table = pd.DataFrame(rows, columns=["kind", "bytes", *parts.values(), "note", *sides])
        counts = [f"{side}_{column}" for side in ("lhs", "rhs") for column in _COUNTS]
        return table.astype(dict.fromkeys(counts, "Int64"))


_COLUMNS = (
    "category", "name", "bytes", "unpadded_bytes", "shape", "opcode", "first_use", "last_use",
    "module_path", "path_source", "state_path", "source", "allocation", "offset", "parameter",
)  # fmt: skip
_COUNTS = ("bytes", "unpadded_bytes", "allocation", "offset", "parameter")


def _row(entry: LedgerEntry) -> list[object]:
    return [
        str(entry.category), entry.name, entry.size, entry.unpadded, entry.shape_text, entry.opcode,
        entry.first, entry.last, "/".join(entry.path), str(entry.path_source),
        "/".join(entry.state), entry.source, entry.allocation, entry.offset, entry.parameter,
    ]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """What must go for a program to fit.

    Attributes:
      needed: bytes at the ledger's instant.
      available: bytes that the device has.
      over: how much has to go.
      candidates: entries, largest first, until `over` is covered (all where it never is).
    """

    needed: Bytes
    available: Maybe[Bytes]
    over: Bytes
    candidates: tuple[LedgerEntry, ...]
