"""Edits of element types."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks import header
from benchmarks.draft import Body, Node
from benchmarks.edit_site import TRIES, Site, Truth, redirect, truth

_ELEMENTWISE = frozenset(
    {"abs", "add", "cosine", "divide", "exponential", "log", "logistic", "maximum", "minimum",
     "multiply", "negate", "power", "rsqrt", "sine", "sqrt", "subtract", "tanh"}
)  # fmt: skip
_SHAPE_ONLY = frozenset(["reshape", "transpose", "broadcast", "copy", "slice"])


def narrow_one(site: Site) -> Truth | None:
    """Computes one elementwise operation in bf16, with conversions around it."""
    for body, node in site.nodes(*_ELEMENTWISE)[:TRIES]:
        users = body.users()[node]
        if not _is_float32(node) or not users or _near_convert(node, users):
            continue
        touched = [*_convert_operands(site, body, node, set()), node]
        node.shape = node.shape._replace(dtype="bf16")
        touched.append(_convert_back(site, body, node, users))
        return truth("change a dtype", touched)
    return None


def narrow_chain(site: Site) -> Truth | None:
    """Computes an elementwise operation and some of what follows it in bf16."""
    for body, node in site.nodes(*_ELEMENTWISE)[:TRIES]:
        users = body.users()
        chain = _chain(node, users)
        if not _is_float32(node) or len(chain) < 2 or body.root in chain:
            continue
        if any(_near_convert(member, users[member]) for member in chain):
            continue
        touched = list(chain)
        for member in chain:
            touched += _convert_operands(site, body, member, chain)
            member.shape = member.shape._replace(dtype="bf16")
        for member in chain:
            outside = [user for user in users[member] if user not in chain]
            if outside:
                touched.append(_convert_back(site, body, member, outside))
        return truth("change dtypes along a chain", touched)
    return None


def narrow_parameter(site: Site) -> Truth | None:
    """Takes an entry parameter in bf16 and converts it at once."""
    entry = site.draft.entry
    if entry is None or "entry_computation_layout" not in site.draft.header:
        return None
    users = entry.users()
    fitting = [p for p in entry.parameters() if _is_float32(p) and users[p]]
    fitting = [p for p in fitting if not _near_convert(p, users[p]) and p is not entry.root]
    if not fitting:
        return None
    parameter = site.rng.choice(fitting)
    parameter.shape = parameter.shape._replace(dtype="bf16")
    back = _convert_back(site, entry, parameter, users[parameter])
    layout = site.draft.header["entry_computation_layout"]
    arguments, result = header.split_layout(layout)
    number = parameter.parameter
    arguments[number] = arguments[number].replace("f32", "bf16", 1)
    site.draft.header["entry_computation_layout"] = header.join_layout(arguments, result)
    return truth("change a parameter's dtype", [parameter, back], ["entry_computation_layout"])


def _is_float32(node: Node) -> bool:
    return node.shape.dtype == "f32"


def _near_convert(node: Node, users: Iterable[Node]) -> bool:
    """Converts next to converts would make it a matter of taste which one was edited."""
    return any(other.opcode == "convert" for other in (node, *node.operands, *users))


def _convert_operands(site: Site, body: Body, node: Node, inside: Iterable[Node]) -> list[Node]:
    added = []
    for operand in dict.fromkeys(node.operands):
        if operand not in inside and _is_float32(operand):
            shape = operand.shape._replace(dtype="bf16")
            added.append(site.new(body, "convert", shape, [operand]))
            redirect([node], operand, added[-1])
    return added


def _convert_back(site: Site, body: Body, node: Node, users: Iterable[Node]) -> Node:
    back = site.new(body, "convert", node.shape._replace(dtype="f32"), [node])
    redirect(users, node, back)
    return back


def _chain(start: Node, users: dict[Node, list[Node]]) -> dict[Node, None]:
    chain = {start: None}
    while len(chain) < 5:
        grown = [
            user
            for member in chain
            for user in users[member]
            if user not in chain and user.opcode in _ELEMENTWISE | _SHAPE_ONLY and _is_float32(user)
        ]
        if not grown:
            break
        chain[grown[0]] = None
    return chain
