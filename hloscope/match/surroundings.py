"""Colours of nodes by what lies a few steps around them, all nodes of a step at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hloscope.hlo.edges import Edges, Numbers

Colours = NDArray[np.uint64]

# odd numbers with well-spread bits (fractions of pi)
_SLOT, _FIRST, _SECOND = (
    np.uint64(n) for n in (0x243F6A8885A308D3, 0x13198A2E03707345, 0xA4093822299F31D1)
)
_HALF = np.uint64(32)


def mixed(colours: Colours) -> Colours:
    """Every bit of each number spread over all of its bits."""
    value = colours ^ (colours >> _HALF)
    value *= _FIRST
    value ^= value >> _HALF
    value *= _SECOND
    value ^= value >> _HALF
    return value


class Surroundings:
    """Some nodes of a graph with the edges around them."""

    def __init__(self, edges: Edges, nodes: Numbers) -> None:
        self.nodes = nodes
        self._below = _Half(*edges.below, nodes)
        self._above = _Half(*edges.above, nodes)

    def step(self, colours: Colours) -> Colours:
        """One step outwards: each of the nodes with its neighbours as they were."""
        value = mixed(colours[self.nodes] + self._below.gathered(colours))
        value = mixed(value + self._above.gathered(colours))
        stepped = colours.copy()
        stepped[self.nodes] = value
        return stepped


class _Half:
    """The edges of some nodes to one side, those of a node beside each other."""

    def __init__(self, first: Numbers, others: Numbers, slots: Numbers, nodes: Numbers) -> None:
        lengths = first[nodes + 1] - first[nodes]
        ends = np.cumsum(lengths)
        starts = ends - lengths
        edges = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first[nodes] - starts, lengths)
        self._count = len(nodes)
        self._others = others[edges]
        self._slots = slots[edges].astype(np.uint64) * _SLOT
        self._linked = np.flatnonzero(lengths)
        self._starts = starts[self._linked]

    def gathered(self, colours: Colours) -> Colours:
        """Of each node, the sum over its edges; a sum, so that their order does not matter."""
        gathered = np.zeros(self._count, np.uint64)
        if len(self._linked):
            parts = mixed(colours[self._others] + self._slots)
            gathered[self._linked] = np.add.reduceat(parts, self._starts)
        return gathered


def alone_on_both(left: Colours, right: Colours) -> tuple[Numbers, Numbers]:
    """Where the colours are that each side has exactly once, in the order of the left side."""
    colours = np.concatenate((left, right))
    order = np.argsort(colours)
    ordered = colours[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    two = starts[np.diff(starts, append=len(ordered)) == 2]
    one, other = order[two], order[two + 1] if len(two) else two
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    both = (lower < len(left)) & (upper >= len(left))
    lower, upper = lower[both], upper[both] - len(left)
    back = np.argsort(lower)
    return lower[back], upper[back]
