"""An edit of combined collectives: what becomes of two of their operands is confused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

from benchmarks.draft import Body, Node
from benchmarks.edit_site import Site, Truth, truth
from benchmarks.rewrites_combined import COMBINED, is_combined


def read_crosswise(site: Site) -> Truth | None:
    """Lets the readers of two elements of a combined collective read each other's.

    Only where no reader of the one is like a reader of the other: two equal ones in a row would be
    the same program as two that exchanged what they hand on.
    """
    for body, node in site.nodes(*sorted(COMBINED)):
        if not is_combined(body, node):
            continue
        users = body.users()
        for one, other in combinations(users[node], 2):
            readers, others = _readers(body, one), _readers(body, other)
            if _may_cross(site, node, one, other) and _looks(readers).isdisjoint(_looks(others)):
                one.attrs["index"], other.attrs["index"] = other.attrs["index"], one.attrs["index"]
                touched = [node, one, other, *readers, *others]
                return truth("read a collective crosswise", touched)
    return None


def _may_cross(site: Site, node: Node, one: Node, other: Node) -> bool:
    sources = [node.operands[int(element.attrs["index"])] for element in (one, other)]
    return one.shape == other.shape and site.colour[sources[0]] != site.colour[sources[1]]


def _readers(body: Body, value: Node) -> list[Node]:
    """What reads a value, inside of fusions too; nothing more than hands it on."""
    found: list[Node] = []
    for user in body.users()[value]:
        found.append(user)
        for _, callee in user.called if user.opcode in ("fusion", "call") else ():
            for parameter in callee.parameters():
                if user.operands[parameter.parameter] is value:
                    found += _readers(callee, parameter)
    return found


def _looks(readers: Sequence[Node]) -> set[Hashable]:
    """What readers are, wherever they are fused into."""
    return {(node.opcode, node.shape) for node in readers if node.opcode != "fusion"}
