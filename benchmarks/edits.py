"""Edits with a known truth: each changes a program at a place that it names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from random import Random

from benchmarks.colours import alike, same_colours
from benchmarks.draft import Body, Draft, Node
from benchmarks.edit_site import TRIES, WIRING, Site, Truth, may_be_copied, redirect, truth
from benchmarks.edits_combined import read_crosswise
from benchmarks.edits_devices import add_collective, change_group, drop_donation
from benchmarks.edits_dtype import narrow_chain, narrow_one, narrow_parameter
from hloscope.model.hlo import Layout, Literal

Edit = Callable[[Site], Truth | None]

_OTHER_OPCODE = {
    "add": "subtract",
    "multiply": "divide",
    "maximum": "minimum",
    "exponential": "tanh",
    "tanh": "logistic",
    "logistic": "sine",
    "negate": "abs",
    "subtract": "add",
    "divide": "multiply",
    "rsqrt": "sqrt",
    "log": "negate",
    "and": "or",
}
_ORDERED = frozenset(
    {"subtract", "divide", "power", "remainder", "atan2", "concatenate", "dot", "select", "compare"}
)
_NO_ARRAY = frozenset({"tuple", "token", "opaque", "buffer"})


def edit(draft: Draft, rng: Random, kind: str) -> Truth | None:
    """Applies one edit in place; `None` where the draft has no place for it."""
    return EDITS[kind](Site(draft, rng))


def insert_copy(site: Site) -> Truth | None:
    """Copies a value before one of its users, or all of them."""
    for body, node in site.nodes()[:TRIES]:
        users = list(dict.fromkeys(body.users()[node]))
        if node.shape.dtype in _NO_ARRAY or not users or not may_be_copied(node, users):
            continue
        copy = site.new(body, "copy", node.shape, [node])
        chosen = users if site.rng.random() < 0.5 else [site.rng.choice(users)]
        redirect(chosen, node, copy)
        return truth("insert a copy", [copy])
    return None


def unfuse(site: Site) -> Truth | None:
    """Puts the instructions of a fusion where the fusion was."""
    callers = site.draft.callers()
    for body, node in site.nodes("fusion"):
        ((_, callee),) = node.called
        plain = node is not body.root and callee.root.opcode not in ("tuple", "parameter")
        if plain and len(callers[callee]) == 1 and not _is_controlled(node, body):
            touched = [node, *callee.nodes]
            _inline(site, body, node, callee)
            return truth("unfuse", touched)
    return None


def change_constant(site: Site) -> Truth | None:
    """Gives a constant another value."""
    for _, node in site.nodes("constant"):
        if node.literal is None or node.literal.digest is None:
            continue
        touched = alike(node, site.colour)
        if node.shape.dtype == "pred":
            preview = "false" if node.literal.preview == "true" else "true"
        else:
            preview = str(site.rng.randrange(1000, 9999))
        node.literal = Literal(preview, site.rng.randbytes(16))
        return truth("change a constant", touched)
    return None


def duplicate(site: Site) -> Truth | None:
    """Computes a value, with some of what it needs, a second time for one of its users."""
    for body, node in site.nodes()[:TRIES]:
        users = list(dict.fromkeys(body.users()[node]))
        if node.opcode in WIRING or node.called or len(users) < 2:
            continue
        originals = _ancestors(node, site.rng.randrange(1, 4))
        touched = set().union(*(alike(original, site.colour) for original in originals))
        twins: dict[Node, Node] = {}
        for original in originals:
            operands = [twins.get(operand, operand) for operand in original.operands]
            twin = site.new(body, original.opcode, original.shape, operands)
            twin.attrs, twin.metadata = dict(original.attrs), original.metadata
            twins[original] = twin
        redirect([site.rng.choice(users)], node, twins[node])
        return truth("duplicate a subgraph", {*touched, *twins.values()})
    return None


def change_layer(site: Site) -> Truth | None:
    """Changes an operation in one of several layers that are equal."""
    kin: dict[object, list[Node]] = defaultdict(list)
    for _, node in site.nodes(*_OTHER_OPCODE, "dot"):
        attrs = tuple(sorted(node.attrs.items()))
        around = tuple((operand.opcode, operand.shape) for operand in node.operands)
        kin[node.opcode, node.shape, attrs, around].append(node)
    many = [nodes for nodes in kin.values() if len({site.colour[n] for n in nodes}) >= 3]
    if not many:
        return None
    node = site.rng.choice(site.rng.choice(many))
    touched = alike(node, site.colour)
    if node.opcode == "dot":
        node.attrs["operand_precision"] = _other_precision(node)
    else:
        node.opcode = _OTHER_OPCODE[node.opcode]
    return truth("change one of n equal layers", touched)


def change_layout(site: Site) -> Truth | None:
    """Lays a value out in memory otherwise."""
    for _, node in site.nodes()[:TRIES]:
        layout = node.shape.layout
        if layout is not None and len(layout.minor_to_major) > 1 and node.opcode not in WIRING:
            turned = (*layout.minor_to_major[1:], layout.minor_to_major[0])
            touched = _lay_out(site, node, layout._replace(minor_to_major=turned))
            return truth("change a layout", touched)
    return None


def change_memory_space(site: Site) -> Truth | None:
    """Keeps a value in another memory space."""
    for _, node in site.nodes()[:TRIES]:
        if node.shape.layout is not None and node.opcode not in WIRING:
            touched = _lay_out(site, node, _other_space(node.shape.layout))
            return truth("change a memory space", touched)
    return None


def swap_operands(site: Site) -> Truth | None:
    """Swaps two operands of an operation that does not commute."""
    for _, node in site.nodes(*_ORDERED):
        if node.attrs.get("direction") in ("EQ", "NE"):
            continue
        first, second = (1, 2) if node.opcode == "select" else (0, 1)
        if len(node.operands) <= second:
            continue
        a, b = node.operands[first], node.operands[second]
        if a.shape == b.shape and site.colour[a] != site.colour[b]:
            touched = alike(node, site.colour)
            node.operands[first], node.operands[second] = b, a
            return truth("swap two operands", touched)
    return None


def change_opcode(site: Site) -> Truth | None:
    """Replaces an operation by another of the same shape."""
    for _, node in site.nodes(*_OTHER_OPCODE)[:1]:
        touched = alike(node, site.colour)
        node.opcode = _OTHER_OPCODE[node.opcode]
        return truth("change an opcode", touched)
    return None


def change_precision(site: Site) -> Truth | None:
    """Asks for another precision of a matrix product or convolution."""
    for _, node in site.nodes("dot", "convolution")[:1]:
        touched = alike(node, site.colour)
        node.attrs["operand_precision"] = _other_precision(node)
        return truth("change a precision", touched)
    return None


EDITS: dict[str, Edit] = {
    "insert a copy": insert_copy,
    "change a dtype": narrow_one,
    "change dtypes along a chain": narrow_chain,
    "change a parameter's dtype": narrow_parameter,
    "drop a donation": drop_donation,
    "add a collective": add_collective,
    "change a replica group": change_group,
    "unfuse": unfuse,
    "change a constant": change_constant,
    "duplicate a subgraph": duplicate,
    "change one of n equal layers": change_layer,
    "change a layout": change_layout,
    "change a memory space": change_memory_space,
    "swap two operands": swap_operands,
    "read a collective crosswise": read_crosswise,
    "change an opcode": change_opcode,
    "change a precision": change_precision,
}


def leaves_a_trace(before: Draft, after: Draft) -> bool:
    """Whether the edited program is another program at all."""
    return not same_colours(before, after)


def _is_controlled(node: Node, body: Body) -> bool:
    return bool(node.control) or any(node in other.control for other in body.nodes)


def _inline(site: Site, body: Body, fusion: Node, callee: Body) -> None:
    place = body.nodes.index(fusion)
    inner = [node for node in callee.nodes if node.opcode != "parameter"]
    for parameter in callee.parameters():
        redirect(inner, parameter, fusion.operands[parameter.parameter])
    redirect(body.users()[fusion], fusion, callee.root)
    body.nodes[place : place + 1] = inner
    site.draft.bodies.remove(callee)


def _ancestors(node: Node, count: int) -> list[Node]:
    """The node and at most `count - 1` operands, operands of operands..., operands first."""
    taken = [node]
    while len(taken) < count:
        fitting = [
            operand
            for operand in taken[-1].operands
            if operand.opcode not in WIRING and not operand.called
        ]
        if not fitting:
            break
        taken.append(fitting[0])
    return taken[::-1]


def _lay_out(site: Site, node: Node, layout: Layout) -> set[Node]:
    """Gives a value another layout; a fusion's is that of what it returns."""
    same_value = [node]
    while same_value[-1].opcode == "fusion":
        same_value.append(same_value[-1].called[0][1].root)
    outward = {caller.called[0][1].root: caller for _, caller in site.nodes("fusion")}
    while same_value[0] in outward:
        same_value.insert(0, outward[same_value[0]])
    touched: set[Node] = set()
    for one in same_value:
        touched |= alike(one, site.colour)
        one.shape = one.shape._replace(layout=layout)
    return touched


def _other_precision(node: Node) -> str:
    now = node.attrs.get("operand_precision", "")
    return "{high,high}" if "highest" in now else "{highest,highest}"


def _other_space(layout: Layout) -> Layout:
    return layout._replace(memory_space=0 if layout.memory_space else 1)
