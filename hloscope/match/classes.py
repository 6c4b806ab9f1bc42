"""Nodes that are alone of their kind on both sides, by colours of the two graphs together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from hloscope.hlo.colours import (
    MASK,
    ODD,
    Region,
    Uses,
    down_colours,
    label_digests,
    seeds,
    up_colours,
)
from hloscope.match.partners import Partners
from hloscope.model.canonical import CanonicalModule, Label
from hloscope.model.pairing import Rule

# the second round feeds back what loops carry; turns do what further rounds would
MAX_ROUNDS = 2
# each turn pairs what the turn before has anchored; most pairs are made in the first two
MAX_TURNS = 8
# while more than one in this many nodes is unpaired, one round over all nodes is the cheapest
MOST = 2
# how many steps a node's surroundings reach at most
WIDEST = 6
# another turn is taken while one pairs more than one in this many of what is left
WORTHWHILE = 100
_PAIRED = 0x452821E638D01377  # sets pairs' colours apart from all others

Loosen = Callable[[Label], Label]
Colours = Sequence[int] | Mapping[int, int]


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
    """One side's colours, given what is paired; seeds are made once for each loosening."""

    def __init__(self, module: CanonicalModule, hidden: bytes) -> None:
        self.module = module
        self.flow = module.flow
        self.outputs = dict.fromkeys(module.flow.outputs, 1)
        self.hidden = hidden
        self.seeds: dict[Loosen, list[int]] = {}
        self.start: list[int] = []
        self.down: list[int] = []
        self.up: list[int] = []

    def anchor(self, anchors: dict[int, int], loosen: Loosen, nodes: Sequence[int]) -> None:
        """Colours the anchored nodes as given, and the others for the first time."""
        if loosen not in self.seeds:
            digests = label_digests([loosen(label) for label in self.module.labels])
            self.seeds[loosen] = seeds(self.module.label_of, digests)
        self.start = self.seeds[loosen]
        self.down = list(self.start)
        for node, colour in anchors.items():
            self.down[node] = colour
        if MOST * len(nodes) > len(self.start):
            flow = self.flow
            down_colours(
                flow, self.start, self.down, [n for n in flow.topological if n not in anchors]
            )
            self.up = up_colours(flow, self.start, self.outputs, anchors)
        else:
            self.up = list(self.down)

    def refine(self, region: Region) -> None:
        """One more round."""
        region.down(self.start, self.down)
        region.up(self.start, self.up, self.outputs)

    def both(self, nodes: Iterable[int]) -> dict[int, int]:
        """Both colours of some nodes, mixed."""
        down, up = self.down, self.up
        return {n: ((down[n] ^ (up[n] * ODD)) * ODD) & MASK for n in nodes}


def pair_classes(partners: Partners) -> None:
    """Pairs what is alone in its class, from full labels down to bare opcodes.

    Pairs made so far are anchors: their colour is the pair's, so a difference on one side of an
    anchor is not seen from the other. The looser the labels, the more has to agree around a node.
    """
    sides = Side(partners.lhs, partners.hidden[0]), Side(partners.rhs, partners.hidden[1])
    steps: tuple[tuple[Callable[[_Nodes], int], int], ...] = (
        (partial(_turn, partners, sides, exact), 1),
        # nearby before far: one difference at each end of a program hides most of it from afar
        (partial(_local_turn, partners, sides), MAX_TURNS),
        (partial(_turn, partners, sides, exact), MAX_TURNS),
        (partial(_turn, partners, sides, without_types), MAX_TURNS),
        (partial(_turn, partners, sides, opcode_alone), MAX_TURNS),
    )
    for turn, most in steps:
        _repeat(partners, sides, turn, most)


def _repeat(
    partners: Partners, sides: tuple[Side, Side], turn: Callable[[_Nodes], int], most: int
) -> None:
    """Takes turns while each pairs enough of what is left to be worth its cost."""
    for _ in range(most):
        nodes = _Nodes(partners, sides)
        if not nodes.left or not nodes.right:
            return
        few = (len(nodes.left) + len(nodes.right)) // WORTHWHILE
        if turn(nodes) <= few:
            return


def _turn(partners: Partners, sides: tuple[Side, Side], loosen: Loosen, nodes: _Nodes) -> int:
    left, right = sides
    _colour(partners, sides, loosen, (nodes.left, nodes.right))
    full = loosen is exact
    both = left.both(nodes.left), right.both(nodes.right)
    made = nodes.pair_unique(*both, Rule.SAME_CLASS, 1.0 if full else 0.85)
    made += nodes.pair_unique(left.down, right.down, Rule.SAME_INPUTS, 0.95 if full else 0.75)
    made += nodes.pair_unique(left.up, right.up, Rule.SAME_USES, 0.9 if full else 0.7)
    return made


def _local_turn(partners: Partners, sides: tuple[Side, Side], nodes: _Nodes) -> int:
    """Pairs what is alone in its class within some steps, whatever lies farther away.

    Between two differences nothing looks the same down to the inputs or up to the outputs; it
    still looks the same nearby, and anchors nearby tell equal layers apart. Widest view first.
    """
    anchors = _anchors(partners)
    left, right = (
        _views(side, side.seeds[exact], given, open_nodes, uses)
        for side, given, open_nodes, uses in zip(
            sides, anchors, (nodes.left, nodes.right), partners.uses, strict=True
        )
    )
    made = 0
    for radius in range(WIDEST, 1, -1):
        confidence = round(0.6 + 0.05 * radius, 2)
        made += nodes.pair_unique(left[radius], right[radius], Rule.SAME_SURROUNDINGS, confidence)
    return made


def _views(
    side: Side, start: Sequence[int], anchors: Mapping[int, int], nodes: Sequence[int], users: Uses
) -> list[list[int]]:
    """Colours of the nodes by what lies within 0, 1, ... `WIDEST` steps."""
    colours = list(start)
    for node, colour in anchors.items():
        colours[node] = colour
    region = Region(side.flow, nodes, users)
    views = [colours]
    for _ in range(WIDEST):
        colours = list(colours)
        region.around(colours)
        views.append(colours)
    return views


def _anchors(partners: Partners) -> tuple[dict[int, int], dict[int, int]]:
    """The colour of each paired node of each side, the same for both nodes of a pair."""
    colours = [((a * ODD) ^ _PAIRED) & MASK for a in range(len(partners.forward))]
    return (
        {a: colours[a] for a, b in enumerate(partners.forward) if b >= 0},
        {b: colours[a] for b, a in enumerate(partners.backward) if a >= 0},
    )


def _colour(
    partners: Partners,
    sides: tuple[Side, Side],
    loosen: Loosen,
    nodes: tuple[Sequence[int], Sequence[int]],
) -> None:
    """Colours both sides; refines where few enough nodes are left for rounds to be cheap."""
    left, right = sides
    anchors = _anchors(partners)
    left.anchor(anchors[0], loosen, nodes[0])
    right.anchor(anchors[1], loosen, nodes[1])
    if MOST * len(nodes[0]) > len(left.start) or MOST * len(nodes[1]) > len(right.start):
        return
    regions = (
        Region(left.flow, nodes[0], partners.uses[0]),
        Region(right.flow, nodes[1], partners.uses[1]),
    )
    loops = any(
        slot in side.flow.back for side, given in zip(sides, nodes, strict=True) for slot in given
    )
    for _ in range(MAX_ROUNDS if loops else 1):
        left.refine(regions[0])
        right.refine(regions[1])


def tied_classes(
    partners: Partners, left: Sequence[int], right: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """Nodes, of those given, that both sides have in a class; smallest classes first."""
    if not left or not right:
        return []
    sides = Side(partners.lhs, partners.hidden[0]), Side(partners.rhs, partners.hidden[1])
    _colour(partners, sides, exact, (left, right))
    there = _by_colour(sides[1].both(right), right)
    found = [
        (nodes, there[colour], colour)
        for colour, nodes in _by_colour(sides[0].both(left), left).items()
        if colour in there
    ]
    found.sort(key=lambda entry: (len(entry[0]) + len(entry[1]), entry[2]))
    return [(mine, others) for mine, others, _ in found]


def _by_colour(colours: Mapping[int, int], nodes: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for node in nodes:
        found.setdefault(colours[node], []).append(node)
    return found


class _Nodes:
    """The nodes that computing or carrying values makes comparable, and that have no partner."""

    def __init__(self, partners: Partners, sides: tuple[Side, Side]) -> None:
        self.partners = partners
        self.left = _unpaired(sides[0].hidden, partners.forward)
        self.right = _unpaired(sides[1].hidden, partners.backward)

    def pair_unique(self, left: Colours, right: Colours, rule: Rule, confidence: float) -> int:
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


def _unpaired(hidden: bytes, partner: Sequence[int]) -> list[int]:
    return [n for n, other in enumerate(partner) if other < 0 and not hidden[n]]


def _alone(colours: Colours, nodes: Iterable[int]) -> dict[int, int]:
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
