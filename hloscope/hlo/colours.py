"""Colours of a graph's nodes: equal where what lies below, or above, is equal.

A colour is 64 bits mixed from a node's seed and its neighbours' colours, the same in every process
and on every machine. Loop carries make the graph cyclic, so slots are refined in rounds: the first
knows a slot by its initial value, each further one also by what the body puts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType

from hloscope.model.canonical import Flow, Label, NodeKind

NOTHING: Mapping[int, int] = MappingProxyType({})
MASK = (1 << 64) - 1
# odd constants with well-spread bits: fractions of the golden ratio, of the square root of 2 and e
ODD = _A = 0x9E3779B97F4A7C15
_B = 0x6A09E667F3BCC909
_C = 0xADF85458A2BB4A9B
BACK = 1 << 40  # the slot number of a value that a loop carries round
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
    for node in nodes:
        value = start[node]
        parts = [colours[s] for s in sources[node]]
        if commutative[node]:
            parts.sort()
        for part in parts:
            value = ((value ^ part) * _B) & MASK
            value ^= value >> 29
        if node in called:
            for _, root in called[node]:
                value = ((value ^ colours[root]) * _A) & MASK
        if node in before:
            value = ((value ^ before[node]) * _A) & MASK
        value = (value * _C) & MASK
        colours[node] = value ^ (value >> 32)


def up_colours(
    flow: Flow,
    start: Sequence[int],
    outputs: Mapping[int, int],
    fixed: Mapping[int, int] = NOTHING,
) -> list[int]:
    """Colours all nodes by what becomes of their values; a loop's slot feeds back its seed.

    Args:
      flow: the graph.
      start: node to seed.
      outputs: nodes that the entry returns, with a number that says how.
      fixed: nodes whose colour is given.
    """
    colours = [0] * len(start)
    for node, colour in fixed.items():
        colours[node] = colour
    gathered = [0] * len(start)
    for node, mark in outputs.items():
        gathered[node] = (mark * _RETURNED) & MASK
    for slot, after in flow.back.items():
        gathered[after] += _use(colours[slot] or start[slot], BACK)
    kinds, called, commutative, wire = flow.kinds, flow.called, flow.commutative, NodeKind.WIRE
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
        step = 0 if commutative[node] else _A
        for source in flow.sources[node]:
            value = (value + step) & MASK
            part = (value * _C) & MASK
            gathered[source] += part ^ (part >> 32)
    return colours


def called_roots(flow: Flow, node: int) -> tuple[tuple[int, int], ...] | None:
    """What the computations called by a node return, each with a slot below 0 for its role.

    `None` for fusions, calls and tuples, which are looked through: they use nothing themselves. A
    loop or a conditional is a use of what it carries and runs.
    """
    kind = flow.kinds[node]
    called = flow.called.get(node, ())
    if kind == NodeKind.WIRE or (kind == NodeKind.WRAPPER and len(called) < 2):
        return None
    if not called:
        return ()
    kinds, sources, wire = flow.kinds, flow.sources, NodeKind.WIRE
    return tuple(
        (returned, -1 - role)
        for role, (_, root) in enumerate(called)
        for returned in (sources[root] if kinds[root] == wire else (root,))
    )


def _use(colour: int, slot: int) -> int:
    """What one use of a node adds to it; sums, so that the order of users does not matter."""
    part = ((colour + slot * _A) * _C) & MASK
    return part ^ (part >> 32)


Uses = list[list[tuple[int, int]]]


def uses(flow: Flow) -> Uses:
    """Each node's uses: (user, slot), where looked-through nodes use nothing.

    Slots are operand positions from 1, 0 where the order is free, below 0 for the roles of called
    computations, `BACK` for what a loop carries round.
    """
    found: Uses = [[] for _ in flow.sources]
    called, kinds, commutative, wire = flow.called, flow.kinds, flow.commutative, NodeKind.WIRE
    for node, sources in enumerate(flow.sources):
        if kinds[node] == wire:
            continue
        if node in called:
            roots = called_roots(flow, node)
            if roots is None:
                continue
            for root, role in roots:
                found[root].append((node, role))
        if commutative[node]:
            for source in sources:
                found[source].append((node, 0))
        else:
            for position, source in enumerate(sources, start=1):
                found[source].append((node, position))
    for slot, after in flow.back.items():
        found[after].append((slot, BACK))
    return found


class Region:
    """Some nodes of a graph, to refine these nodes' colours alone."""

    def __init__(self, flow: Flow, nodes: Iterable[int], users: Uses) -> None:
        self.flow = flow
        inside = set(nodes)
        self.nodes = [node for node in flow.topological if node in inside]
        self.users = users

    def down(self, start: Sequence[int], colours: list[int]) -> None:
        """One more round of `down_colours`, in place."""
        down_colours(self.flow, start, colours, self.nodes)

    def up(self, start: Sequence[int], colours: list[int], outputs: Mapping[int, int]) -> None:
        """One more round of colours by use, in place."""
        before = {slot: colours[slot] for slot in self.flow.back}
        for node in reversed(self.nodes):
            gathered = (outputs.get(node, 0) * _RETURNED) & MASK
            for user, slot in self.users[node]:
                known = before[user] if slot == BACK else colours[user]
                part = ((known + slot * _A) * _C) & MASK
                gathered += part ^ (part >> 32)
            value = ((start[node] ^ (gathered & MASK)) * _B) & MASK
            colours[node] = value ^ (value >> 29)

    def around(self, colours: list[int]) -> None:
        """One more step outwards, in place: each node with its neighbours as they were."""
        sources, commutative, users = self.flow.sources, self.flow.commutative, self.users
        fresh = []
        for node in self.nodes:
            value = colours[node]
            parts = [colours[s] for s in sources[node]]
            if commutative[node]:
                parts.sort()
            for part in parts:
                value = ((value ^ part) * _B) & MASK
                value ^= value >> 29
            gathered = 0
            for user, slot in users[node]:
                part = ((colours[user] + slot * _A) * _C) & MASK
                gathered += part ^ (part >> 32)
            value = ((value ^ (gathered & MASK)) * _B) & MASK
            fresh.append(value ^ (value >> 29))
        for node, colour in zip(self.nodes, fresh, strict=True):
            colours[node] = colour
