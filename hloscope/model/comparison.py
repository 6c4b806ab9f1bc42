"""A comparison of two sides: everything that the stages found, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from hloscope.model.capture import Leaf
from hloscope.model.changes import ModuleDiff, StageVerdict
from hloscope.model.communication import CommunicationDelta
from hloscope.model.cost import CostDelta, CostLedger, Quantity, Total
from hloscope.model.finding import Explanation
from hloscope.model.ledger import LedgerDelta, MemoryLedger
from hloscope.model.pairing import Pairing
from hloscope.model.showing import Shown, amount_text
from hloscope.model.source import Source
from hloscope.model.target import Target
from hloscope.model.units import Measured, Missing

if TYPE_CHECKING:
    import pandas as pd


class EnvironmentPart(StrEnum):
    """The part of the environment that a difference belongs to."""

    TARGET = "target"
    VERSION = "version"
    FLAG = "compile option"
    VARIABLE = "environment variable"
    CONFIG = "jax config"
    MESH = "ambient mesh"
    AXIS_RULES = "logical axis rules"
    SOURCE = "source"
    OPTION = "program option"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentDifference:
    """One thing that differs between the two compiles; `None` is "not set" on that side."""

    part: EnvironmentPart
    name: str
    lhs: str | None
    rhs: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafChange:
    """A leaf that both sides have, not in the same way.

    Attributes:
      fields: (field of `Leaf`, lhs value, rhs value); empty where the leaf has moved to another
        place alone. `spec` stands for shardings that are written differently and partition the
        array in the same way, such as by a mesh axis of size 1.
      moved: positions on the two sides where the order of the leaves that both have differs.
    """

    lhs: Leaf
    rhs: Leaf
    fields: tuple[tuple[str, str, str], ...]
    moved: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavesDelta(Shown):
    """The difference between two flat trees of leaves.

    Attributes:
      paired: leaves that both sides have.
      renamed: pairs among them whose tree paths are written differently.
      changed: pairs that differ in more than their path.
      removed: leaves of lhs alone.
      added: leaves of rhs alone.
    """

    paired: int
    renamed: int
    changed: tuple[LeafChange, ...]
    removed: tuple[Leaf, ...]
    added: tuple[Leaf, ...]

    @property
    def same(self) -> bool:
        """Whether the two trees hold the same leaves in the same way."""
        return not (self.changed or self.removed or self.added)

    def frame(self) -> pd.DataFrame:
        """One row per leaf that differs: first the changed, then the removed, then the added.

        Columns: `change` (`changed`, `moved`, `removed`, `added`), `fields` (of `Leaf`, those that
        differ, `, ` between), then for each side, with the suffix `_lhs` or `_rhs`, `path`,
        `shape` (`8x128`), `dtype`, `sharding`, `donated` and `parameter`. A side without the leaf
        has missing values.
        """
        import pandas as pd

        rows = [
            ("changed" if c.fields else "moved", ", ".join(name for name, _, _ in c.fields),
             *_both(c.lhs, c.rhs)) for c in self.changed
        ]  # fmt: skip
        rows += [("removed", "", *_both(leaf, None)) for leaf in self.removed]
        rows += [("added", "", *_both(None, leaf)) for leaf in self.added]
        sides = [f"{name}_{side}" for name in _LEAF_FIELDS for side in ("lhs", "rhs")]
        table = pd.DataFrame(rows, columns=["change", "fields", *sides])
        types = {"parameter": "Int64", "donated": "boolean"}
        return table.astype(
            {f"{name}_{side}": dtype for name, dtype in types.items() for side in ("lhs", "rhs")}
        )


_LEAF_FIELDS = ("path", "shape", "dtype", "sharding", "donated", "parameter")


def _both(lhs: Leaf | None, rhs: Leaf | None) -> list[object]:
    """Each of `_LEAF_FIELDS`, of lhs and then of rhs."""
    return [_field(leaf, name) for name in _LEAF_FIELDS for leaf in (lhs, rhs)]


def _field(leaf: Leaf | None, name: str) -> object:
    if leaf is None:
        return None
    return "x".join(map(str, leaf.shape)) if name == "shape" else getattr(leaf, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSummary(Shown):
    """What the graph of one side is, in a few numbers.

    Attributes:
      graph_fingerprint: of the module without noise, layouts and schedule.
      full_fingerprint: of the module without noise.
      opcodes: opcode to the number of its instructions.
    """

    graph_fingerprint: str
    full_fingerprint: str
    opcodes: Mapping[str, int]


def _unexplained(_comparison: Comparison) -> Explanation:
    return Explanation(findings=(), crashes=(), analyzers=(), accounts={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Shown):
    """Two sides compared, rhs - lhs.

    Attributes:
      target: what both sides were compiled for; `None` where they differ or do not say.
      verdicts: one for each stage, in the order of compiling.
      environment: `None` where a side is no capture and so does not know its environment.
      inputs, outputs: leaves; read off the entry computation where a side is no capture, `None`
        where a side has no entry computation.
      memory: `None` where a side has no buffer assignment.
      explain: works out `explanation`; a comparison that is put together by hand names no analyzer.
    """

    lhs: Source
    rhs: Source
    target: Target | None
    verdicts: tuple[StageVerdict, ...]
    environment: tuple[EnvironmentDifference, ...] | None
    inputs: LeavesDelta | None
    outputs: LeavesDelta | None
    lhs_summary: SideSummary
    rhs_summary: SideSummary
    pairing: Pairing
    changes: ModuleDiff
    memory: LedgerDelta | None
    cost: CostDelta
    communication: CommunicationDelta
    explain: Callable[[Comparison], Explanation] = field(
        default=_unexplained, compare=False, repr=False
    )

    @property
    def explanation(self) -> Explanation:
        """Why the sides differ; the analyzers are loaded and run when first asked for."""
        return self.explain(self)

    def shown_title(self) -> str:
        """What stands above the totals."""
        return f"{self.lhs.label} against {self.rhs.label}"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The totals, the verdicts, then why."""
        totals = self.frame()
        for column in ("lhs", "rhs", "delta"):
            totals[column] = [
                amount_text(value, unit)
                for value, unit in zip(totals[column], totals["unit"], strict=True)
            ]
        totals["delta"] = [f"+{t}" if t[:1] not in "-0" else t for t in totals["delta"]]
        yield self.shown_title(), totals.drop(columns="unit")
        yield "verdicts", self.verdict_frame()
        if self.explanation.findings:
            yield from self.explanation.shown_tables()

    def frame(self) -> pd.DataFrame:
        """The totals of both sides, one row per quantity.

        Columns: `quantity`, `unit`, `lhs`, `rhs`, `delta` (rhs - lhs, NA where either is unknown),
        `unknown_lhs`, `unknown_rhs` (why a figure is missing, or what it leaves out). `memory` is
        what device memory holds at peak; `bytes`, `flops`, `transcendentals` and `seconds` are of
        one step on one device, the last estimated where no profile measured it; `sent` is what
        one device sends in one step.
        """
        import pandas as pd

        columns = ["quantity", "unit", "lhs", "rhs", "unknown_lhs", "unknown_rhs"]
        table = pd.DataFrame(list(self._totals()), columns=columns)
        table = table.astype({"lhs": "Float64", "rhs": "Float64"})
        table.insert(4, "delta", table["rhs"] - table["lhs"])
        return table

    def verdict_frame(self) -> pd.DataFrame:
        """One row per stage, in the order of compiling.

        Columns: `stage`, `verdict` (NA where unknown), `reason` (what it rests on), `unknown` (why
        there is no verdict).
        """
        import pandas as pd

        rows = [
            (str(v.stage), str(v.verdict.value), v.reason, "")
            if isinstance(v.verdict, Measured)
            else (str(v.stage), None, v.reason, v.verdict.reason)
            for v in self.verdicts
        ]
        return pd.DataFrame(rows, columns=["stage", "verdict", "reason", "unknown"])

    def _totals(self) -> Iterator[tuple[object, ...]]:
        if self.memory is None:
            yield "memory", "B", None, None, *(_no_buffers(s) for s in (self.lhs, self.rhs))
        else:
            sides = self.memory.lhs, self.memory.rhs
            yield "memory", "B", *(s.total for s in sides), *(_no_code(s) for s in sides)
        cost = self.cost.lhs, self.cost.rhs
        yield _total_row("flops", "FLOP", [side.totals[Quantity.FLOPS] for side in cost])
        counts = [side.totals[Quantity.TRANSCENDENTALS] for side in cost]
        yield _total_row("transcendentals", "", counts)
        yield _total_row("bytes", "B", [_moved(side) for side in cost])
        yield _total_row("seconds", "s", [side.seconds for side in cost])
        sent = self.communication.lhs.wire_bytes, self.communication.rhs.wire_bytes
        yield _total_row("sent", "B", sent)


def _no_buffers(side: Source) -> str:
    return "" if side.buffers is not None else "no buffer assignment"


def _no_code(ledger: MemoryLedger) -> str:
    """Why generated code is not in a total of device memory."""
    code = ledger.figures.code
    return f"without code: {code.reason}" if isinstance(code, Missing) else ""


def _moved(ledger: CostLedger) -> Total:
    read, written = (ledger.totals[q] for q in (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN))
    unknown = {**dict(written.unknown), **dict(read.unknown)}  # of the same instructions
    return Total(read.known + written.known, tuple(sorted(unknown.items())))


def _total_row(quantity: str, unit: str, totals: Sequence[Total]) -> tuple[object, ...]:
    """Known sums; one that knows nothing at all is missing, one that leaves things out says so."""
    nothing = [bool(total.unknown) and not total.known for total in totals]
    sides = [None if n else total.known for n, total in zip(nothing, totals, strict=True)]
    left_out = ["; ".join(f"{n}x {reason}" for reason, n in total.unknown) for total in totals]
    return quantity, unit, *sides, *left_out
