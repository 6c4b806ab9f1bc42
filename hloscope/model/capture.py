"""Everything kept of one compile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from hloscope.model.showing import Shown
from hloscope.model.units import Bytes, Maybe, Measured, Missing, Seconds

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the records of this module, as capture files hold them."""


class Depth(StrEnum):
    """How far a capture compiles."""

    HLO = "hlo"  # stops once optimized HLO and buffer assignment are on disk
    FULL = "full"  # to the executable: adds what only the compiler knows
    PASSES = "passes"  # as HLO, and keeps the module after every pass


class PayloadName:
    """Names of the payloads inside a capture file."""

    STABLEHLO = "stablehlo.mlirbc"
    BEFORE_OPTIMIZATIONS = "before_optimizations.hlo.pb"
    OPTIMIZED = "optimized.hlo.pb"  # HloProto, with the buffer assignment
    COMPILE_OPTIONS = "compile_options.pb"
    MEMORY_REPORT = "memory_report.txt"
    LIVE_RANGE = "live_range.txt"
    PASSES = "passes/"  # passes/0001.NAME.hlo.pb ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One leaf of the program's inputs or outputs.

    Attributes:
      path: the tree path as `jax.tree_util.keystr` writes it.
      dtype: JAX's dtype name (`bfloat16`, `key<fry>`).
      sharding: mesh axes by dimension (`PartitionSpec('fsdp', None)`), or the sharding's own text;
        `None` where the program does not say.
      mesh: the mesh's axis sizes (`{'data': 1, 'fsdp': 8}`), `None` without a mesh.
      layout: the layout that the program demands or the compiler chose, `None` where unknown.
      donated: whether the caller offers the buffer (inputs alone).
      parameter: the HLO entry parameter or root tuple position; `None` where pruned or unknown.
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    weak_type: bool
    sharding: str | None
    mesh: Mapping[str, int] | None
    memory_kind: str | None
    layout: str | None
    donated: bool
    parameter: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFigures(Shown):
    """XLA's memory figures of one device, device memory (space 0) alone.

    The sum that has to fit is `argument + output - alias + temp + code`.

    Attributes:
      source: `memory_analysis` or `buffer assignment`; the two agree to the byte by the rules in
        docs/memory.md.
    """

    argument: Maybe[Bytes]
    output: Maybe[Bytes]
    alias: Maybe[Bytes]
    temp: Maybe[Bytes]
    code: Maybe[Bytes]
    source: str

    @property
    def in_use(self) -> Maybe[Bytes]:
        """Argument + output - alias + temp: device memory at peak, generated code left out."""
        total = 0
        for part, sign in (("argument", 1), ("output", 1), ("alias", -1), ("temp", 1)):
            match getattr(self, part):
                case Measured(size):
                    total += sign * size
                case Missing(reason):
                    return Missing(f"{part}: {reason}")
        return Measured(Bytes(total))

    def frame(self) -> pd.DataFrame:
        """One row per part.

        Columns: `part` (`argument`, `output`, `alias`, `temp`, `code`; `alias` counts against the
        others), `bytes` (NA where unknown, never 0), `unknown` (why).
        """
        import pandas as pd

        parts = ("argument", "output", "alias", "temp", "code")
        rows = [(part, *value_and_reason(getattr(self, part))) for part in parts]
        table = pd.DataFrame(rows, columns=["part", "bytes", "unknown"])
        return table.astype({"bytes": "Int64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFigures(Shown):
    """XLA's cost analysis; a loop body counts once, as XLA counts it."""

    flops: Maybe[float]
    bytes_accessed: Maybe[float]
    transcendentals: Maybe[float]
    optimal_seconds: Maybe[float]
    source: str

    def frame(self) -> pd.DataFrame:
        """One row per figure.

        Columns: `quantity`, `unit` (`FLOP`, `B`, `s`, or empty for a plain count), `value` (NA
        where unknown, never 0), `unknown` (why).
        """
        import pandas as pd

        units = {"flops": "FLOP", "bytes_accessed": "B", "transcendentals": "",
                 "optimal_seconds": "s"}  # fmt: skip
        rows = [
            (name, unit, *value_and_reason(getattr(self, name))) for name, unit in units.items()
        ]
        table = pd.DataFrame(rows, columns=["quantity", "unit", "value", "unknown"])
        return table.astype({"value": "Float64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfMemory:
    """The compiler's refusal of a program that does not fit."""

    needed: Maybe[Bytes]
    available: Maybe[Bytes]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a capture comes from: enough to explain a difference and to compile again.

    Holds no user name, host name or home directory.

    Attributes:
      versions: package to version (`jax`, `jaxlib`, `flax`, `libtpu`, ...) and `python`.
      compile_options: XLA flags given for this compile.
      environment: environment variables that steer JAX or XLA.
      jax_config: JAX configuration values that differ from their defaults.
      ambient_mesh: axis sizes of the mesh current while tracing, `None` for none.
      axis_rules: logical axis rules current while tracing, in order.
      ambient_mesh_from: `jax.set_mesh` or `with mesh`, which Flax's logical constraints ignore.
      warnings: JAX's and XLA's warnings while tracing and compiling.
      git_revision: of the program's own source, `None` outside a repository.
      options: the program's options.
      seconds: step of the capture to wall-clock time (not part of the capture's identity).
      peak_memory: peak resident set of the child.
    """

    versions: Mapping[str, str]
    compile_options: Mapping[str, str]
    environment: Mapping[str, str]
    jax_config: Mapping[str, str]
    ambient_mesh: Mapping[str, int] | None
    axis_rules: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    git_revision: str | None
    git_dirty: bool | None
    options: Mapping[str, str]
    seconds: Mapping[str, Seconds]
    peak_memory: Maybe[Bytes]
    ambient_mesh_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(Shown):
    """One compile of one program for one target.

    Attributes:
      schema: version of the manifest.
      program: the spec or the name that the program was captured under.
      target: the target's spec.
      depth: how far the compile went.
      out_of_memory: set where the program does not fit; HLO and buffers are kept all the same.
      payloads: name to bytes, read when asked for.
    """

    shown_columns: ClassVar[tuple[str, ...]] = (
        "tree", "path", "shape", "dtype", "sharding", "donated",
    )  # fmt: skip

    schema: int
    program: str
    target: str
    depth: Depth
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    memory: MemoryFigures
    cost: CostFigures
    provenance: Provenance
    out_of_memory: OutOfMemory | None
    payloads: Mapping[str, bytes]

    def shown_title(self) -> str:
        """What stands above the table."""
        return f"{self.program} on {self.target}, depth {self.depth}: inputs and outputs"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The memory figures, then the leaves."""
        yield "device memory, in XLA's figures", self.memory.frame()
        yield from Shown.shown_tables(self)

    def frame(self) -> pd.DataFrame:
        """One row per leaf of the inputs, then of the outputs.

        Columns: `tree` (`input` or `output`), `path`, `shape` (`8x128`, empty for a scalar),
        `dtype`, `weak_type`, `sharding`, `mesh` (`data=1, fsdp=8`), `memory_kind`, `layout`,
        `donated`, `parameter` (HLO parameter or root tuple position). NA is "the program does not
        say", and for `parameter` "pruned or unknown".
        """
        import pandas as pd

        trees = (("input", self.inputs), ("output", self.outputs))
        rows = [(tree, *_leaf_row(leaf)) for tree, leaves in trees for leaf in leaves]
        return pd.DataFrame(rows, columns=["tree", *LEAF_COLUMNS]).astype({"parameter": "Int64"})


LEAF_COLUMNS = (
    "path", "shape", "dtype", "weak_type", "sharding", "mesh", "memory_kind", "layout", "donated",
    "parameter",
)  # fmt: skip


def _leaf_row(leaf: Leaf) -> tuple[object, ...]:
    mesh = leaf.mesh and ", ".join(f"{axis}={size}" for axis, size in leaf.mesh.items())
    return (
        leaf.path, "x".join(map(str, leaf.shape)), leaf.dtype, leaf.weak_type, leaf.sharding, mesh,
        leaf.memory_kind, leaf.layout, leaf.donated, leaf.parameter,
    )  # fmt: skip


def value_and_reason(figure: Maybe[int] | Maybe[float]) -> tuple[int | float | None, str]:
    """A figure for a table: its value, or nothing with the reason."""
    match figure:
        case Measured(value):
            return value, ""
        case Missing(reason):
            return None, reason
