"""All that an analyzer may import: the records, questions to ask of them, and `Analyzer`.

An analyzer is a frozen dataclass, its options as fields, that is found by an entry point of the
group `hloscope.analyzers`. docs/findings.md has a worked example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.hlo import (
    OpName,
    format_shape,
    frames,
    origin,
    parse_op_name,
    read_shape,
    scopes,
    state_path,
    trip_count,
)
from hloscope.hlo.arguments import aliases
from hloscope.hlo.dataflow import ANNOTATED, FORM, Dataflow, Loop, Node, NodeKind
from hloscope.model.canonical import Ref
from hloscope.model.capture import Capture, Leaf, OutOfMemory, PayloadName, Provenance
from hloscope.model.changes import (
    Change,
    ChangeClass,
    FieldChange,
    HeaderChange,
    Place,
    Region,
    Role,
    Stage,
    Verdict,
)
from hloscope.model.communication import (
    ChangeKind,
    Collective,
    CollectiveChange,
    CommunicationLedger,
    Kind,
)
from hloscope.model.comparison import (
    Comparison,
    EnvironmentDifference,
    EnvironmentPart,
    LeafChange,
)
from hloscope.model.cost import CostEntry, CostLedger
from hloscope.model.cost import DeltaEntry as CostDeltaEntry
from hloscope.model.finding import (
    Claim,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Metric,
    Remedy,
    Specificity,
)
from hloscope.model.hlo import (
    Computation,
    Instruction,
    Layout,
    Literal,
    Metadata,
    Module,
    Shape,
    StackFrame,
)
from hloscope.model.ledger import (
    Category,
    DeltaEntry,
    DeltaKind,
    LedgerDelta,
    LedgerEntry,
    MemoryLedger,
    Part,
    Value,
)
from hloscope.model.number_text import bytes_text, count_text
from hloscope.model.pairing import Pair, Pairing
from hloscope.model.source import Source, SourceKind
from hloscope.model.target import Target
from hloscope.model.units import Bytes, Flops, Maybe, Measured, Missing, Seconds
from hloscope.queries.flow import flow
from hloscope.queries.graph import callers, changes, instructions, users
from hloscope.queries.interface import (
    Argument,
    Result,
    argument_pairs,
    arguments,
    input_changes,
    output_changes,
    result_pairs,
    results,
)
from hloscope.queries.ledgers import (
    communication_changes,
    communication_of,
    cost_entries,
    cost_of,
    direction_of,
    every_entry,
    memory_entries,
    memory_of,
)
from hloscope.queries.logits import Logits, logits
from hloscope.queries.loops import (
    Refill,
    Stack,
    counts,
    depends_on,
    readers,
    refills,
    scanned_from,
    slot_behind,
    stacks,
)
from hloscope.queries.reach import TypesReach, placed_alike, types_reach
from hloscope.queries.shardings import Constraint, Mesh, constraints, meshes, shards
from hloscope.queries.sides import (
    Side,
    executions,
    module_path,
    partners,
    sides,
    source_frame,
)
from hloscope.queries.unrolling import Products, products, unrolled
from hloscope.queries.views import View, as_written_alike, frame_of, views
from hloscope.queries.words import array, listed, operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyzer(ABC):
    """Names causes of one family. A subclass is a frozen dataclass whose fields are its options.

    Every field has a default: analyzers are made without arguments. The docstring is the page that
    `hloscope explain CODE` prints; it begins with one line that says what the family is, and has
    the parts `What it sees:`, `Why it costs:`, `What it does not see:` and `Example:`.

    Attributes:
      name: the family's, one word or two.
      codes: stable code to what a finding of that code says, one line each.
    """

    name: ClassVar[str]
    codes: ClassVar[Mapping[str, str]]

    @abstractmethod
    def analyze(self, comparison: Comparison) -> Iterable[Finding]:
        """The causes found in a comparison, in any order; no IO, and nothing kept between calls."""


__all__ = [
    "ANNOTATED",
    "FORM",
    "Analyzer",
    "Argument",
    "Bytes",
    "Capture",
    "Category",
    "Change",
    "ChangeClass",
    "ChangeKind",
    "Claim",
    "Collective",
    "CollectiveChange",
    "CommunicationLedger",
    "Comparison",
    "Computation",
    "Confidence",
    "Constraint",
    "CostDeltaEntry",
    "CostEntry",
    "CostLedger",
    "Dataflow",
    "DeltaEntry",
    "DeltaKind",
    "Direction",
    "EnvironmentDifference",
    "EnvironmentPart",
    "Evidence",
    "FieldChange",
    "Finding",
    "Flops",
    "HeaderChange",
    "Instruction",
    "Kind",
    "Layout",
    "Leaf",
    "LeafChange",
    "LedgerDelta",
    "LedgerEntry",
    "Literal",
    "Logits",
    "Loop",
    "Maybe",
    "Measured",
    "MemoryLedger",
    "Mesh",
    "Metadata",
    "Metric",
    "Missing",
    "Module",
    "Node",
    "NodeKind",
    "OpName",
    "OutOfMemory",
    "Pair",
    "Pairing",
    "Part",
    "PayloadName",
    "Place",
    "Products",
    "Provenance",
    "Ref",
    "Refill",
    "Region",
    "Remedy",
    "Result",
    "Role",
    "Seconds",
    "Shape",
    "Side",
    "Source",
    "SourceKind",
    "Specificity",
    "Stack",
    "StackFrame",
    "Stage",
    "Target",
    "TypesReach",
    "Value",
    "Verdict",
    "View",
    "aliases",
    "argument_pairs",
    "arguments",
    "array",
    "as_written_alike",
    "bytes_text",
    "callers",
    "changes",
    "communication_changes",
    "communication_of",
    "constraints",
    "cost_entries",
    "cost_of",
    "count_text",
    "counts",
    "depends_on",
    "direction_of",
    "every_entry",
    "executions",
    "flow",
    "format_shape",
    "frame_of",
    "frames",
    "input_changes",
    "instructions",
    "listed",
    "logits",
    "memory_entries",
    "memory_of",
    "meshes",
    "module_path",
    "operation",
    "origin",
    "output_changes",
    "parse_op_name",
    "partners",
    "placed_alike",
    "products",
    "read_shape",
    "readers",
    "refills",
    "result_pairs",
    "results",
    "scanned_from",
    "scopes",
    "shards",
    "sides",
    "slot_behind",
    "source_frame",
    "stacks",
    "state_path",
    "trip_count",
    "types_reach",
    "unrolled",
    "users",
    "views",
]
