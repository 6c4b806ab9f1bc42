"""Whether two programs have the same weights and compute the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hloscope.model.capture import Leaf
from hloscope.model.showing import Shown
from hloscope.model.units import Maybe, Measured, Missing

if TYPE_CHECKING:
    import pandas as pd

LeafPath = tuple[str, ...]


class ParityVerdict(StrEnum):
    """What a comparison of two programs, or of a program and a checkpoint, comes to."""

    EQUAL = "equal, bit for bit"
    WITHIN = "equal within the tolerance"
    SAME_TREES = "same trees; values were not compared"
    DIFFERENT = "different values"
    TREES_DIFFER = "different trees"


class Part(StrEnum):
    """What a value is."""

    OUTPUT = "output"
    GRADIENT = "gradient"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafPair(Shown):
    """One leaf of the trees, by its canonical path.

    Attributes:
      path: as `hlo.state_path` writes it.
      lhs, rhs: `None` where a side has no such leaf.
      differences: `shape`, `dtype`, `sharding`; empty where there is one side alone.
      random: state of a random number generator, which the stacks keep each in its own way.
      unchanged: an output that one side alone gives, and that is an input of both as it came in.
    """

    path: LeafPath
    lhs: Leaf | None
    rhs: Leaf | None
    differences: tuple[str, ...] = ()
    random: bool = False
    unchanged: bool = False

    @property
    def is_mapped(self) -> bool:
        """Whether both sides have it, in one shape."""
        return self.lhs is not None and self.rhs is not None and "shape" not in self.differences


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuePair(Shown):
    """The values of one leaf, computed by both sides from equal inputs.

    Attributes:
      elements: how many there are; `unequal` of them have other bits.
      scale: largest magnitude on either side.
      error: largest difference of two elements; infinite where one side alone is not finite.
      ulps: `error` in units in the last place of `scale`, in `Parity.unit`.
    """

    part: Part
    path: LeafPath
    dtype: str
    elements: int
    unequal: int
    scale: float
    error: float
    ulps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity(Shown):
    """Two sides, leaf by leaf.

    Attributes:
      lhs, rhs: the specs, or the checkpoint's folder.
      inputs, outputs: leaves of what the programs take and give; a checkpoint is compared with
        what a program takes, and gives nothing.
      values: largest error first; Missing says why nothing was computed.
      unit: the coarsest floating dtype that either program computes in.
      tolerance: the most ulps that count as equal.
      seed: of the inputs.
      bound: integers of the inputs are below it.
      checkpoint: `lhs` or `rhs` where that side is one.
    """

    lhs: str
    rhs: str
    inputs: tuple[LeafPair, ...]
    outputs: tuple[LeafPair, ...]
    values: Maybe[tuple[ValuePair, ...]]
    unit: str
    tolerance: float
    seed: int
    bound: int
    checkpoint: str | None = None

    @property
    def verdict(self) -> ParityVerdict:
        """The strongest thing that holds."""
        if not self._trees_agree():
            return ParityVerdict.TREES_DIFFER
        if not isinstance(self.values, Measured):
            return ParityVerdict.SAME_TREES
        values = self.values.value
        if all(pair.unequal == 0 for pair in values):
            return ParityVerdict.EQUAL
        if all(pair.ulps <= self.tolerance for pair in values):
            return ParityVerdict.WITHIN
        return ParityVerdict.DIFFERENT

    def frame(self) -> pd.DataFrame:
        """One row per value that was computed, largest error first.

        Columns: `part` (`output`, `gradient`), `path`, `dtype`, `elements`, `unequal`, `scale`
        (largest magnitude), `error` (largest difference), `ulps`.
        """
        import pandas as pd

        pairs = self.values.value if isinstance(self.values, Measured) else ()
        rows = [
            (
                str(p.part),
                "/".join(p.path),
                p.dtype,
                p.elements,
                p.unequal,
                p.scale,
                p.error,
                p.ulps,
            )
            for p in pairs
        ]
        columns = ["part", "path", "dtype", "elements", "unequal", "scale", "error", "ulps"]
        return pd.DataFrame(rows, columns=columns)

    def tree_frame(self) -> pd.DataFrame:
        """One row per leaf of what the programs take and give.

        Columns: `tree` (`input`, `output`), `path`, `lhs`, `rhs` (dtype and shape, empty for a side
        without it), `differences`, `random` (a generator's state, which need not be mapped).
        """
        import pandas as pd

        trees = (("input", self.inputs), ("output", self.outputs))
        rows = [
            (tree, "/".join(p.path), _leaf_text(p.lhs), _leaf_text(p.rhs), ", ".join(p.differences),
             p.random) for tree, pairs in trees for p in pairs
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["tree", "path", "lhs", "rhs", "differences", "random"])

    def shown_title(self) -> str:
        """What stands above the values."""
        missing = f" ({self.values.reason})" if isinstance(self.values, Missing) else ""
        return f"{self.lhs} against {self.rhs}: {self.verdict}{missing}"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The values, then the leaves that differ or that one side lacks."""
        yield self.shown_title(), self.frame()
        trees = self.tree_frame()
        unlike = (trees["differences"] != "") | (trees["lhs"] == "") | (trees["rhs"] == "")
        if unlike.any():
            yield "leaves that differ", trees[unlike]

    def _trees_agree(self) -> bool:
        """Whether every leaf is mapped, but for random state and what may be on one side alone."""
        pairs = (*self.inputs, *self.outputs)
        return all(pair.is_mapped or pair.random or self._is_optional(pair) for pair in pairs)

    def _is_optional(self, pair: LeafPair) -> bool:
        """Whether one side may be without a leaf.

        A checkpoint has all of a part or nothing: no batch, or no optimizer state, but not half a
        layer. Frozen weights may be given back or not.
        """
        if pair.unchanged:
            return True
        checkpoint = self.checkpoint
        if checkpoint is None or getattr(pair, checkpoint) is not None:
            return False
        kept = {each.path[0] for each in self.inputs if getattr(each, checkpoint) is not None}
        return pair.path[0] not in kept


def _leaf_text(leaf: Leaf | None) -> str:
    return "" if leaf is None else f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
