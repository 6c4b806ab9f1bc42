"""Nodes that are alone of their kind on both sides, by colours of the two graphs together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hloscope.hlo.colours import down_colours, label_digests, mix, seeds, up_colours
from hloscope.match.partners import Partners, looked_through
from hloscope.model.canonical import CanonicalModule, Label
from hloscope.model.pairing import Rule

# loops nest a few levels deep; each round of refinement feeds one level back
MAX_ROUNDS = 6
# each turn pairs what the turn before has anchored; most pairs are made in the first two
MAX_TURNS = 8
_PAIRED = 0x452821E638D01377  # sets pairs' colours apart from all others

Loosen = Callable[[Label], Label]


def exact(label: Label) -> Label:
    """All of a label."""
    return label


def without_types(label: Label) -> Label:
    """What survives a change of dtype or of an attribute: opcode and extents."""
    return Label(label.opcode, label.shape._replace(dtype="", elements=(), rest=""))


def opcode_alone(label: Label) -> Label:
    """What survives a change of shape."""
    return Label(label.opcode, label.shape._replace(dtype="", dims=(), elements=(), rest=""))


class Side:
    """One side's colours, given what is paired."""

    def __init__(self, module: CanonicalModule, loosen: Loosen, anchors: Mapping[int, int]) -> None:
        self.flow = module.flow
        self.start = seeds(module.label_of, label_digests([loosen(x) for x in module.labels]))
        self.anchors = anchors
        self.outputs = dict.fromkeys(module.flow.outputs, 1)
        self.down: list[int] = []
        self.up: list[int] = []

    def refine(self) -> int:
        """One more round; returns how many loop slots can be told apart."""
        self.down = down_colours(self.flow, self.start, self.down, self.anchors)
        self.up = up_colours(self.flow, self.start, self.outputs, self.up, self.anchors)
        return len({(self.down[slot], self.up[slot]) for slot in self.flow.back})

    def both(self) -> list[int]:
        """Both colours mixed."""
        return [mix(d, u) for d, u in zip(self.down, self.up, strict=True)]


def pair_classes(partners: Partners) -> None:
    """Pairs what is alone in its class, from full labels down to bare opcodes.

    Pairs made so far are anchors: their colour is the pair's, so a difference on one side of an
    anchor is not seen from the other. The looser the labels, the more has to agree around a node.
    """
    for loosen in (exact, without_types, opcode_alone):
        for _ in range(MAX_TURNS):
            if not _turn(partners, loosen):
                break


def _turn(partners: Partners, loosen: Loosen) -> int:
    nodes = _Nodes(partners)
    if not nodes.left or not nodes.right:
        return 0
    left, right = _coloured(partners, loosen)
    full = loosen is exact
    made = nodes.pair_unique(left.both(), right.both(), Rule.SAME_CLASS, 1.0 if full else 0.85)
    made += nodes.pair_unique(left.down, right.down, Rule.SAME_INPUTS, 0.95 if full else 0.75)
    made += nodes.pair_unique(left.up, right.up, Rule.SAME_USES, 0.9 if full else 0.7)
    return made


def _coloured(partners: Partners, loosen: Loosen) -> tuple[Side, Side]:
    pairs = [(a, b) for a, b in enumerate(partners.forward) if b >= 0]
    colours = [mix(_PAIRED, a) for a, _ in pairs]
    left = Side(partners.lhs, loosen, {a: c for (a, _), c in zip(pairs, colours, strict=True)})
    right = Side(partners.rhs, loosen, {b: c for (_, b), c in zip(pairs, colours, strict=True)})
    known = -1
    for _ in range(MAX_ROUNDS):
        found = left.refine() + right.refine()
        if found == known or found == len(left.flow.back) + len(right.flow.back):
            break
        known = found
    return left, right


def tied_classes(
    partners: Partners, left: Sequence[int], right: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """Nodes, of those given, that both sides have in a class; smallest classes first."""
    if not left or not right:
        return []
    lefts, rights = _coloured(partners, exact)
    there = _by_colour(rights.both(), right)
    found = [
        (nodes, there[colour], colour)
        for colour, nodes in _by_colour(lefts.both(), left).items()
        if colour in there
    ]
    found.sort(key=lambda entry: (len(entry[0]) + len(entry[1]), entry[2]))
    return [(mine, others) for mine, others, _ in found]


def _by_colour(colours: Sequence[int], nodes: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for node in nodes:
        found.setdefault(colours[node], []).append(node)
    return found


class _Nodes:
    """The nodes that computing or carrying values makes comparable, and that have no partner."""

    def __init__(self, partners: Partners) -> None:
        self.partners = partners
        self.left = _unpaired(partners.lhs, partners.forward)
        self.right = _unpaired(partners.rhs, partners.backward)

    def pair_unique(
        self, left: Sequence[int], right: Sequence[int], rule: Rule, confidence: float
    ) -> int:
        """Pairs the nodes whose colour no other node on their side has."""
        partners, made = self.partners, 0
        others = _alone(right, self.right)
        for colour, node in _alone(left, self.left).items():
            other = others.get(colour)
            if other is None or _bare(partners, node, other, rule):
                continue
            partners.pair(node, other, rule, confidence)
            made += 1
        if made:
            self.left = [n for n in self.left if partners.forward[n] < 0]
            self.right = [n for n in self.right if partners.backward[n] < 0]
        return made


def _unpaired(side: CanonicalModule, partner: Sequence[int]) -> list[int]:
    hidden = looked_through(side.flow)
    return [n for n, other in enumerate(partner) if other < 0 and not hidden[n]]


def _alone(colours: Sequence[int], nodes: Iterable[int]) -> dict[int, int]:
    """Colour to its node, for colours that one node alone has."""
    found: dict[int, int] = {}
    for node in nodes:
        colour = colours[node]
        found[colour] = -1 if colour in found else node
    return {colour: node for colour, node in found.items() if node >= 0}


def _bare(partners: Partners, left: int, right: int, rule: Rule) -> bool:
    """Whether only the label speaks for the pair: constants look alike from below."""
    if rule is not Rule.SAME_INPUTS:
        return False
    lhs, rhs = partners.lhs.flow, partners.rhs.flow
    return not (lhs.sources[left] or rhs.sources[right] or left in lhs.called)
