"""An edit of combined collectives: what becomes of two of their operands is confused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

from benchmarks.draft import Node
from benchmarks.edit_site import WIRING, Site, Truth, truth
from benchmarks.rewrites_combined import COMBINED, is_combined


def read_crosswise(site: Site) -> Truth | None:
    """Lets the readers of two elements of a combined collective read each other's."""
    for body, node in site.nodes(*sorted(COMBINED)):
        if not is_combined(body, node):
            continue
        users = body.users()
        for one, other in combinations(users[node], 2):
            readers = [*users[one], *users[other]]
            if _may_cross(site, node, one, other) and _look(users[one]) != _look(users[other]):
                one.attrs["index"], other.attrs["index"] = other.attrs["index"], one.attrs["index"]
                return truth(
                    "read a collective crosswise", [node, one, other, *_with_inside(readers)]
                )
    return None


def _may_cross(site: Site, node: Node, one: Node, other: Node) -> bool:
    sources = [node.operands[int(element.attrs["index"])] for element in (one, other)]
    return one.shape == other.shape and site.colour[sources[0]] != site.colour[sources[1]]


def _look(readers: Sequence[Node]) -> Counter[Hashable]:
    """What readers are; without any that hand the value on, which says nothing of its use."""
    return Counter(
        (node.opcode, node.shape)
        for node in _with_inside(readers)
        if node.opcode not in WIRING and node.opcode != "fusion"
    )


def _with_inside(readers: Sequence[Node]) -> Iterator[Node]:
    for reader in readers:
        yield reader
        for _, callee in reader.called:
            yield from callee.nodes
