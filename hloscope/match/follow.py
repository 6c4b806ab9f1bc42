"""Pairs along data flow: what surrounds two nodes says whether they are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from hloscope.hlo.edges import BACK, called_roots
from hloscope.match.classes import Sides, tied_classes
from hloscope.match.homes import Homes
from hloscope.match.parameters import are_two
from hloscope.match.partners import Partners
from hloscope.model.canonical import Label
from hloscope.model.hlo import Metadata
from hloscope.model.pairing import Ambiguity, Rule

# what a candidate pair has to reach; a label of the same opcode plus one neighbour in place does
ACCEPTED = 2.0
# points for agreement. Neighbours in place outweigh labels, labels outweigh where code comes from.
SAME_LABEL, SAME_SHAPE, SAME_EXTENTS, SAME_OPCODE = 3.0, 2.0, 1.5, 1.0
NEIGHBOURS = 3.0
ELSEWHERE = -2.0
SAME_OP_NAME, SAME_LINE = 0.4, 0.2
SAME_HOME = 0.5  # in computations that hold other pairs; as much against where they hold none
OTHER_OPCODE = -1.5
UNUSED = (0.2, 0.0)  # shares where neither node has neighbours: hardly an agreement
# evaluations allowed per unpaired node, over all turns
EVALUATIONS_PER_NODE = 64

FEW = 4  # so many are looked through faster than a set of them is made

Edges = list[tuple[int, int]]  # neighbours with slots
Neighbours = dict[int, Edges]


class Follower:
    """Grows the pairing from paired nodes to their neighbours, best candidates first."""

    def __init__(self, partners: Partners, sides: Sides) -> None:
        self.partners = partners
        self.sides = sides
        sides.look()
        self.left = _Around(partners, 0, sides)
        self.right = _Around(partners, 1, sides)
        self.heap: list[tuple[float, int, int, int, int]] = []
        self.rank_left, self.rank_right = sides.left.ranks, sides.right.ranks
        self._label_scores: dict[tuple[int, int], float] = {}
        self.homes = Homes(partners)
        self.spent = 0
        self.allowed = EVALUATIONS_PER_NODE * (len(self.left.open) + len(self.right.open) + 100)

    def run(self) -> None:
        """Pairs until nothing is left that its neighbours speak for."""
        for node in self.left.open:
            for left, right in dict.fromkeys(self._from_neighbours(node)):
                self._propose(left, right)
        self._drain()
        for lefts, rights in tied_classes(self.sides):
            self._pair_tied(lefts, rights)
        if self.spent >= self.allowed:
            self.partners.notes.append(
                f"stopped following data flow after {self.spent} comparisons;"
                " what is left may have partners that were not found"
            )

    def _drain(self) -> None:
        while self.heap and self.spent < self.allowed:
            negative, _, _, left, right = heappop(self.heap)
            if not self.partners.free(left, right):
                continue
            score = self.score(left, right)
            if score < -negative:
                self._push(score, left, right)
            else:
                self._accept(left, right, score)

    def _pair_tied(self, lefts: list[int], rights: list[int]) -> None:
        """Nodes that look alike from everywhere, in canonical order, each with what follows."""
        lefts = sorted(lefts, key=self.rank_left.__getitem__)
        rights = sorted(rights, key=self.rank_right.__getitem__)
        for left in lefts:
            free = [n for n in rights if self.partners.free(left, n)]
            if not free:
                continue
            self.partners.pair(left, free[0], Rule.SAME_CLASS, 0.5 if len(free) > 1 else 0.9)
            self.homes.note(left, free[0])
            if len(free) > 1:
                rivals = [(n, m) for n, m in zip(lefts, rights, strict=False)]
                self._note_rivals(left, free[0], rivals)
            for a, b in dict.fromkeys(self._around_pair(left, free[0])):
                self._propose(a, b)
            self._drain()

    def _accept(self, left: int, right: int, score: float) -> None:
        rivals = self._rivals(left, right, score)
        rule = self._rule(left, right)
        confidence = 0.5 if rivals else min(0.9, 0.5 + score / 20)
        if rivals:
            self._note_rivals(left, right, rivals)
        self.partners.pair(left, right, rule, round(confidence, 2))
        self.homes.note(left, right)
        for a, b in dict.fromkeys(self._around_pair(left, right)):
            self._propose(a, b)

    def _rivals(self, left: int, right: int, score: float) -> list[tuple[int, int]]:
        """Candidates for either node that score the same right now."""
        nearby = self.heap[: self.partners.budget.candidates]
        return [
            (a, b)
            for negative, _, _, a, b in nearby
            if -negative == score and (a == left) != (b == right) and self.partners.free(a, b)
        ]

    def _note_rivals(self, left: int, right: int, rivals: list[tuple[int, int]]) -> None:
        lhs = sorted(
            {r for n in (left, *(a for a, _ in rivals)) if (r := self.partners.lhs.ref(n))}
        )
        rhs = sorted(
            {r for n in (right, *(b for _, b in rivals)) if (r := self.partners.rhs.ref(n))}
        )
        if lhs and rhs:
            self.partners.ambiguous.append(
                Ambiguity(tuple(lhs), tuple(rhs), "look alike from everywhere that is paired")
            )

    def _rule(self, left: int, right: int) -> Rule:
        operands = self._share_in_place(*self._operands(left, right))[0]
        users = self._share_in_place(self.left.above(left), self.right.above(right))[0]
        return Rule.OPERANDS if operands >= users else Rule.USERS

    def _propose(self, left: int, right: int) -> None:
        if self.partners.free(left, right) and self.spent < self.allowed:
            self._push(self.score(left, right), left, right)

    def _push(self, score: float, left: int, right: int) -> None:
        if score >= ACCEPTED:
            a, b = self.rank_left[left], self.rank_right[right]
            heappush(self.heap, (-score, max(a, b), min(a, b), left, right))

    def _from_neighbours(self, left: int) -> Iterator[tuple[int, int]]:
        """Candidates for an unpaired lhs node, from its paired neighbours."""
        forward, limit = self.partners.forward, self.partners.budget.candidates
        for source, slot in self.left.below(left):
            if forward[source] >= 0:
                others = self.right.open_users.get(forward[source], ())
                yield from self._alike([(left, slot)], others, limit)
        for user, slot in self.left.above(left):
            if forward[user] >= 0:
                others = self.right.below(forward[user])
                yield from self._alike([(left, slot)], others, limit)

    def _around_pair(self, left: int, right: int) -> Iterator[tuple[int, int]]:
        """Candidates that a new pair speaks for."""
        limit = self.partners.budget.candidates
        yield from self._alike(self.left.below(left), self.right.below(right), limit)
        mine, others = self.left.open_users, self.right.open_users
        yield from self._alike(mine.get(left, ()), others.get(right, ()), limit)

    def _alike(
        self, left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]], limit: int
    ) -> Iterator[tuple[int, int]]:
        """Unpaired neighbours in the same slot with the same opcode; alone in it, with any."""
        backward, opcode = self.partners.backward, self.right.opcode
        free = [(slot, opcode(node), node) for node, slot in right if backward[node] < 0]
        if not free:
            return
        if len(free) > FEW:
            yield from self._alike_of_many(left, free, limit)
            return
        for node, slot in left:
            if self.partners.forward[node] < 0:
                mine = self.left.opcode(node)
                there = [(other, code) for at, code, other in free if at == slot]
                same = [other for other, code in there if code == mine][:limit]
                for other in same or ([there[0][0]] if len(there) == 1 else ()):
                    yield node, other

    def _alike_of_many(
        self, left: Sequence[tuple[int, int]], free: list[tuple[int, str, int]], limit: int
    ) -> Iterator[tuple[int, int]]:
        by_slot: dict[object, list[int]] = defaultdict(list)
        for slot, opcode, node in free:
            by_slot[slot].append(node)
            by_slot[slot, opcode].append(node)
        for node, slot in left:
            if self.partners.forward[node] < 0:
                same = by_slot.get((slot, self.left.opcode(node)), ())[:limit]
                alone = by_slot.get(slot, ())
                for other in same or (alone if len(alone) == 1 else ()):
                    yield node, other

    def score(self, left: int, right: int) -> float:
        """How much speaks for a pair; `ACCEPTED` is enough."""
        self.spent += 1
        if are_two(self.partners, left, right):
            return 0.0
        score = self._label_score(left, right)
        below = self._share_in_place(*self._operands(left, right))
        above = self._share_in_place(self.left.above(left), self.right.above(right))
        if left in self.left.outputs and right in self.right.outputs and above == UNUSED:
            above = (1.0, 0.0)  # both are results of the module, and nothing else
        if score < SAME_OPCODE and (below[0] < 1 or above[0] < 1):
            return 0.0
        score += SAME_HOME * self.homes.agree(left, right)
        score += NEIGHBOURS * (below[0] + above[0]) + ELSEWHERE * (below[1] + above[1])
        return score + origin_score(self.left.metadata(left), self.right.metadata(right))

    def _label_score(self, left: int, right: int) -> float:
        labels = self.left.side.label_of[left], self.right.side.label_of[right]
        found = self._label_scores.get(labels)
        if found is None:
            found = label_score(self.left.label(left), self.right.label(right))
            self._label_scores[labels] = found
        return found

    def _operands(self, left: int, right: int) -> tuple[Edges, Edges]:
        """What two nodes read; by no order where the order matters to one of them alone."""
        mine, others = self.left.below(left), self.right.below(right)
        if self.left.commutes(left) != self.right.commutes(right):
            return _without_order(mine), _without_order(others)
        return mine, others

    def _share_in_place(
        self, left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]
    ) -> tuple[float, float]:
        """Shares of neighbours that are paired with each other in place, and with others."""
        if not left or not right:
            return (0.0, 0.0) if left or right else UNUSED
        forward, backward = self.partners.forward, self.partners.backward
        there = right if len(right) < FEW else set(right)
        in_place = paired_left = paired_right = 0
        for node, slot in left:
            other = forward[node]
            if other >= 0:
                paired_left += 1
                in_place += (other, slot) in there
        for node, _ in right:
            paired_right += backward[node] >= 0
        most = max(len(left), len(right))
        # a neighbour that is new on one side speaks neither for nor against
        return in_place / most, max(0, min(paired_left, paired_right) - in_place) / most


class _Around:
    """Neighbours of the unpaired nodes of one side, with the slots of `hlo.edges`."""

    def __init__(self, partners: Partners, number: int, sides: Sides) -> None:
        self.side = (partners.lhs, partners.rhs)[number]
        self.edges = partners.edges[number]
        self._above: Neighbours = {}
        self._below: Neighbours = {}
        self._metadata: dict[int, Metadata | None] = {}
        self._opcodes = [label.opcode for label in self.side.labels]
        self.outputs = frozenset(self.side.flow.outputs)
        self.open: list[int] = sides.nodes[number].tolist()
        self.open_users: Neighbours = defaultdict(list)  # the unpaired ones, of any node
        for node in self.open:
            for source, slot in self.below(node):
                self.open_users[source].append((node, slot))

    def below(self, node: int) -> list[tuple[int, int]]:
        """(source, slot) of each operand; called computations count as operands of their role."""
        found = self._below.get(node)
        if found is None:
            found = self._below[node] = self._find_below(node)
        return found

    def _find_below(self, node: int) -> list[tuple[int, int]]:
        flow = self.side.flow
        if flow.commutative[node]:
            found = [(source, 0) for source in flow.sources[node]]
        else:
            found = [(source, k) for k, source in enumerate(flow.sources[node], start=1)]
        if node in flow.back:
            found.append((flow.back[node], BACK))
        if node in flow.called:
            found += called_roots(flow, node) or ()
        return found

    def commutes(self, node: int) -> bool:
        """Whether the order of a node's operands does not matter."""
        return bool(self.side.flow.commutative[node])

    def above(self, node: int) -> list[tuple[int, int]]:
        """(user, slot) of each use of a node."""
        found = self._above.get(node)
        if found is None:
            found = self._above[node] = list(self.edges.uses(node))
        return found

    def opcode(self, node: int) -> str:
        return self._opcodes[self.side.label_of[node]]

    def label(self, node: int) -> Label:
        return self.side.labels[self.side.label_of[node]]

    def metadata(self, node: int) -> Metadata | None:
        if node not in self._metadata:
            ref = self.side.ref(node)
            found = None if ref is None else self.side.instruction(ref).metadata
            self._metadata[node] = found
        return self._metadata[node]


def _without_order(neighbours: Edges) -> Edges:
    return [(node, 0 if 0 < slot < BACK else slot) for node, slot in neighbours]


def label_score(left: Label, right: Label) -> float:
    """Points for what two labels have in common."""
    if left == right:
        return SAME_LABEL
    if left.opcode != right.opcode:
        return OTHER_OPCODE
    if left.shape == right.shape:
        return SAME_SHAPE
    return SAME_EXTENTS if left.shape.dims == right.shape.dims else SAME_OPCODE


def origin_score(left: Metadata | None, right: Metadata | None) -> float:
    """Points for the same op name and source line, weak evidence both."""
    if left is None or right is None:
        return 0.0
    score = SAME_OP_NAME if left.op_name and left.op_name == right.op_name else 0.0
    if left.source_line and left[2:4] == right[2:4]:
        score += SAME_LINE
    return score
