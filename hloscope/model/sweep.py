"""Many captures: what is asked for, and what each came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hloscope.model.showing import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Shown):
    """One program at one revision, under one toolchain, for one target.

    Attributes:
      spec: what is captured, `gpt3-tiny:nnx?scan=true@main`.
      axes: axis of the sweep to this cell's value, as text.
      packages: requirements of the toolchain, empty for the installed one.
    """

    spec: str
    target: str
    axes: Mapping[str, str]
    packages: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What tells this cell from every other, and what reports call it."""
        tools = f" with {' '.join(self.packages)}" if self.packages else ""
        return f"{self.spec} on {self.target}{tools}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(Shown):
    """Two cells that differ along one axis alone, to be compared."""

    lhs: Cell
    rhs: Cell
    axes: Mapping[str, str]

    @property
    def name(self) -> str:
        """As of a cell."""
        return f"{self.lhs.name} against {self.rhs.name}"


Task = Cell | Contrast


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Shown):
    """What one cell or contrast came to.

    Attributes:
      task: its name.
      kind: `capture` or `contrast`.
      reason: why it failed; empty for one that did not.
      figures: metric to figure of a capture, metric to rhs - lhs of a contrast; an unknown one is
        absent.
      verdict: on the optimized HLO of a contrast.
      finding: the first finding of a contrast, code and title.
      seconds: wall-clock time.
      peak_memory: bytes that the compiler's process held at most, `None` where unknown.
    """

    task: str
    kind: str
    axes: Mapping[str, str]
    reason: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    fingerprint: str = ""
    verdict: str = ""
    finding: str = ""
    seconds: float = 0
    peak_memory: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Shown):
    """A sweep as its file describes it.

    Attributes:
      file: the TOML file.
      output: the Parquet file that results are streamed to.
      cells: in the file's order.
      contrasts: pairs along one axis, empty where none is named.
    """

    file: str
    output: str
    cells: tuple[Cell, ...]
    contrasts: tuple[Contrast, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every cell, then every contrast."""
        return (*self.cells, *self.contrasts)
