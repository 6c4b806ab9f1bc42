"""A rewrite that keeps the program: operands of combined collectives in another order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from benchmarks.draft import Body, Draft, Node

COMBINED = frozenset({"all-reduce", "all-gather", "reduce-scatter", "collective-permute"})


def permute_combined(draft: Draft, rng: Random) -> None:
    """Lists the operands of combined collectives in another order, with what becomes of them."""
    for body, node in draft.nodes():
        if not is_combined(body, node):
            continue
        place = list(range(len(node.operands)))
        rng.shuffle(place)
        operands, elements = list(node.operands), list(node.shape.elements)
        for old, new in enumerate(place):
            operands[new], elements[new] = node.operands[old], node.shape.elements[old]
        node.operands, node.shape = operands, node.shape._replace(elements=tuple(elements))
        for user in body.users()[node]:
            user.attrs["index"] = str(place[int(user.attrs["index"])])
        _move_aliasing(node, place)


def is_combined(body: Body, node: Node) -> bool:
    """Whether a collective works on several values whose order nothing but their readers tells."""
    if node.opcode not in COMBINED or len(node.operands) < 2 or node is body.root:
        return False
    only_elements = all(user.opcode == "get-tuple-element" for user in body.users()[node])
    return only_elements and "sharding" not in node.attrs


def _move_aliasing(node: Node, place: Sequence[int]) -> None:
    """`aliasing_operands` numbers the operands and then the elements."""
    config = node.attrs.get("backend_config", "")
    if "aliasing_operands" not in config:
        return
    read, count = json.loads(config), len(place)
    for entry in read["aliasing_operands"]["lists"]:
        numbers = [int(index) for index in entry["indices"]]
        entry["indices"] = [str(n // count * count + place[n % count]) for n in numbers]
    node.attrs["backend_config"] = json.dumps(read, separators=(",", ":"))
