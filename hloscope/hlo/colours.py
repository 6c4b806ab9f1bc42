"""Colours of a graph's nodes: equal where what lies below, or above, is equal.

A colour is 64 bits mixed from a node's seed and its neighbours' colours, the same in every process
and on every machine. Loop carries make the graph cyclic, so slots are refined in rounds: the first
knows a slot by its initial value, each further one also by what the body puts there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b

from hloscope.hlo.edges import BACK, called_roots
from hloscope.model.canonical import Flow, Label, NodeKind

MASK = (1 << 64) - 1
# odd constants with well-spread bits: fractions of the golden ratio, of the square root of 2 and e
ODD = _A = 0x9E3779B97F4A7C15
_B = 0x6A09E667F3BCC909
_C = 0xADF85458A2BB4A9B
_RETURNED = 0x243F6A8885A308D3  # seen from above, an output of the entry (pi's fraction)


def mix(*parts: int) -> int:
    """Mixes 64-bit parts, in order, into 64 bits."""
    value = _A
    for part in parts:
        value = ((value ^ part) * _B) & MASK
        value ^= value >> 29
    value = (value * _C) & MASK
    return value ^ (value >> 32)


def label_digests(labels: Sequence[Label]) -> list[bytes]:
    """BLAKE2b-128 of each label."""
    return [blake2b(repr(tuple(label)).encode(), digest_size=16).digest() for label in labels]


def seeds(label_of: Sequence[int], digests: Sequence[bytes]) -> list[int]:
    """64 bits for what each node is."""
    table = [int.from_bytes(digest[:8], "little") for digest in digests]
    return [table[label] for label in label_of]


def down_colours(
    flow: Flow,
    start: Sequence[int],
    colours: list[int],
    nodes: Iterable[int],
) -> None:
    """Colours nodes, in place, by what they compute from the inputs.

    Args:
      flow: the graph.
      start: node to seed.
      colours: what is known: the colours of nodes that are not among `nodes` and, for what loops
        feed back, those of the round before (0 in the first).
      nodes: the nodes to colour, in topological order.
    """
    sources, called, commutative = flow.sources, flow.called, flow.commutative
    # read before anything is written: slots may feed each other, in any order
    before = {slot: colours[after] for slot, after in flow.back.items()}
    special = called.keys() | before.keys()
    for node in nodes:
        value = start[node]
        below = sources[node]
        if len(below) == 1:  # most have one operand, which needs no list
            value = ((value ^ colours[below[0]]) * _B) & MASK
            value ^= value >> 29
        elif below:
            parts = [colours[s] for s in below]
            if commutative[node]:
                parts.sort()
            for part in parts:
                value = ((value ^ part) * _B) & MASK
                value ^= value >> 29
        if node in special:
            for _, root in called.get(node, ()):
                value = ((value ^ colours[root]) * _A) & MASK
            if node in before:
                value = ((value ^ before[node]) * _A) & MASK
        value = (value * _C) & MASK
        colours[node] = value ^ (value >> 32)


def up_colours(
    flow: Flow,
    start: Sequence[int],
    outputs: Mapping[int, int],
    fixed: Sequence[int] = (),
) -> list[int]:
    """Colours all nodes by what becomes of their values; a loop's slot feeds back its seed.

    Args:
      flow: the graph.
      start: node to seed.
      outputs: nodes that the entry returns, with a number that says how.
      fixed: node to a colour that is given, 0 for none.
    """
    colours = list(fixed) if fixed else [0] * len(start)
    gathered = [0] * len(start)
    for node, mark in outputs.items():
        gathered[node] = (mark * _RETURNED) & MASK
    for slot, after in flow.back.items():
        gathered[after] += _use(colours[slot] or start[slot], BACK)
    kinds, called, commutative, wire = flow.kinds, flow.called, flow.commutative, NodeKind.WIRE
    sources = flow.sources
    for node in reversed(flow.topological):
        value = colours[node]
        if not value:
            value = ((start[node] ^ (gathered[node] & MASK)) * _B) & MASK
            value ^= value >> 29
            colours[node] = value
        if kinds[node] == wire:
            continue
        if node in called:
            roots = called_roots(flow, node)
            if roots is None:
                continue
            for root, role in roots:
                gathered[root] += _use(value, role)
        if commutative[node]:
            part = (value * _C) & MASK
            part ^= part >> 32
            for source in sources[node]:
                gathered[source] += part
            continue
        for source in sources[node]:
            value += _A
            part = (value * _C) & MASK
            gathered[source] += part ^ (part >> 32)
    return colours


def _use(colour: int, slot: int) -> int:
    """What one use of a node adds to it; sums, so that the order of users does not matter."""
    part = ((colour + slot * _A) * _C) & MASK
    return part ^ (part >> 32)


Uses = Callable[[int], Iterable[tuple[int, int]]]


class Region:
    """Some nodes of a graph, to refine these nodes' colours alone.

    Args:
      flow: the graph.
      nodes: the nodes, in topological order.
      uses: gives (user, slot) of each use of a node, as `Edges.uses` does.
    """

    def __init__(self, flow: Flow, nodes: Sequence[int], uses: Uses) -> None:
        self.flow = flow
        self.nodes = nodes
        self.uses = uses

    def down(self, start: Sequence[int], colours: list[int]) -> None:
        """One more round of `down_colours`, in place."""
        down_colours(self.flow, start, colours, self.nodes)

    def up(self, start: Sequence[int], colours: list[int], outputs: Mapping[int, int]) -> None:
        """One more round of colours by use, in place."""
        before = {slot: colours[slot] for slot in self.flow.back}
        for node in reversed(self.nodes):
            gathered = (outputs.get(node, 0) * _RETURNED) & MASK
            for user, slot in self.uses(node):
                known = before[user] if slot == BACK else colours[user]
                part = ((known + slot * _A) * _C) & MASK
                gathered += part ^ (part >> 32)
            value = ((start[node] ^ (gathered & MASK)) * _B) & MASK
            colours[node] = value ^ (value >> 29)
