"""The pairing while it is being made."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from hloscope.hlo.edges import Edges
from hloscope.model.canonical import CanonicalModule, Flow, NodeKind
from hloscope.model.pairing import Ambiguity, Budget, Rule


@dataclass(slots=True, kw_only=True)
class Partners:
    """Which node is paired with which, so far.

    Attributes:
      forward: lhs node to rhs node, -1 for none.
      backward: rhs node to lhs node, -1 for none.
      hidden: of each side, 1 for nodes that are looked through.
      owners: of each side, the computation of each instruction's node.
      edges: of each side, who reads whom.
      rules: lhs node to (rule, confidence), for the paired ones.
    """

    lhs: CanonicalModule
    rhs: CanonicalModule
    budget: Budget
    forward: array[int]
    backward: array[int]
    hidden: tuple[bytes, bytes]
    owners: tuple[list[int], list[int]]
    edges: tuple[Edges, Edges]
    rules: dict[int, tuple[Rule, float]] = field(default_factory=dict)
    ambiguous: list[Ambiguity] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def none(cls, lhs: CanonicalModule, rhs: CanonicalModule, budget: Budget) -> Partners:
        """Nothing paired yet."""
        return cls(
            lhs=lhs,
            rhs=rhs,
            budget=budget,
            forward=array("q", [-1]) * len(lhs.flow.sources),
            backward=array("q", [-1]) * len(rhs.flow.sources),
            hidden=(looked_through(lhs.flow), looked_through(rhs.flow)),
            owners=(owners(lhs), owners(rhs)),
            edges=(Edges(lhs.flow), Edges(rhs.flow)),
        )

    def pair(self, left: int, right: int, rule: Rule, confidence: float) -> None:
        """Pairs two nodes that have no partner yet."""
        self.forward[left] = right
        self.backward[right] = left
        self.rules[left] = (rule, confidence)

    def pair_all(
        self, lefts: Iterable[int], rights: Iterable[int], rule: Rule, confidence: float
    ) -> None:
        """Pairs nodes that have no partner yet, one by one in the order given."""
        forward, backward, rules, why = self.forward, self.backward, self.rules, (rule, confidence)
        for left, right in zip(lefts, rights, strict=True):
            forward[left] = right
            backward[right] = left
            rules[left] = why

    def free(self, left: int, right: int) -> bool:
        """Whether neither has a partner."""
        return self.forward[left] < 0 and self.backward[right] < 0


def looked_through(flow: Flow) -> bytes:
    """1 for wires and for wrappers that hold one computation: pairs follow from their contents.

    Loops and conditionals are paired like operations: two of them may carry the same values.
    """
    wire, wrapper, called = NodeKind.WIRE, NodeKind.WRAPPER, flow.called
    return bytes(
        kind == wire or (kind == wrapper and len(called.get(node, ())) < 2)
        for node, kind in enumerate(flow.kinds)
    )


def owners(side: CanonicalModule) -> list[int]:
    """The computation of each instruction's node."""
    return [n for n, c in enumerate(side.module.computations) for _ in c.instructions]
