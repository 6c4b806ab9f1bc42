"""HLO as read, before any noise is removed.

Instructions are tuples rather than dataclasses: a module can hold a million of them and a tuple is
made five times faster. Names follow XLA's `hlo.proto` and its HLO text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hloscope.model.showing import Shown

if TYPE_CHECKING:
    import pandas as pd


class Layout(NamedTuple):
    """How an array lies in memory.

    Attributes:
      minor_to_major: dimension numbers, fastest-varying first.
      tiles: tile extents, outermost tiling first, as in `T(8,128)(2,1)`; `-1` stands for `*`
        (combine with the next minor dimension).
      memory_space: XLA's `S(n)`; 0 is the default space (HBM on TPU).
      rest: every other layout property in XLA's text form (`E(4)`, `D(D,C)`, ...), in XLA's order.
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()
    memory_space: int = 0
    rest: str = ""


class Shape(NamedTuple):
    """An array, tuple, token or opaque shape.

    Attributes:
      dtype: XLA's lower-case primitive type (`bf16`, `f32`, `pred`, `tuple`, `token`, `opaque`).
      dims: extents; for a bounded dynamic dimension the bound.
      layout: `None` where the source gives none.
      elements: element shapes of a tuple.
      dynamic: dimension numbers that are bounded dynamic (`<=n`).
      rest: what else the source says of the shape (`sparse`, buffer wrapper, ...), verbatim.
    """

    dtype: str
    dims: tuple[int, ...] = ()
    layout: Layout | None = None
    elements: tuple[Shape, ...] = ()
    dynamic: tuple[int, ...] = ()
    rest: str = ""


class Literal(NamedTuple):
    """A constant's value.

    Attributes:
      preview: at most 64 characters of XLA's text form.
      digest: BLAKE2b-128 of the little-endian element bytes in logical row-major order, tuple
        elements one after the other; `None` where the source elides the value (`{...}`).
    """

    preview: str
    digest: bytes | None


class Metadata(NamedTuple):
    """Where an instruction comes from; never part of what it computes.

    Attributes:
      stack_frame: 1-based index into `Module.stack_frames`, 0 for none.
    """

    op_name: str = ""
    op_type: str = ""
    source_file: str = ""
    source_line: int = 0
    stack_frame: int = 0


NO_METADATA = Metadata()


class Instruction(NamedTuple):
    """One HLO instruction.

    Attributes:
      name: without `%`.
      id: `HloInstructionProto.id`; from text, a number unique in the module.
      operands: positions in the owning computation's `instructions`.
      called: (role, position in `Module.computations`), where the role is XLA's attribute name
        (`body`, `condition`, `to_apply`, `calls`, `branch_computations`, ...), in XLA's order.
      attrs: (name, value in XLA's text form), sorted by name; holds everything that
        `HloInstruction::ToString` prints after the operands except called computations, control
        predecessors and metadata. `parameter` numbers and literals have fields of their own.
      control: positions of control predecessors.
      parameter: the parameter number of a `parameter`, otherwise -1.
      literal: the value of a `constant`.
    """

    name: str
    id: int
    opcode: str
    shape: Shape
    operands: tuple[int, ...] = ()
    called: tuple[tuple[str, int], ...] = ()
    attrs: tuple[tuple[str, str], ...] = ()
    control: tuple[int, ...] = ()
    parameter: int = -1
    literal: Literal | None = None
    metadata: Metadata = NO_METADATA

    def attr(self, name: str) -> str | None:
        """The text of one attribute, `None` where the instruction does not have it."""
        for key, value in self.attrs:
            if key == name:
                return value
        return None


class Computation(NamedTuple):
    """A computation; `instructions` is in schedule order where the module is scheduled.

    In every case operands come before their users.
    """

    name: str
    instructions: tuple[Instruction, ...]
    root: int
    execution_thread: str = "main"


class StackFrame(NamedTuple):
    """One Python frame; `parent` is a 1-based index into the same table, 0 for none."""

    file: str
    function: str
    line: int
    column: int
    parent: int


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Module(Shown):
    """An HLO module.

    Attributes:
      computations: callees before callers, as XLA orders them.
      entry: position of the entry computation; `None` where the source was cut off before it.
      header: module attributes in XLA's text form, sorted by name (`input_output_alias`,
        `buffer_donor`, `entry_computation_layout`, `num_partitions`, `replica_count`, ...).
      stack_frames: the frame that `Metadata.stack_frame` n names is `stack_frames[n - 1]`.
      notes: what the reader had to skip, guess or miss, one sentence each.
    """

    name: str
    computations: tuple[Computation, ...]
    entry: int | None
    is_scheduled: bool = False
    header: tuple[tuple[str, str], ...] = ()
    stack_frames: tuple[StackFrame, ...] = ()
    notes: tuple[str, ...] = ()

    def header_attr(self, name: str) -> str | None:
        """The text of one module attribute, `None` where the module does not have it."""
        return dict(self.header).get(name)

    def frame(self) -> pd.DataFrame:
        """One row per computation, callees before callers.

        Columns: `computation`, `instructions`, `root` (its opcode), `entry`.
        """
        import pandas as pd

        rows = [
            (c.name, len(c.instructions), c.instructions[c.root].opcode if c.instructions else "",
             position == self.entry) for position, c in enumerate(self.computations)
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["computation", "instructions", "root", "entry"])

    def shown_title(self) -> str:
        """What stands above the computations."""
        return f"{self.name}, {self.instruction_count} instructions"

    @property
    def instruction_count(self) -> int:
        """Instructions in all computations."""
        return sum(len(c.instructions) for c in self.computations)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTimes(Shown):
    """Device time per instruction name, from a profile's device events.

    Attributes:
      seconds: total over the profile; divide by `occurrences` for one execution.
      source: the profile that gave the times.
    """

    seconds: Mapping[str, float] = field(default_factory=dict)
    occurrences: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
