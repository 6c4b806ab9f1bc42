"""Which instruction a report shows for a node."""

from __future__ import annotations

from hloscope.diff.joined import NONE, Side
from hloscope.model.canonical import NodeKind


def anchor(side: Side, node: int) -> int:
    """The node itself where it is an instruction.

    For an element the operation that makes it; for a slot the loop, branch or barrier that it
    belongs to.
    """
    while node >= side.size and side.kinds[node] == NodeKind.ELEMENT:
        node = side.sources[node][0]
    return node if node < side.size else _owner(side, node)


def _owner(side: Side, slot: int) -> int:
    owner = side.slot_owner.get(slot, NONE)
    if owner != NONE:
        return owner
    # a branch's result: the last source is what the last branch returns
    source = anchor(side, side.sources[slot][-1])
    wrapper = side.wrapper(source)
    return source if wrapper == NONE else wrapper
