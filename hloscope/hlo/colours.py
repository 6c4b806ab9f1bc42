"""Colours of a graph's nodes: equal where what lies below, or above, is equal.

A colour is 64 bits mixed from a node's seed and its neighbours' colours, the same in every process
and on every machine. Loop carries make the graph cyclic, so slots are refined in rounds: the first
knows a slot by its initial value, each further one also by what the body puts there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType

from hloscope.model.canonical import Flow, Label, NodeKind

NOTHING: Mapping[int, int] = MappingProxyType({})
MASK = (1 << 64) - 1
# odd constants with well-spread bits: fractions of the golden ratio, of the square root of 2 and e
_A = 0x9E3779B97F4A7C15
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
    previous: Sequence[int] = (),
    fixed: Mapping[int, int] = NOTHING,
) -> list[int]:
    """Colours by what a node computes from the inputs, after one more round.

    Args:
      flow: the graph.
      start: node to seed.
      previous: the colours of the round before, empty for the first.
      fixed: nodes whose colour is given.
    """
    before = {slot: previous[after] for slot, after in flow.back.items()} if previous else NOTHING
    colours = [0] * len(start)
    for node, colour in fixed.items():
        colours[node] = colour
    _down_round(flow, start, colours, before, fixed)
    return colours


def _down_round(
    flow: Flow,
    start: Sequence[int],
    colours: list[int],
    before: Mapping[int, int],
    fixed: Mapping[int, int],
) -> None:
    sources, called, commutative = flow.sources, flow.called, flow.commutative
    for node in flow.topological:
        if node in fixed:
            continue
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
    previous: Sequence[int] = (),
    fixed: Mapping[int, int] = NOTHING,
) -> list[int]:
    """Colours by what becomes of a node's value, after one more round.

    Args:
      flow: the graph.
      start: node to seed.
      outputs: nodes that the entry returns, with a number that says how.
      previous: the colours of the round before, empty for the first.
      fixed: nodes whose colour is given.
    """
    colours = [0] * len(start)
    gathered = [0] * len(start)
    for node, mark in outputs.items():
        gathered[node] = (mark * _RETURNED) & MASK
    for slot, after in flow.back.items():
        known = fixed.get(slot) or (previous[slot] if previous else start[slot])
        gathered[after] += ((known ^ _RETURNED) * _B) & MASK
    _up_round(flow, start, colours, gathered, fixed)
    return colours


def _up_round(
    flow: Flow,
    start: Sequence[int],
    colours: list[int],
    gathered: list[int],
    fixed: Mapping[int, int],
) -> None:
    sources, called, commutative, kinds = flow.sources, flow.called, flow.commutative, flow.kinds
    wrapper, wire = NodeKind.WRAPPER, NodeKind.WIRE
    for node in reversed(flow.topological):
        value = ((start[node] ^ (gathered[node] & MASK)) * _B) & MASK
        value = fixed.get(node) or value ^ (value >> 29)
        colours[node] = value
        kind = kinds[node]
        roots = called.get(node, ())
        # what a fusion or a call holds is looked through; a loop or a conditional is a use of what
        # it carries and runs; a tuple counts where a computation returns it to its caller
        if (kind == wrapper and len(roots) < 2) or (kind == wire and not gathered[node]):
            continue
        step = 0 if commutative[node] else _A
        for source in sources[node]:
            value = (value + step) & MASK
            part = (value * _C) & MASK
            gathered[source] += part ^ (part >> 32)
        for _, root in roots:
            value = (value + _A) & MASK
            gathered[root] += (value * _C) & MASK
