"""The canonical order of a graph's nodes, and its hash.

Nodes are numbered along data flow, from the module's results back to its inputs, so the order
depends on the graph alone. Where order is free (results, operands of commutative operations, what
no result needs) colours decide; nodes that colours cannot tell apart look alike from everywhere,
and the walk takes them one after the other.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from sys import byteorder
from typing import NamedTuple

from hloscope.hlo.colours import MASK, ODD, Region, down_colours, mix, up_colours
from hloscope.hlo.edges import Edges
from hloscope.model.canonical import Alias, Flow, NodeKind

# rounds of refinement end when they tell no more slots apart; nested loops need one per level
MAX_ROUNDS = 8
# separators of the hashed number stream; every other number in it is a position from 0 up
_END, _CONTROL, _CALLED, _ALIAS, _SCHEDULE = -1, -2, -3, -4, -5


def ranks_among_equals(
    parameters: Sequence[int], keys: Sequence[tuple[object, ...]], plain: Sequence[int]
) -> dict[int, int]:
    """The rank of each entry parameter, by key, among those that are alike."""
    groups: dict[int, list[tuple[tuple[object, ...], int]]] = {}
    for node, key in zip(parameters, keys, strict=True):
        groups.setdefault(plain[node], []).append((key, node))
    return {
        node: rank for members in groups.values() for rank, (_, node) in enumerate(sorted(members))
    }


def settled_colours(flow: Flow, start: Sequence[int], marks: Mapping[int, int]) -> list[int]:
    """Colours that no further round splits: equal for nodes that look alike from everywhere.

    After a first round over all nodes, only those that share their colour are refined.
    """
    down = [0] * len(start)
    down_colours(flow, start, down, flow.topological)
    both = _mixed(down, up_colours(flow, down, marks))
    tied = _tied(flow, both)
    if not tied:
        return both
    region, classes = Region(flow, tied, Edges(flow).uses), 0
    for _ in range(MAX_ROUNDS):
        down, up = list(both), list(both)
        region.down(both, down)
        region.up(down, up, marks)
        for node in region.nodes:
            both[node] = mix(down[node], up[node])
        found = len({both[node] for node in region.nodes})
        if found in (classes, len(region.nodes)):
            break
        classes = found
    return both


def _mixed(down: Sequence[int], up: Sequence[int]) -> list[int]:
    """`mix` of each pair, without the cost of a call."""
    return [((d ^ (u * ODD)) * ODD) & MASK for d, u in zip(down, up, strict=True)]


def _tied(flow: Flow, colours: Sequence[int]) -> list[int]:
    """Nodes, wires apart, whose colour another node has too, in topological order."""
    counts = Counter(colours)
    kinds, wire = flow.kinds, NodeKind.WIRE
    return [n for n in flow.topological if counts[colours[n]] > 1 and kinds[n] != wire]


class Owners(NamedTuple):
    """Where nodes live.

    Attributes:
      computations: the computation of each instruction's node.
      wrappers: computation to the wrapper node that inlines it, -1 for none.
    """

    computations: Sequence[int]
    wrappers: Sequence[int]


def canonical_order(
    flow: Flow,
    colours: Sequence[int],
    owners: Owners,
    places: Sequence[int],
    dead: Set[int] = frozenset(),
) -> list[int]:
    """Every node once, results first and then along data flow.

    Args:
      flow: the graph.
      colours: equal for nodes that look alike from everywhere.
      owners: where nodes live.
      places: the place of each node in its computation, where the order is the program's; the
        last word between nodes that are alike, so that equal schedules stay equal.
      dead: wires to leave out.
    """
    walk = _Walk(flow, colours, owners, places)
    walk.visit_all(set(flow.outputs))
    boundary = (NodeKind.WIRE, NodeKind.WRAPPER)
    left = [n for n, kind in enumerate(flow.kinds) if kind not in boundary and walk.number[n] < 0]
    used = {below for node in left for below in (*flow.sources[node], *_roots(flow, node))}
    walk.visit_all(node for node in left if node not in used)
    walk.visit_all(left)
    return walk.order + _boundaries(walk, dead)


class _Walk:
    """Numbers nodes along data flow, sources before users but for loop slots."""

    def __init__(
        self, flow: Flow, colours: Sequence[int], owners: Owners, places: Sequence[int]
    ) -> None:
        self.flow = flow
        self.inlined = owners.wrappers
        self.places = places
        self.colours = colours
        self.owners = owners.computations
        self.number = [-1] * len(colours)
        self.order: list[int] = []
        self.first: dict[int, int] = {}  # computation to the first number given out in it
        self.loops = _loops(flow)
        self.nests = self._nests()

    def _nests(self) -> list[int]:
        """What each computation is inlined into: equal for computations that are nested alike."""
        nests = [0] * len(self.inlined)
        # callees come before their callers
        for computation in range(len(self.inlined) - 1, -1, -1):
            wrapper = self.inlined[computation]
            if wrapper >= 0:
                nests[computation] = mix(self.colours[wrapper], nests[self.owners[wrapper]], 1)
        return nests

    def _nest(self, node: int) -> int:
        return self.nests[self.owners[node]] if node < len(self.owners) else 0

    def visit_all(self, starts: Iterable[int]) -> None:
        """Visits by colour; what colours cannot tell apart by what is numbered around it."""
        groups: dict[int, list[int]] = {}
        for node in starts:
            groups.setdefault(self.colours[node], []).append(node)
        for colour in sorted(groups):
            group = groups[colour]
            if len(group) > 1:
                group.sort(key=self._surroundings)
            for node in group:
                self._visit(node)

    def _surroundings(self, node: int) -> tuple[int, int, list[int], int]:
        last = len(self.number)
        place = self.first.get(self.owners[node], last) if node < len(self.owners) else last
        below = (*self.flow.sources[node], *_roots(self.flow, node))
        known = [self.number[n] for n in below]
        known = [n if n >= 0 else last for n in known]
        return self._nest(node), place, known, self.places[node]

    def _take(self, node: int) -> None:
        self.number[node] = len(self.order)
        if node < len(self.owners):
            self.first.setdefault(self.owners[node], len(self.order))
        self.order.append(node)

    def _visit(self, start: int) -> None:
        flow, number = self.flow, self.number
        stack = [start]
        while stack:
            node = stack.pop()
            if node < 0:  # its sources are numbered: its own turn
                self._take(~node)
            elif number[node] == -1:
                if node in flow.back:
                    self._take(node)
                    stack.append(flow.back[node])
                    stack.extend(self.loops.get(node, ()))
                else:
                    number[node] = -2
                    stack.append(~node)
                if node in flow.called:
                    stack.extend(root for _, root in reversed(flow.called[node]))
                stack.extend(reversed(self._below(node)))

    def _below(self, node: int) -> Sequence[int]:
        sources = self.flow.sources[node]
        if not self.flow.commutative[node]:
            return sources
        colours, number, places = self.colours, self.number, self.places
        return sorted(sources, key=lambda s: (colours[s], number[s] < 0, number[s], places[s]))


def _roots(flow: Flow, node: int) -> list[int]:
    """The nodes that the computations called by a node return."""
    roots = [root for _, root in flow.called.get(node, ())]
    wire = NodeKind.WIRE
    return [n for r in roots for n in (flow.sources[r] if flow.kinds[r] == wire else (r,))]


def _loops(flow: Flow) -> dict[int, tuple[int, ...]]:
    """A loop's slot to the roots of the loop's computations, as far as they compute anything."""
    found: dict[int, tuple[int, ...]] = {}
    for node, called in flow.called.items():
        if flow.kinds[node] == NodeKind.WRAPPER and any(role == "condition" for role, _ in called):
            roots = tuple(root for _, root in called if flow.kinds[root] != NodeKind.WIRE)
            found.update(dict.fromkeys(flow.sources[node], roots))
    return found


def _boundaries(walk: _Walk, dead: Set[int]) -> list[int]:
    """Wires and wrappers, by the numbers of what they hold together."""
    flow, colours, number, owners = walk.flow, walk.colours, walk.number, walk.owners
    wire = (NodeKind.WIRE, NodeKind.WRAPPER)
    nodes = [
        node
        for node, kind in enumerate(flow.kinds)
        if kind in wire and number[node] < 0 and node not in dead
    ]
    first = _first_numbers(walk)

    def held(node: int) -> tuple[object, ...]:
        roots = [root for _, root in flow.called.get(node, ())]
        inside = [number[n] for r in roots for n in (flow.sources[r] if number[r] < 0 else (r,))]
        outside = [number[s] for s in flow.sources[node]]
        computation = first[owners[node]]
        return sorted(outside), sorted(inside), computation, colours[node], walk.places[node]

    nodes.sort(key=held)
    for position, node in enumerate(nodes, start=len(walk.order)):
        number[node] = position
    return nodes


def _first_numbers(walk: _Walk) -> list[tuple[int, int]]:
    """Of each computation, the lowest number so far in what it holds, with how deep that nests."""
    first = [(len(walk.number), 0)] * len(walk.inlined)
    for computation, number in walk.first.items():
        first[computation] = (number, 0)
    for computation, wrapper in enumerate(walk.inlined):  # callees come before their callers
        if wrapper >= 0:
            outer = walk.owners[wrapper]
            number, height = first[computation]
            first[outer] = min(first[outer], (number, height + 1))
    return first


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """All that the hash covers.

    Attributes:
      ranks: the rank of each entry parameter among those that are alike.
      channels: channel number of each node that a channel ties to another one.
      texts: everything that is not a number, in a canonical order.
    """

    flow: Flow
    label_of: Sequence[int]
    label_digests: Sequence[bytes]
    owners: Owners
    ranks: Mapping[int, int]
    channels: Mapping[int, str]
    aliases: Sequence[Alias]
    donors: Sequence[int]
    texts: tuple[object, ...]


def graph_digest(form: Form, order: Sequence[int]) -> bytes:
    """BLAKE2b-128 of a graph in canonical order, without layouts and schedule."""
    number = _inverse(order, len(form.label_of))
    used = sorted({form.label_digests[form.label_of[node]] for node in order})
    place = {digest: k for k, digest in enumerate(used)}
    label_rank = [place.get(digest, -1) for digest in form.label_digests]
    hasher = blake2b(digest_size=16)
    for digest in used:
        hasher.update(digest)
    hasher.update(repr(form.texts).encode())
    hasher.update(_packed(_records(form, order, number, label_rank)))
    hasher.update(_packed(_ends(form, number)))
    return hasher.digest()


def _inverse(order: Sequence[int], count: int) -> list[int]:
    number = [-1] * count
    for position, node in enumerate(order):
        number[node] = position
    return number


def _records(
    form: Form, order: Sequence[int], number: Sequence[int], label_rank: Sequence[int]
) -> list[int]:
    """What each node is, where it lives and where its operands come from, in numbers."""
    flow, owners = form.flow, form.owners.computations
    computation_rank = _computation_ranks(form, order)
    free = (NodeKind.WIRE, NodeKind.WRAPPER)
    channels: dict[str, int] = {}
    stream: list[int] = []
    for node in order:
        stream.append(label_rank[form.label_of[node]])
        stream.append(computation_rank[owners[node]] if node < len(owners) else _END)
        sources = [number[s] for s in flow.sources[node]]
        if flow.commutative[node] or flow.kinds[node] in free:
            sources.sort()
        stream += sources
        if node in flow.back:
            stream += (_CONTROL, number[flow.back[node]])
        if node in flow.control:
            stream.append(_CONTROL)
            stream += sorted(number[c] for c in flow.control[node])
        if node in flow.called:
            stream.append(_CALLED)
            stream += [number[root] for _, root in flow.called[node]]
        if node in form.ranks:
            stream += (_ALIAS, form.ranks[node])
        if node in form.channels:
            stream += (_CALLED, channels.setdefault(form.channels[node], len(channels)))
        stream.append(_END)
    return stream


def _computation_ranks(form: Form, order: Sequence[int]) -> list[int]:
    ranks = [-1] * len(form.owners.wrappers)
    owners, given = form.owners.computations, 0
    for node in order:
        if node < len(owners) and ranks[owners[node]] < 0:
            ranks[owners[node]] = given
            given += 1
    return ranks


def _ends(form: Form, number: Sequence[int]) -> list[int]:
    """Results, donation and donors, in numbers."""
    stream = sorted(number[node] for node in form.flow.outputs)
    stream.append(_ALIAS)
    kinds = {"may-alias": 0, "must-alias": 1}
    for triple in sorted(
        (number[a.parameter], number[a.output], kinds[a.kind]) for a in form.aliases
    ):
        stream += triple
    stream.append(_ALIAS)
    stream += sorted(number[node] for node in form.donors)
    return stream


def full_digest(
    graph: bytes,
    order: Sequence[int],
    layouts: Sequence[str],
    schedule: Iterable[Sequence[int]],
) -> bytes:
    """BLAKE2b-128 of a graph's digest with layouts and the schedule.

    Args:
      graph: the digest without them.
      order: the canonical order.
      layouts: node to its layout text.
      schedule: for each computation whose order counts, its nodes in that order.
    """
    number = _inverse(order, len(layouts))
    hasher = blake2b(graph, digest_size=16)
    hasher.update("\n".join([layouts[node] for node in order]).encode())
    for line in sorted([number[node] for node in nodes] for nodes in schedule):
        hasher.update(_packed([*line, _SCHEDULE]))
    return hasher.digest()


def _packed(numbers: Iterable[int]) -> bytes:
    packed = array("q", numbers)
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
