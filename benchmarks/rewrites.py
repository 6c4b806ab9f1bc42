"""Rewrites that keep the program: what they change is noise by definition."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from benchmarks import header
from benchmarks.draft import Body, Draft, Node, freeze, thaw
from benchmarks.rewrites_combined import permute_combined
from hloscope.model.hlo import NO_METADATA, Metadata, Module

Rewrite = Callable[[Draft, Random], None]

COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
# how likely each kind of noise is to be part of one rewrite; all of them meet often
_SHARE = 0.6


def rewrite(module: Module, rng: Random) -> tuple[Module, tuple[str, ...]]:
    """The same program written otherwise, with the names of the rewrites that were applied."""
    draft, _ = thaw(module)
    names = disturb(draft, rng)
    return freeze(draft)[0], names


def disturb(draft: Draft, rng: Random) -> tuple[str, ...]:
    """Applies a random choice of rewrites in place; gives their names."""
    names = [name for name in REWRITES if rng.random() < _SHARE]
    names = names or [rng.choice(list(REWRITES))]
    # without paths nothing says which parameter is which but its number
    if "strip metadata" in names:
        names = [name for name in names if name not in _NEED_PATHS]
    for name in names:
        REWRITES[name](draft, rng)
    return tuple(names)


def rename(draft: Draft, rng: Random) -> None:
    """Gives the module, its computations and its instructions other names."""
    draft.name = f"jit_{rng.randrange(1000)}"
    count = sum(1 for _ in draft.nodes()) + len(draft.bodies)
    numbers = iter(rng.sample(range(10 * count), count))
    stems = ("fusion", "x", "convert_bitcast_fusion", "loop", "node")
    for body in draft.bodies:
        body.name = f"{rng.choice(stems)}_computation.{next(numbers)}"
    for _, node in draft.nodes():
        stem = rng.choice((*stems, node.opcode))
        node.name = f"{stem}.{next(numbers)}"


def renumber(draft: Draft, rng: Random) -> None:
    """Gives every instruction another id."""
    nodes = [node for _, node in draft.nodes()]
    for node, number in zip(nodes, rng.sample(range(1, 10 * len(nodes)), len(nodes)), strict=True):
        node.id = number


def renumber_channels(draft: Draft, rng: Random) -> None:
    """Gives every channel another id, one for one."""
    having = [node for _, node in draft.nodes() if "channel_id" in node.attrs]
    old = sorted({node.attrs["channel_id"] for node in having})
    new = rng.sample(range(1, 10 * len(old) + 1), len(old))
    mapping = dict(zip(old, new, strict=True))
    for node in having:
        node.attrs["channel_id"] = str(mapping[node.attrs["channel_id"]])


def shuffle_computations(draft: Draft, rng: Random) -> None:
    """Lists the computations in another order; freezing puts callees first again."""
    rng.shuffle(draft.bodies)


def reorder(draft: Draft, rng: Random) -> None:
    """Lists instructions in another order that operands and control predecessors allow.

    In a scheduled module this is another schedule of the same graph.
    """
    for body in draft.bodies:
        body.nodes = _random_order(body, rng)


def strip_metadata(draft: Draft, rng: Random) -> None:  # noqa: ARG001 - one signature for all
    """Removes op_names, source lines and stack frames, those of parameters too."""
    draft.stack_frames = ()
    for _, node in draft.nodes():
        node.metadata = NO_METADATA


def change_metadata(draft: Draft, rng: Random) -> None:
    """Changes where instructions come from; entry parameters keep the path that names them."""
    draft.stack_frames = ()
    keep = set(draft.entry.parameters()) if draft.entry else set()
    for _, node in draft.nodes():
        path = node.metadata.op_name if node in keep else f"jit(g)/layer_{rng.randrange(9)}/op"
        node.metadata = Metadata(
            op_name=path,
            op_type=node.opcode,
            source_file=f"/src/{rng.randrange(5)}.py",
            source_line=rng.randrange(1, 500),
        )


def commute(draft: Draft, rng: Random) -> None:
    """Swaps the operands of operations that commute."""
    for _, node in draft.nodes():
        if is_commutative(node) and rng.random() < 0.5:
            node.operands.reverse()


def is_commutative(node: Node) -> bool:
    """Whether swapping the two operands leaves the value as it is."""
    if node.opcode == "compare":
        return node.attrs.get("direction") in ("EQ", "NE")
    return node.opcode in COMMUTATIVE and len(node.operands) == 2


def permute_parameters(draft: Draft, rng: Random) -> None:
    """Numbers the entry parameters otherwise; their paths go with them."""
    if draft.entry is None:
        return
    parameters = draft.entry.parameters()
    paths = {node.metadata.op_name for node in parameters}
    if len(paths) < len(parameters) or "" in paths:
        return
    place = _permutation(len(parameters), rng)
    for node in parameters:
        node.parameter = place[node.parameter]
    edits: dict[str, Callable[[str], str]] = {
        "input_output_alias": lambda text: header.renumber_parameters(text, place),
        "buffer_donor": lambda text: header.renumber_parameters(text, place),
        "entry_computation_layout": lambda text: header.permute_layout(text, place),
    }
    _edit_header(draft, edits)
    _permute_modes(draft, "arg_", place)


def permute_outputs(draft: Draft, rng: Random) -> None:
    """Returns the entry's outputs in another order."""
    if draft.entry is None or not _is_plain_tuple(draft.entry.root, draft.entry):
        return
    root = draft.entry.root
    place = _permutation(len(root.operands), rng)
    _permute_tuple(root, place)
    edits: dict[str, Callable[[str], str]] = {
        "input_output_alias": lambda text: header.renumber_outputs(text, place),
        "entry_computation_layout": lambda text: header.permute_layout_result(text, place),
    }
    _edit_header(draft, edits)
    _permute_modes(draft, "out_", place)


def permute_carries(draft: Draft, rng: Random) -> None:
    """Carries the values of while loops at other tuple positions."""
    callers = draft.callers()
    for body, node in list(draft.nodes()):
        if node.opcode == "while" and _carry_is_plain(node, body, callers):
            _permute_carry(node, body, rng)


def permute_callee_parameters(draft: Draft, rng: Random) -> None:
    """Passes the operands of fusions and calls in another order."""
    callers = draft.callers()
    for _, node in draft.nodes():
        if node.opcode not in ("fusion", "call") or "output_to_operand_aliasing" in node.attrs:
            continue
        ((_, callee),) = node.called
        if len(callers[callee]) == 1 and not _mentions_operands(node):
            place = _permutation(len(node.operands), rng)
            for parameter in callee.parameters():
                parameter.parameter = place[parameter.parameter]
            node.operands = _moved(node.operands, place)


def expand_replica_groups(draft: Draft, rng: Random) -> None:
    """Writes `[2,2]<=[4]` as `{{0,1},{2,3}}`."""
    for _, node in draft.nodes():
        text = node.attrs.get("replica_groups", "")
        groups = iota_groups(text)
        if groups is not None and rng.random() < 0.5:
            node.attrs["replica_groups"] = groups_text(groups)


def iota_groups(text: str) -> list[list[int]] | None:
    """The groups that `[n,m]<=[dims]T(permutation)` stands for; `None` for other notations."""
    match = re.fullmatch(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if match is None:
        return None
    shape, dims = _integers(match[1]), _integers(match[2])
    if len(shape) != 2:
        return None
    order = _integers(match[3]) if match[3] else list(range(len(dims)))
    flat = _transposed_iota(dims, order)
    return [flat[i : i + shape[1]] for i in range(0, len(flat), shape[1])]


def groups_text(groups: Sequence[Sequence[int]]) -> str:
    """`{{0,1},{2,3}}`."""
    return "{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in groups) + "}"


REWRITES: dict[str, Rewrite] = {
    "rename": rename,
    "renumber": renumber,
    "reorder": reorder,
    "shuffle computations": shuffle_computations,
    "strip metadata": strip_metadata,
    "change metadata": change_metadata,
    "commute": commute,
    "permute parameters": permute_parameters,
    "permute outputs": permute_outputs,
    "permute carries": permute_carries,
    "permute callee parameters": permute_callee_parameters,
    "renumber channels": renumber_channels,
    "permute combined collectives": permute_combined,
    "replica group notation": expand_replica_groups,
}
_NEED_PATHS = frozenset({"permute parameters", "change metadata"})


def _random_order(body: Body, rng: Random) -> list[Node]:
    waiting = {node: len({*node.operands, *node.control}) for node in body.nodes}
    users: dict[Node, list[Node]] = {node: [] for node in body.nodes}
    for node in body.nodes:
        for dependency in dict.fromkeys((*node.operands, *node.control)):
            users[dependency].append(node)
    ready = [node for node, count in waiting.items() if count == 0]
    order: list[Node] = []
    while ready:
        position = rng.randrange(len(ready))
        ready[position], ready[-1] = ready[-1], ready[position]
        order.append(node := ready.pop())
        for user in users[node]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return order


def _permutation(count: int, rng: Random) -> list[int]:
    place = list(range(count))
    rng.shuffle(place)
    return place


def _moved(items: Sequence[Node], place: Sequence[int]) -> list[Node]:
    moved = list(items)
    for item, new in zip(items, place, strict=True):
        moved[new] = item
    return moved


def _edit_header(draft: Draft, edits: dict[str, Callable[[str], str]]) -> None:
    for name, edit in edits.items():
        if name in draft.header:
            draft.header[name] = edit(draft.header[name])


def _permute_modes(draft: Draft, prefix: str, place: Sequence[int]) -> None:
    """`arg_layout_modes` holds one mode for each parameter, as do the like."""
    text = draft.header.get("frontend_attributes", "")

    def permuted(match: re.Match[str]) -> str:
        modes = match[2].split(";")
        if len(modes) != len(place):
            return match[0]
        return f'{match[1]}"{";".join(header.move(modes, place))}"'

    if text:
        pattern = rf'({prefix}(?:layout_modes|memory_spaces)=)"([^"]*)"'
        draft.header["frontend_attributes"] = re.sub(pattern, permuted, text)


def _mentions_operands(node: Node) -> bool:
    return "operand" in node.attrs.get("backend_config", "")


def _is_plain_tuple(node: Node, body: Body) -> bool:
    """Whether the node is a tuple that nothing uses and whose positions no attribute names."""
    return node.opcode == "tuple" and not node.attrs and not body.users()[node]


def _permute_tuple(node: Node, place: Sequence[int]) -> None:
    node.operands = _moved(node.operands, place)
    _permute_shape(node, place)


def _permute_shape(node: Node, place: Sequence[int]) -> None:
    elements = list(node.shape.elements)
    for element, new in zip(node.shape.elements, place, strict=True):
        elements[new] = element
    node.shape = node.shape._replace(elements=tuple(elements))


def _carry_is_plain(node: Node, holder: Body, callers: dict[Body, list[Node]]) -> bool:
    """Whether the carry is used through get-tuple-element alone, on all sides of the loop."""
    init = node.operands[0]
    tuples = [(init, holder)]
    outside = holder.users()
    if init.opcode != "tuple" or outside[init] != [node] or not _only_elements(outside[node]):
        return False
    if any(node is control for other in holder.nodes for control in other.control):
        return False
    for role, callee in node.called:
        (parameter,) = callee.parameters()
        users = callee.users()
        tuples.append((parameter, callee))
        if len(callers[callee]) > 1 or not _only_elements(users[parameter]):
            return False
        if role == "body":
            tuples.append((callee.root, callee))
            if callee.root.opcode != "tuple" or users[callee.root]:
                return False
    if holder.root in (node, init):
        return False
    return not any("sharding" in t.attrs or "frontend_attributes" in t.attrs for t, _ in tuples)


def _only_elements(users: Sequence[Node]) -> bool:
    return all(user.opcode == "get-tuple-element" for user in users)


def _permute_carry(node: Node, holder: Body, rng: Random) -> None:
    place = _permutation(len(node.shape.elements), rng)
    _permute_tuple(node.operands[0], place)
    _permute_shape(node, place)
    _renumber_elements(holder.users()[node], place)
    for role, callee in node.called:
        (parameter,) = callee.parameters()
        _permute_shape(parameter, place)
        _renumber_elements(callee.users()[parameter], place)
        if role == "body":
            _permute_tuple(callee.root, place)
    if "backend_config" in node.attrs:
        node.attrs["backend_config"] = re.sub(
            r'("tuple_index":\s*"?)(\d+)',
            lambda match: f"{match[1]}{place[int(match[2])]}",
            node.attrs["backend_config"],
        )


def _renumber_elements(users: Sequence[Node], place: Sequence[int]) -> None:
    for user in users:
        user.attrs["index"] = str(place[int(user.attrs["index"])])


def _integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _transposed_iota(dims: Sequence[int], order: Sequence[int]) -> list[int]:
    """`iota(dims).transpose(order).ravel()`."""
    strides = [1] * len(dims)
    for i in range(len(dims) - 2, -1, -1):
        strides[i] = strides[i + 1] * dims[i + 1]
    flat = [0]
    for axis in order:
        flat = [base + strides[axis] * i for base in flat for i in range(dims[axis])]
    return flat
