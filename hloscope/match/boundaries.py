"""Computations, wrappers and wires: paired by what is paired inside them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from hloscope.match.homes import votes
from hloscope.match.partners import Partners
from hloscope.model.canonical import CanonicalModule, NodeKind, Ref
from hloscope.model.pairing import Group, Rule

BOUNDARY = (NodeKind.WIRE, NodeKind.WRAPPER)
Votes = dict[int, Counter[int]]  # lhs computation to votes for rhs computations


class Boundaries:
    """Pairs computations from the inside out, with their wrappers and wires."""

    def __init__(self, partners: Partners) -> None:
        self.partners = partners
        self.owners_left, self.owners_right = partners.owners
        self.computations: dict[int, int] = {}  # lhs computation to rhs computation
        self.back: dict[int, int] = {}
        self.votes: Votes = defaultdict(Counter)
        self.nested: Votes = defaultdict(Counter)  # with what is nested inside, on both sides

    def run(self) -> None:
        """Pairs computations, then the wrappers that run them, then wires."""
        self._vote()
        self._pair_computations()
        while self._pair_wires():
            pass
        self._pair_in_place()

    def groups(self) -> tuple[Group, ...]:
        """Fusions whose contents are found in several of the other side's, and the other way."""
        forward = self._spread(self.votes, self.partners.lhs, self.partners.rhs)
        mirrored: Votes = defaultdict(Counter)
        for left, counter in self.votes.items():
            for right, count in counter.items():
                mirrored[right][left] += count
        backward = self._spread(mirrored, self.partners.rhs, self.partners.lhs)
        lhs, rhs = self.partners.lhs, self.partners.rhs
        found = {Group(_refs(lhs, [one]), _refs(rhs, several), "split") for one, several in forward}
        found |= {
            Group(_refs(lhs, several), _refs(rhs, [one]), "merged") for one, several in backward
        }
        return tuple(sorted(found))

    def _spread(
        self, votes: Votes, one: CanonicalModule, other: CanonicalModule
    ) -> list[tuple[int, list[int]]]:
        """Fusions whose contents lie in at least two computations of the other side."""
        found = []
        for computation, counter in sorted(votes.items()):
            wrapper = one.inlined[computation]
            if wrapper < 0 or len(counter) < 2:
                continue
            fusions = [other.inlined[c] for c in sorted(counter) if other.inlined[c] >= 0]
            if len(fusions) >= 2:
                found.append((wrapper, fusions))
        return found

    def _vote(self) -> None:
        outer_left = _ancestors(self.partners.lhs, self.owners_left)
        outer_right = _ancestors(self.partners.rhs, self.owners_right)
        for left, right, count in votes(self.partners):
            self.votes[left][right] = count
            for mine in outer_left[left]:
                for other in outer_right[right]:
                    self.nested[mine][other] += count
        self.depths = [len(outer) for outer in outer_left], [len(outer) for outer in outer_right]

    def _pair_computations(self) -> None:
        """Best votes first, outer before inner; a pair of wrappers is a vote for their owners."""
        lhs, rhs = self.partners.lhs, self.partners.rhs
        if lhs.module.entry is not None and rhs.module.entry is not None:
            self._join(lhs.module.entry, rhs.module.entry)
        changed = True
        while changed:
            ballots = sorted(
                (-count, self.depths[0][left] + self.depths[1][right], left, right)
                for left, counter in self.nested.items()
                if left not in self.computations
                for right, count in counter.items()
                if right not in self.back
            )
            changed = False
            for _, _, left, right in ballots:
                if left not in self.computations and right not in self.back:
                    changed |= self._join(left, right)

    def _join(self, left: int, right: int) -> bool:
        self.computations[left] = right
        self.back[right] = left
        a, b = self.partners.lhs.inlined[left], self.partners.rhs.inlined[right]
        if a >= 0 and self.partners.forward[a] == b:
            self._join_siblings(a, b)
            return True
        if a < 0 or b < 0 or not self.partners.free(a, b) or not self._same_opcode(a, b):
            return True
        self.partners.pair(a, b, Rule.BOUNDARY, self._confidence(left, right))
        mine, other = self.owners_left[a], self.owners_right[b]
        self.votes[mine][other] += 1
        self.nested[mine][other] += 1
        self._join_siblings(a, b)
        return True

    def _join_siblings(self, left: int, right: int) -> None:
        """Condition and body, or the branches, of two paired wrappers."""
        lhs, rhs = self.partners.lhs.flow, self.partners.rhs.flow
        there = {role: self.owners_right[n] for role, n in rhs.called.get(right, ())}
        for role, node in lhs.called.get(left, ()):
            mine = self.owners_left[node]
            other = there.get(role)
            if other is not None and mine not in self.computations and other not in self.back:
                self.computations[mine] = other
                self.back[other] = mine

    def _same_opcode(self, left: int, right: int) -> bool:
        lhs, rhs = self.partners.lhs, self.partners.rhs
        a, b = lhs.labels[lhs.label_of[left]], rhs.labels[rhs.label_of[right]]
        return a.opcode == b.opcode

    def _confidence(self, left: int, right: int) -> float:
        total = max(self.nested[left].values(), default=0)
        return round(min(1.0, self.nested[left][right] / total), 2) if total else 0.5

    def _pair_wires(self) -> bool:
        """Wires of paired computations that hand on the same values; whether that joined more."""
        there: dict[object, list[int]] = defaultdict(list)
        for right in self._open(self.partners.rhs, self.owners_right, self.partners.backward):
            there[self._key_right(right)].append(right)
        for nodes in there.values():
            nodes.reverse()
        known = len(self.computations)
        for left in self._open(self.partners.lhs, self.owners_left, self.partners.forward):
            nodes = there.get(self._key_left(left), [])
            if nodes:
                self._pair_boundary(left, nodes.pop(), 1.0)
        return len(self.computations) > known

    def _pair_boundary(self, left: int, right: int, confidence: float) -> None:
        self.partners.pair(left, right, Rule.BOUNDARY, confidence)
        if self.partners.lhs.flow.kinds[left] == NodeKind.WRAPPER:
            self._join_siblings(left, right)

    def _open(
        self, side: CanonicalModule, owners: Sequence[int], partner: Sequence[int]
    ) -> list[int]:
        kinds = side.flow.kinds
        return [n for n in range(len(owners)) if partner[n] < 0 and kinds[n] in BOUNDARY]

    def _key_left(self, node: int) -> object:
        side, forward = self.partners.lhs, self.partners.forward
        held = sorted(forward[s] for s in side.flow.sources[node])
        if -1 in held:
            return None, node
        place = self.computations.get(self.owners_left[node], -1)
        return side.labels[side.label_of[node]], place, tuple(held)

    def _key_right(self, node: int) -> object:
        side = self.partners.rhs
        held = sorted(side.flow.sources[node])
        return side.labels[side.label_of[node]], self.owners_right[node], tuple(held)

    def _pair_in_place(self) -> None:
        """Wires at the same place: roots, single parameters, operands of paired instructions."""
        lhs, rhs = self.partners.lhs, self.partners.rhs
        for left, right in sorted(self.computations.items()):
            self._pair_if_free(_root(lhs, left), _root(rhs, right))
            mine, others = _parameters(lhs, left), _parameters(rhs, right)
            if len(mine) == len(others) == 1:
                self._pair_if_free(mine[0], others[0])
        for left in self._readers():
            right = self.partners.forward[left]
            if right < 0 or right >= rhs.count:
                continue
            for a, b in zip(_operands(lhs, left), _operands(rhs, right), strict=False):
                self._pair_if_free(a, b)

    def _readers(self) -> list[int]:
        """Instructions of lhs that read a wire or wrapper without partner, last first."""
        lhs, owners = self.partners.lhs, self.owners_left
        waiting: dict[int, set[int]] = defaultdict(set)  # by computation, places in it
        for node in self._open(lhs, owners, self.partners.forward):
            waiting[owners[node]].add(node - lhs.offsets[owners[node]])
        found = {
            lhs.offsets[number] + place
            for number, places in waiting.items()
            for place, ins in enumerate(lhs.module.computations[number].instructions)
            if not places.isdisjoint(ins.operands)
        }
        return [node for node in reversed(lhs.order) if node in found]

    def _pair_if_free(self, left: int, right: int) -> None:
        lhs, rhs = self.partners.lhs, self.partners.rhs
        kinds = (lhs.flow.kinds[left], rhs.flow.kinds[right])
        alike = kinds[0] == kinds[1] and kinds[0] in BOUNDARY and self._same_opcode(left, right)
        if alike and self.partners.free(left, right):
            self._pair_boundary(left, right, 0.8)


def _ancestors(side: CanonicalModule, owners: list[int]) -> list[tuple[int, ...]]:
    """Each computation with those that it is nested in, from the inside out."""
    found: list[tuple[int, ...]] = [()] * len(side.inlined)
    # callees come before their callers
    for number in range(len(found) - 1, -1, -1):
        wrapper = side.inlined[number]
        outer = found[owners[wrapper]] if wrapper >= 0 else ()
        found[number] = (number, *outer)
    return found


def _root(side: CanonicalModule, computation: int) -> int:
    return side.offsets[computation] + side.module.computations[computation].root


def _parameters(side: CanonicalModule, computation: int) -> list[int]:
    base = side.offsets[computation]
    instructions = side.module.computations[computation].instructions
    return [base + k for k, ins in enumerate(instructions) if ins.opcode == "parameter"]


def _operands(side: CanonicalModule, node: int) -> list[int]:
    ref = side.ref(node)
    if ref is None:
        return []
    base = side.offsets[ref.computation]
    return [base + o for o in side.instruction(ref).operands]


def _refs(side: CanonicalModule, nodes: Iterable[int]) -> tuple[Ref, ...]:
    return tuple(sorted(r for n in nodes if (r := side.ref(n)) is not None))
