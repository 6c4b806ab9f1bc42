"""A comparison of two sides: everything that the stages found, put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hloscope.model.capture import Leaf
from hloscope.model.changes import ModuleDiff, StageVerdict
from hloscope.model.communication import CommunicationDelta
from hloscope.model.cost import CostDelta
from hloscope.model.ledger import LedgerDelta
from hloscope.model.pairing import Pairing
from hloscope.model.source import Source
from hloscope.model.target import Target


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
class LeavesDelta:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSummary:
    """What the graph of one side is, in a few numbers.

    Attributes:
      graph_fingerprint: of the module without noise, layouts and schedule.
      full_fingerprint: of the module without noise.
      opcodes: opcode to the number of its instructions.
    """

    graph_fingerprint: str
    full_fingerprint: str
    opcodes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides compared, rhs - lhs.

    Attributes:
      target: what both sides were compiled for; `None` where they differ or do not say.
      verdicts: one for each stage, in the order of compiling.
      environment: `None` where a side is no capture and so does not know its environment.
      inputs, outputs: leaves; read off the entry computation where a side is no capture, `None`
        where a side has no entry computation.
      memory: `None` where a side has no buffer assignment.
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
