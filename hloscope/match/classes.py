"""Nodes that are alone of their kind on both sides, by colours of the two graphs together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from hloscope.hlo.colours import ODD, Region, down_colours, label_digests, up_colours
from hloscope.hlo.edges import Numbers
from hloscope.match.callers import Callers
from hloscope.match.crossed import uncrossed
from hloscope.match.parameters import are_two
from hloscope.match.partners import Partners
from hloscope.match.surroundings import Colours, Surroundings, alone_on_both
from hloscope.model.canonical import CanonicalModule, Label
from hloscope.model.pairing import Rule

# the second round feeds back what loops carry; turns do what further rounds would
MAX_ROUNDS = 2
# each turn pairs what the turn before has anchored; most pairs are made in the first two
MAX_TURNS = 8
# anchors creep a few steps in each local turn, and a turn costs a tenth of a full one
MAX_LOCAL_TURNS = 64
# while more than one in this many nodes is unpaired, one round over all nodes is the cheapest
MOST = 2
# how many steps a node's surroundings reach at most
WIDEST = 6
# another turn is taken while one pairs more than one in this many of what is left
WORTHWHILE = 100
_ODD = np.uint64(ODD)
_PAIRED = np.uint64(0x452821E638D01377)  # sets pairs' colours apart from all others

# in computations that are called by value all looks the same to them, whoever calls
_BLIND_TO_CALLERS = frozenset({Rule.SAME_INPUTS, Rule.SAME_SURROUNDINGS})

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
    """One side's colours, given what is paired; seeds are made once for each loosening."""

    def __init__(self, partners: Partners, number: int) -> None:
        self.module: CanonicalModule = (partners.lhs, partners.rhs)[number]
        self.flow = self.module.flow
        self.edges = partners.edges[number]
        self.hidden: NDArray[np.bool_] = np.frombuffer(partners.hidden[number], np.bool_)
        self.partner = (partners.forward, partners.backward)[number]
        self.outputs = dict.fromkeys(self.flow.outputs, 1)
        self.count = len(self.module.label_of)
        self._seeds: dict[Loosen, Colours] = {}
        self._starts: dict[Loosen, list[int]] = {}
        self.start: list[int] = []
        self.down: list[int] = []
        self.up: list[int] = []

    @cached_property
    def ranks(self) -> list[int]:
        """Node to its place in the canonical order."""
        places: list[int] = _places(self.module.order).tolist()
        return places

    @cached_property
    def _depth(self) -> Numbers:
        return _places(self.flow.topological)

    def along_flow(self, nodes: Numbers) -> list[int]:
        """The nodes in topological order."""
        along: list[int] = nodes[np.argsort(self._depth[nodes])].tolist()
        return along

    def unpaired(self) -> Numbers:
        """The nodes that computing or carrying values makes comparable, and without partner."""
        return np.flatnonzero((np.frombuffer(self.partner, np.int64) < 0) & ~self.hidden)

    def seeds(self, loosen: Loosen) -> Colours:
        """64 bits for what each node is."""
        if loosen not in self._seeds:
            loosened = [loosen(label) for label in self.module.labels]
            distinct = list(dict.fromkeys(loosened))
            of_label = dict(zip(distinct, label_digests(distinct), strict=True))
            table = np.frombuffer(b"".join([of_label[one][:8] for one in loosened]), "<u8")
            self._seeds[loosen] = table.astype(np.uint64)[np.array(self.module.label_of)]
        return self._seeds[loosen]

    def anchored(self, loosen: Loosen, given: Colours) -> Colours:
        """The seeds, paired nodes in the colour of the pair."""
        return np.where(given != 0, given, self.seeds(loosen))

    def colour(self, loosen: Loosen, given: Colours, nodes: Numbers) -> None:
        """Colours the anchored nodes as given, and the others for the first time."""
        if loosen not in self._starts:
            self._starts[loosen] = self.seeds(loosen).tolist()
        self.start = self._starts[loosen]
        self.down = self.anchored(loosen, given).tolist()
        if not _is_most(self, nodes):
            self.up = list(self.down)
            return
        flow, fixed = self.flow, given.tolist()
        down_colours(flow, self.start, self.down, [n for n in flow.topological if not fixed[n]])
        self.up = up_colours(flow, self.start, self.outputs, fixed)

    def refine(self, region: Region) -> None:
        """One more round."""
        region.down(self.start, self.down)
        region.up(self.start, self.up, self.outputs)

    def below(self, nodes: Numbers) -> Colours:
        """Colours of some nodes by what they compute from."""
        return _picked(self.down, nodes)

    def above(self, nodes: Numbers) -> Colours:
        """Colours of some nodes by what becomes of their values."""
        return _picked(self.up, nodes)

    def both(self, nodes: Numbers) -> Colours:
        """Both colours of some nodes, mixed."""
        return (self.below(nodes) ^ (self.above(nodes) * _ODD)) * _ODD


def _places(order: Sequence[int]) -> Numbers:
    places = np.empty(len(order), np.int64)
    places[np.fromiter(order, np.int64, len(order))] = np.arange(len(order))
    return places


def _picked(colours: Sequence[int], nodes: Numbers) -> Colours:
    return np.array([colours[node] for node in nodes.tolist()], np.uint64)


class Sides:
    """Both sides with the nodes that are left of each."""

    def __init__(self, partners: Partners) -> None:
        self.partners = partners
        self.callers = Callers(partners)
        self.orphaned = False  # whether only nodes are left that no paired caller speaks for
        self.both = self.left, self.right = Side(partners, 0), Side(partners, 1)
        self._named = _named(partners.lhs), _named(partners.rhs)
        self.look()

    def look(self) -> None:
        """Sees again which nodes have no partner."""
        self.nodes = self.left.unpaired(), self.right.unpaired()

    def given(self) -> tuple[Colours, Colours]:
        """The colour of each node that is paired, equal for both of a pair; 0 for the others."""
        forward, backward = (np.frombuffer(side.partner, np.int64) for side in self.both)
        colours = (np.arange(len(forward)).astype(np.uint64) * _ODD) ^ _PAIRED
        nothing = np.uint64(0)
        mine = np.where(forward >= 0, colours, nothing)
        return mine, np.where(backward >= 0, colours[backward], nothing)

    def pair_unique(
        self, left: Colours, right: Colours, rule: Rule, confidence: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Pairs the nodes, of those left, whose colour no other node on their side has.

        Returns:
          Of each side's nodes, which of them still are without partner.
        """
        places = alone_on_both(left, right)
        if rule in _BLIND_TO_CALLERS and not self.orphaned:
            telling = self.callers.tell(self.nodes[0][places[0]], self.nodes[1][places[1]])
            places = places[0][telling], places[1][telling]
        if rule is Rule.SAME_INPUTS:
            places = self._telling(*places)
        places = self._without_two(*places)
        kept = np.ones(len(left), np.bool_), np.ones(len(right), np.bool_)
        for mask, at in zip(kept, places, strict=True):
            mask[at] = False
        mine, others = (nodes[at].tolist() for nodes, at in zip(self.nodes, places, strict=True))
        others = uncrossed(self.partners, mine, others)
        self.partners.pair_all(mine, others, rule, confidence)
        self.nodes = self.nodes[0][kept[0]], self.nodes[1][kept[1]]
        return kept

    def _without_two(self, left: Numbers, right: Numbers) -> tuple[Numbers, Numbers]:
        """Without pairs of arguments that have nothing but their neighbours in common."""
        nodes = self.nodes[0][left], self.nodes[1][right]
        two = self._named[0][nodes[0]] & self._named[1][nodes[1]]
        for place in np.flatnonzero(two).tolist():
            two[place] = are_two(self.partners, int(nodes[0][place]), int(nodes[1][place]))
        return left[~two], right[~two]

    def _telling(self, left: Numbers, right: Numbers) -> tuple[Numbers, Numbers]:
        """Without pairs that only a label speaks for: constants look alike from below."""
        lhs, rhs = self.left.flow, self.right.flow
        pairs = zip(self.nodes[0][left].tolist(), self.nodes[1][right].tolist(), strict=True)
        telling = [bool(lhs.sources[a] or rhs.sources[b] or a in lhs.called) for a, b in pairs]
        return left[telling], right[telling]


def _named(side: CanonicalModule) -> NDArray[np.bool_]:
    """Which nodes are arguments with a state path."""
    named = np.zeros(len(side.label_of), np.bool_)
    named[list(side.paths)] = True
    return named


def pair_classes(sides: Sides) -> None:
    """Pairs what is alone in its class, from full labels down to bare opcodes.

    Pairs made so far are anchors: their colour is the pair's, so a difference on one side of an
    anchor is not seen from the other. The looser the labels, the more has to agree around a node.
    """
    steps: tuple[tuple[Callable[[Sides], None], int], ...] = (
        (partial(_turn, exact), 1),
        # nearby before far: one difference at each end of a program hides most of it from afar
        (_local_turn, MAX_LOCAL_TURNS),
        (partial(_turn, exact), MAX_TURNS),
        (_local_turn, MAX_LOCAL_TURNS),
        (partial(_turn, without_types), MAX_TURNS),
        (partial(_turn, opcode_alone), MAX_TURNS),
    )
    for turn, most in steps:
        _repeat(sides, turn, most)


def pair_orphans(sides: Sides) -> None:
    """Pairs by class what computations hold whose callers have no partners."""
    sides.look()
    sides.nodes = (
        sides.callers.orphans(0, sides.nodes[0]),
        sides.callers.orphans(1, sides.nodes[1]),
    )
    sides.orphaned = True
    for turn in (partial(_turn, exact), _local_turn):
        _repeat(sides, turn, 1)
    sides.orphaned = False


def _repeat(sides: Sides, turn: Callable[[Sides], None], most: int) -> None:
    """Takes turns while each pairs enough of what is left to be worth its cost."""
    for _ in range(most):
        left, right = map(len, sides.nodes)
        if not left or not right:
            return
        turn(sides)
        if left - len(sides.nodes[0]) <= (left + right) // WORTHWHILE:
            return


def _turn(loosen: Loosen, sides: Sides) -> None:
    _colour(sides, loosen)
    full = loosen is exact
    for pick, rule, confidence in (
        (Side.both, Rule.SAME_CLASS, 1.0 if full else 0.85),
        (Side.below, Rule.SAME_INPUTS, 0.95 if full else 0.75),
        (Side.above, Rule.SAME_USES, 0.9 if full else 0.7),
    ):
        colours = pick(sides.left, sides.nodes[0]), pick(sides.right, sides.nodes[1])
        sides.pair_unique(*colours, rule, confidence)


def _local_turn(sides: Sides) -> None:
    """Pairs what is alone in its class within some steps, whatever lies farther away.

    Between two differences nothing looks the same down to the inputs or up to the outputs; it
    still looks the same nearby, and anchors nearby tell equal layers apart. Widest view first.
    """
    given = sides.given()
    left = _views(sides.left, given[0], sides.nodes[0])
    right = _views(sides.right, given[1], sides.nodes[1])
    for radius in range(WIDEST, 1, -1):
        confidence = round(0.6 + 0.05 * radius, 2)
        kept = sides.pair_unique(left[radius], right[radius], Rule.SAME_SURROUNDINGS, confidence)
        left, right = [v[kept[0]] for v in left], [v[kept[1]] for v in right]


def _views(side: Side, given: Colours, nodes: Numbers) -> list[Colours]:
    """Colours of the nodes by what lies within 0, 1, ... `WIDEST` steps."""
    colours = side.anchored(exact, given)
    around = Surroundings(side.edges, nodes)
    views = [colours[nodes]]
    for _ in range(WIDEST):
        colours = around.step(colours)
        views.append(colours[nodes])
    return views


def _colour(sides: Sides, loosen: Loosen) -> None:
    """Colours both sides; refines where few enough nodes are left for rounds to be cheap."""
    for side, given, nodes in zip(sides.both, sides.given(), sides.nodes, strict=True):
        side.colour(loosen, given, nodes)
    if any(map(_is_most, sides.both, sides.nodes)):
        return
    regions = [
        Region(side.flow, side.along_flow(nodes), side.edges.uses)
        for side, nodes in zip(sides.both, sides.nodes, strict=True)
    ]
    loops = any(slot in region.flow.back for region in regions for slot in region.nodes)
    for _ in range(MAX_ROUNDS if loops else 1):
        for side, region in zip(sides.both, regions, strict=True):
            side.refine(region)


def _is_most(side: Side, nodes: Numbers) -> bool:
    return MOST * len(nodes) > side.count


def tied_classes(sides: Sides) -> list[tuple[list[int], list[int]]]:
    """Unpaired nodes that both sides have in a class; smallest classes first."""
    sides.look()
    if not all(map(len, sides.nodes)):
        return []
    _colour(sides, exact)
    left, right = (
        _by_colour(side.both(nodes).tolist(), nodes.tolist())
        for side, nodes in zip((sides.left, sides.right), sides.nodes, strict=True)
    )
    found = [(nodes, right[colour], colour) for colour, nodes in left.items() if colour in right]
    found.sort(key=lambda entry: (len(entry[0]) + len(entry[1]), entry[2]))
    return [(mine, others) for mine, others, _ in found]


def _by_colour(colours: Sequence[int], nodes: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for node, colour in zip(nodes, colours, strict=True):
        found.setdefault(colour, []).append(node)
    return found
