"""What differs between two modules, grouped and ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.hlo import StackFrame
from hloscope.model.showing import Shown
from hloscope.model.units import Bytes, Maybe, Measured

if TYPE_CHECKING:
    import pandas as pd


class ChangeClass(StrEnum):
    """The kinds of change; a change can be of several."""

    ADDED = "added"
    REMOVED = "removed"
    OPCODE = "opcode"
    DTYPE = "dtype"
    SHAPE = "shape"
    LAYOUT = "layout"
    TILING = "tiling"
    MEMORY_SPACE = "memory space"
    SHARDING = "sharding"
    PRECISION = "precision"
    REPLICA_GROUPS = "replica groups"
    DONATION = "donation or aliasing"
    FUSION = "fusion boundary"
    REMAT = "rematerialization"
    CONSTANT = "constant"
    OPERAND_ORDER = "operand order"
    OPERAND = "operand"  # reads another value than before
    LOOP = "moved in or out of a loop"
    CARRY = "loop carry"
    OUTPUT = "program output"
    CALLED = "called computation"
    CONTROL = "control dependence"
    CONFIG = "backend config"
    ATTRIBUTE = "attribute"
    HEADER = "module attribute"


class Role(StrEnum):
    """Whether something else in the same region already explains a change."""

    HEAD = "cause"
    FOLLOWER = "consequence"


class Stage(StrEnum):
    """Where two programs can part."""

    INPUTS = "inputs"
    BEFORE = "HLO before optimization"
    OPTIMIZED = "optimized HLO"
    BUFFERS = "buffers"


class Verdict(StrEnum):
    """How alike two stages are, most alike first."""

    IDENTICAL = "identical"
    SAME_GRAPH = "same graph"  # names, ids, order and metadata alone differ
    SAME_UP_TO_SCHEDULE_OR_LAYOUT = "same up to schedule or layout"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageVerdict(Shown):
    """The verdict on one stage; `reason` says what it rests on."""

    stage: Stage
    verdict: Maybe[Verdict]
    reason: str


class FieldChange(NamedTuple):
    """One property that differs, as canonical text; `None` where a side does not have it."""

    change_class: ChangeClass
    name: str
    lhs: str | None
    rhs: str | None


class Instance(NamedTuple):
    """One place where a change occurs; `None` on the side that lacks the instruction.

    Attributes:
      lhs_name: the instruction's name; an entry parameter's state path where it has one.
    """

    lhs: Ref | None
    rhs: Ref | None
    lhs_name: str | None = None
    rhs_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An instruction as a report shows it.

    Attributes:
      name: the instruction's name as read.
      computation: the name of the computation that holds it.
      text: shape, opcode and operands as HLO text, without metadata.
      shape: the shape as HLO text.
      path: module scopes of its op_name, outermost first.
      state_paths: state paths of the entry parameters that it reads, directly or through wiring.
      frame: the Python line that it comes from, `None` where the source does not say.
      executions: how often it runs in one execution of the module.
      operands: a few of the instructions it reads, by name, through wiring.
      users: a few of those that read it.
    """

    ref: Ref
    name: str
    computation: str
    opcode: str
    text: str
    shape: str
    path: tuple[str, ...]
    state_paths: tuple[str, ...]
    frame: StackFrame | None
    executions: Maybe[int]
    operands: tuple[str, ...]
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Shown):
    """One change, at as many places as it occurs.

    Attributes:
      lhs: the first place on lhs; `None` where nothing there corresponds.
      fields: what differs; empty for an instruction that one side lacks.
      instances: every place, sorted; more than one where equal layers changed equally.
      confidence: how surely the two places correspond, from 0 to 1 (see `Pair`).
    """

    role: Role
    classes: tuple[ChangeClass, ...]
    lhs: Place | None
    rhs: Place | None
    fields: tuple[FieldChange, ...]
    instances: tuple[Instance, ...]
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Region(Shown):
    """Changes that data flow connects, folded over equal regions elsewhere.

    Attributes:
      heads: changes that nothing else in the region explains, first along data flow first.
      followers: consequences of the heads.
      count: equal regions that this one stands for.
      classes: of all heads.
      lhs_bytes: bytes that the changed instructions of lhs read and write in one execution of the
        module, over all `count` regions; a loop of unknown trip count counts once.
      lhs_flops: likewise.
      uncounted_loops: whether a loop of unknown trip count was counted once.
    """

    heads: tuple[Change, ...]
    followers: tuple[Change, ...]
    count: int
    classes: tuple[ChangeClass, ...]
    lhs_bytes: Bytes
    rhs_bytes: Bytes
    lhs_flops: int
    rhs_flops: int
    uncounted_loops: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderChange(Shown):
    """A module attribute that differs; `parameter` and `output` place a donation."""

    change_class: ChangeClass
    name: str
    lhs: str | None
    rhs: str | None
    parameter: Instance | None = None
    output: Instance | None = None


class ScheduleChange(NamedTuple):
    """A computation whose instructions run in another order.

    Attributes:
      moved: the fewest paired instructions that have to move for the orders to agree.
      first: the instructions that the two sides run where they first part, by name.
    """

    lhs: str
    rhs: str
    moved: int
    first: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleDiff(Shown):
    """Everything that differs between two modules.

    Attributes:
      verdict: of the modules as a whole.
      regions: ranked by their difference in bytes moved, then in FLOPs, then by bytes moved.
      header: module attributes and donations, sorted.
      schedule: computations that are scheduled otherwise, largest first.
      lhs_instructions: how many instructions lhs has.
      paired: how many of them have a partner.
      lhs_only: how many have none.
      notes: what was cut short or guessed, one sentence each.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "region", "role", "classes", "lhs", "rhs", "fields", "bytes", "module", "source",
    )  # fmt: skip

    verdict: Verdict
    regions: tuple[Region, ...]
    header: tuple[HeaderChange, ...]
    schedule: tuple[ScheduleChange, ...]
    lhs_instructions: int
    rhs_instructions: int
    paired: int
    lhs_only: int
    rhs_only: int
    notes: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing differs but noise; a schedule that differs is a difference."""
        return not (self.regions or self.header or self.schedule)

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.verdict}: {len(self.regions)} regions differ"

    def frame(self) -> pd.DataFrame:
        """One row per change: those of the graph by region, then module attributes, then schedules.

        Columns: `part` (`graph`, `module attribute`, `schedule`), `region` (from 1), `times`
        (equal regions that the row stands for), `role` (`cause`, `consequence`), `classes` (`, `
        between), `lhs`, `rhs` (names of instructions, attributes or computations), `opcode`,
        `shape_lhs`, `shape_rhs`, `fields` (what differs, `name: lhs -> rhs`, `; ` between),
        `places` (where the change occurs, over all equal regions; of a schedule, instructions that
        moved), `confidence` (0 to 1), `executions_lhs`, `executions_rhs` (per step), `module`,
        `state` (paths of the parameters it reads), `source`, then the region's `lhs_bytes`,
        `rhs_bytes`, `bytes`, `lhs_flops`, `rhs_flops`, `flops` (what its instructions move and
        compute per step, over all equal regions; the last of each three is rhs - lhs).

        A region's figures stand in its first row and are NA in the others, so that columns can be
        summed. Missing values are NA.
        """
        import pandas as pd

        table = pd.DataFrame(list(self._rows()), columns=list(_COLUMNS))
        return table.astype(dict.fromkeys(_COUNTS, "Int64"))

    def _rows(self) -> Iterator[dict[str, object]]:
        for number, region in enumerate(self.regions, 1):
            for place, change in enumerate((*region.heads, *region.followers)):
                figures = {} if place else _region_figures(region)
                yield {"part": "graph", "region": number, "times": region.count,
                       **_change_row(change), **figures}  # fmt: skip
        for header in self.header:
            yield {"part": "module attribute", "classes": str(header.change_class),
                   "lhs": header.name, "rhs": header.name,
                   "fields": _difference(header.name, header.lhs, header.rhs)}  # fmt: skip
        for schedule in self.schedule:
            fields = _difference("first", *schedule.first)
            yield {"part": "schedule", "lhs": schedule.lhs, "rhs": schedule.rhs,
                   "places": schedule.moved, "fields": fields}  # fmt: skip


_COUNTS = (
    "region", "times", "places", "executions_lhs", "executions_rhs",
    "lhs_bytes", "rhs_bytes", "bytes", "lhs_flops", "rhs_flops", "flops",
)  # fmt: skip
_COLUMNS = (
    "part", "region", "times", "role", "classes", "lhs", "rhs", "opcode", "shape_lhs", "shape_rhs",
    "fields", "places", "confidence", "executions_lhs", "executions_rhs", "module", "state",
    "source", "lhs_bytes", "rhs_bytes", "bytes", "lhs_flops", "rhs_flops", "flops",
)  # fmt: skip


def _region_figures(region: Region) -> dict[str, object]:
    return {
        "lhs_bytes": region.lhs_bytes,
        "rhs_bytes": region.rhs_bytes,
        "bytes": region.rhs_bytes - region.lhs_bytes,
        "lhs_flops": region.lhs_flops,
        "rhs_flops": region.rhs_flops,
        "flops": region.rhs_flops - region.lhs_flops,
    }


def _change_row(change: Change) -> dict[str, object]:
    lhs, rhs = change.lhs, change.rhs
    place = rhs or lhs
    assert place is not None  # noqa: S101 - a change is somewhere
    return {
        "role": str(change.role),
        "classes": ", ".join(change.classes),
        "lhs": lhs.name if lhs else None,
        "rhs": rhs.name if rhs else None,
        "opcode": place.opcode,
        "shape_lhs": lhs.shape if lhs else None,
        "shape_rhs": rhs.shape if rhs else None,
        "fields": "; ".join(_difference(f.name, f.lhs, f.rhs) for f in change.fields),
        "places": len(change.instances),
        "confidence": change.confidence,
        "executions_lhs": _executions(lhs),
        "executions_rhs": _executions(rhs),
        "module": "/".join(place.path),
        "state": ", ".join(place.state_paths),
        "source": f"{place.frame.file}:{place.frame.line}" if place.frame else "",
    }


def _executions(place: Place | None) -> int | None:
    if place is None or not isinstance(place.executions, Measured):
        return None
    return place.executions.value


def _difference(name: str, lhs: str | None, rhs: str | None) -> str:
    return f"{name}: {lhs or 'none'} -> {rhs or 'none'}"
