"""Colours of a graph's nodes: equal where what lies below, or above, is equal.

A colour is 64 bits mixed from a node's seed and its neighbours' colours, the same in every process
and on every machine. Loop carries make the graph cyclic, so slots are refined in rounds: the first
knows a slot by its initial value, each further one also by what the body puts there.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.model.canonical import Flow, NodeKind

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


def down_colours(flow: Flow, seeds: Sequence[int], rounds: int) -> list[int]:
    """Colours by what a node computes from the inputs, after `rounds` rounds."""
    colours: list[int] = [0] * len(seeds)
    for turn in range(rounds):
        before = {slot: colours[after] for slot, after in flow.back.items()} if turn else {}
        _down_round(flow, seeds, colours, before)
        if not flow.back:
            break
    return colours


def _down_round(
    flow: Flow, seeds: Sequence[int], colours: list[int], before: dict[int, int]
) -> None:
    sources, called, commutative = flow.sources, flow.called, flow.commutative
    for node in flow.topological:
        value = seeds[node]
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


def up_colours(flow: Flow, seeds: Sequence[int], outputs: Sequence[int], rounds: int) -> list[int]:
    """Colours by what becomes of a node's value, after `rounds` rounds.

    Args:
      flow: the graph.
      seeds: node to seed.
      outputs: node to a number that marks it as returned by the entry, 0 where it is not.
      rounds: how often what a body does with a slot is fed back.
    """
    colours: list[int] = [0] * len(seeds)
    for turn in range(rounds):
        gathered = [(mark * _RETURNED) & MASK for mark in outputs]
        for slot, after in flow.back.items():
            known = colours[slot] if turn else seeds[slot]
            gathered[after] += ((known ^ _RETURNED) * _B) & MASK
        _up_round(flow, seeds, colours, gathered)
        if not flow.back:
            break
    return colours


def _up_round(flow: Flow, seeds: Sequence[int], colours: list[int], gathered: list[int]) -> None:
    sources, called, commutative, kinds = flow.sources, flow.called, flow.commutative, flow.kinds
    boundary, operation = (NodeKind.WIRE, NodeKind.WRAPPER), NodeKind.OPERATION
    for node in reversed(flow.topological):
        value = ((seeds[node] ^ (gathered[node] & MASK)) * _B) & MASK
        value ^= value >> 29
        colours[node] = value
        kind = kinds[node]
        if kind in boundary:
            continue
        step = 0 if commutative[node] else _A
        for source in sources[node]:
            value = (value + step) & MASK
            part = (value * _C) & MASK
            gathered[source] += part ^ (part >> 32)
        if kind == operation and node in called:
            for _, root in called[node]:
                value = (value + _A) & MASK
                gathered[root] += (value * _C) & MASK
