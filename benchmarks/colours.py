"""Tells apart the nodes of a draft by all that data flow says about them.

Independent of the code under test: it decides which edits leave no trace (the edited program is the
old one again) or cannot be told from the same edit elsewhere (one of two equal branches).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable

from benchmarks.draft import Body, Draft, Node
from benchmarks.rewrites import is_commutative

_MOST_SWEEPS = 12


class Palette:
    """Numbers for whatever is equal, shared by the drafts that are to be compared."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        """The same number for equal values."""
        return self._numbers.setdefault(value, len(self._numbers))


def colours(draft: Draft, palette: Palette) -> dict[Node, int]:
    """A colour for each node; nodes of one colour have the same surroundings to any distance."""
    colour = {node: palette.number(_own(node, body, draft)) for body, node in draft.nodes()}
    users = {body: _slots(body) for body in draft.bodies}
    callers = draft.callers()
    distinct = len(set(colour.values()))
    for _ in range(_MOST_SWEEPS):
        for body in reversed(draft.bodies):
            for node in body.nodes:
                colour[node] = palette.number(_with_operands(node, body, colour, callers))
        for body in draft.bodies:
            for node in reversed(body.nodes):
                colour[node] = palette.number(_with_users(node, body, colour, users, callers))
        before, distinct = distinct, len(set(colour.values()))
        if distinct == before:
            break
    return colour


def same_colours(lhs: Draft, rhs: Draft) -> bool:
    """Whether nothing tells the two drafts apart but names and order."""
    palette = Palette()
    if lhs.header != rhs.header:
        return False
    left, right = colours(lhs, palette), colours(rhs, palette)
    return Counter(left.values()) == Counter(right.values())


def alike(node: Node, colour: dict[Node, int]) -> frozenset[Node]:
    """The nodes that cannot be told from this one, itself included."""
    return frozenset(other for other, number in colour.items() if number == colour[node])


def _own(node: Node, body: Body, draft: Draft) -> Hashable:
    number = node.parameter if body is draft.entry else -1
    path = node.metadata.op_name if node.parameter >= 0 and body is draft.entry else ""
    attrs = tuple(sorted(node.attrs.items()))
    return (node.opcode, node.shape, attrs, path or number, node.literal)


def _slots(body: Body) -> dict[Node, list[tuple[Node, int]]]:
    slots: dict[Node, list[tuple[Node, int]]] = defaultdict(list)
    for node in body.nodes:
        for slot, operand in enumerate(node.operands):
            slots[operand].append((node, 0 if is_commutative(node) else slot))
    return slots


def _with_operands(
    node: Node, body: Body, colour: dict[Node, int], callers: dict[Body, list[Node]]
) -> Hashable:
    operands = [colour[o] for o in node.operands]
    if is_commutative(node):
        operands.sort()
    called = tuple((role, colour[callee.root]) for role, callee in node.called)
    passed: tuple[Hashable, ...] = ()
    if node.parameter >= 0:
        passed = tuple(sorted(_passed(caller, node, colour) for caller in callers[body]))
    return ("down", colour[node], tuple(operands), called, passed)


def _passed(caller: Node, parameter: Node, colour: dict[Node, int]) -> tuple[int, int]:
    operands = caller.operands
    if parameter.parameter < len(operands):
        return colour[caller], colour[operands[parameter.parameter]]
    return colour[caller], -1


def _with_users(
    node: Node,
    body: Body,
    colour: dict[Node, int],
    users: dict[Body, dict[Node, list[tuple[Node, int]]]],
    callers: dict[Body, list[Node]],
) -> Hashable:
    seen = tuple(sorted((colour[user], slot) for user, slot in users[body][node]))
    above: tuple[int, ...] = ()
    if node is body.root:
        above = tuple(sorted(colour[caller] for caller in callers[body]))
    return ("up", colour[node], seen, above)
