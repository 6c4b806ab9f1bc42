"""Whether two programs have the same weights and compute the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hloscope.model.capture import Leaf
from hloscope.model.units import Maybe, Measured

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
class LeafPair:
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
class ValuePair:
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
class Parity:
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
