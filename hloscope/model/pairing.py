"""Which instruction of one side is which instruction of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hloscope.model.canonical import Ref
from hloscope.model.showing import Shown

if TYPE_CHECKING:
    import pandas as pd


class Rule(StrEnum):
    """Why two instructions were paired, surest first."""

    SAME_MODULE = "same module"  # both modules are equal: paired in canonical order
    SAME_PATH = "same state path"  # entry parameters with the same state path
    SAME_CLASS = "same inputs and uses"  # alone of its kind on both sides, from inputs to outputs
    SAME_INPUTS = "same inputs"  # the same computation from the inputs; its uses differ
    SAME_USES = "same uses"  # the same use down to the outputs; its inputs differ
    SAME_SURROUNDINGS = "same surroundings"  # alone of its kind by what lies a few steps around it
    OPERANDS = "paired operands"  # same label, and its operands are paired in place
    USERS = "paired users"  # same label, and its users are paired in place
    BOUNDARY = "paired contents"  # a wrapper or wire whose contents are paired
    POSITION = "same position"  # entry parameters without a path
    SIMILAR = "most similar"  # the best assignment among what was left


class Pair(NamedTuple):
    """One instruction on both sides.

    Attributes:
      confidence: from 0 to 1; 1 means that nothing speaks for any other partner.
    """

    lhs: Ref
    rhs: Ref
    rule: Rule
    confidence: float


class Group(NamedTuple):
    """Wrappers that split or merge: the contents of `lhs` are found in `rhs`, and the other way."""

    lhs: tuple[Ref, ...]
    rhs: tuple[Ref, ...]
    reason: str


class Ambiguity(NamedTuple):
    """Instructions that cannot be told apart; they are paired in order, if at all."""

    lhs: tuple[Ref, ...]
    rhs: tuple[Ref, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Shown):
    """How much searching is allowed; running out is said in `Pairing.notes`.

    Attributes:
      assignment_size: the most instructions of one side in one assignment problem (its cost matrix
        has the square of that many entries).
      assignment_cells: the most cost entries in all problems together.
      candidates: the most partners tried for one instruction while following data flow.
    """

    assignment_size: int = 100
    assignment_cells: int = 100_000
    candidates: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing(Shown):
    """The instructions of two modules, paired.

    Attributes:
      pairs: sorted by `lhs`; every instruction is in at most one.
      groups: wrappers that split or merge.
      lhs_only: instructions without a partner, sorted.
      rhs_only: the same of the other side.
      ambiguous: pairs that might as well have been others.
      partners: lhs node (see `CanonicalModule`) to rhs node, -1 for none; elements and slots too.
      rhs_partners: the other way round.
      notes: which budget ran out, and over what; one sentence each.
    """

    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]
    lhs_only: tuple[Ref, ...]
    rhs_only: tuple[Ref, ...]
    ambiguous: tuple[Ambiguity, ...]
    partners: tuple[int, ...]
    rhs_partners: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def frame(self) -> pd.DataFrame:
        """One row per rule that paired something, surest first.

        Columns: `rule`, `pairs`, `least_confidence` (from 0 to 1).
        """
        import pandas as pd

        counts = Counter(pair.rule for pair in self.pairs)
        least = {p.rule: p.confidence for p in sorted(self.pairs, key=lambda p: -p.confidence)}
        rows = [(str(rule), counts[rule], least[rule]) for rule in Rule if rule in counts]
        return pd.DataFrame(rows, columns=["rule", "pairs", "least_confidence"])

    def shown_title(self) -> str:
        """What stands above the rules."""
        alone = f"{len(self.lhs_only)} in lhs alone, {len(self.rhs_only)} in rhs alone"
        return f"{len(self.pairs)} pairs; {alone}"

    def mirrored(self) -> Pairing:
        """The same pairing with the sides exchanged."""
        return Pairing(
            pairs=tuple(sorted(Pair(p.rhs, p.lhs, p.rule, p.confidence) for p in self.pairs)),
            groups=tuple(sorted(Group(g.rhs, g.lhs, g.reason) for g in self.groups)),
            lhs_only=self.rhs_only,
            rhs_only=self.lhs_only,
            ambiguous=tuple(sorted(Ambiguity(a.rhs, a.lhs, a.reason) for a in self.ambiguous)),
            partners=self.rhs_partners,
            rhs_partners=self.partners,
            notes=self.notes,
        )
