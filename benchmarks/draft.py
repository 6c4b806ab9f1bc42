"""A module that can be changed in place: nodes point at nodes instead of positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hloscope.model.canonical import Ref
from hloscope.model.hlo import (
    NO_METADATA,
    Computation,
    Instruction,
    Literal,
    Metadata,
    Module,
    Shape,
    StackFrame,
)

T = TypeVar("T", "Node", "Body")


@dataclass(slots=True, eq=False)
class Node:
    """An instruction whose operands are nodes."""

    name: str
    id: int
    opcode: str
    shape: Shape
    operands: list[Node] = field(default_factory=list)
    called: list[tuple[str, Body]] = field(default_factory=list)
    attrs: dict[str, str] = field(default_factory=dict)
    control: list[Node] = field(default_factory=list)
    parameter: int = -1
    literal: Literal | None = None
    metadata: Metadata = NO_METADATA


@dataclass(slots=True, eq=False)
class Body:
    """A computation; `nodes` are in schedule order where the module is scheduled."""

    name: str
    nodes: list[Node]
    root: Node
    execution_thread: str

    def parameters(self) -> list[Node]:
        """The parameters by number."""
        return sorted((n for n in self.nodes if n.opcode == "parameter"), key=_number)

    def users(self) -> dict[Node, list[Node]]:
        """Every node's users inside this computation, once for each operand slot."""
        users: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for operand in node.operands:
                users[operand].append(node)
        return users


@dataclass(slots=True, eq=False)
class Draft:
    """A module in the making; `entry` is `None` where the source was cut off before it."""

    name: str
    bodies: list[Body]
    entry: Body | None
    is_scheduled: bool
    header: dict[str, str]
    stack_frames: tuple[StackFrame, ...]
    notes: tuple[str, ...]

    def nodes(self) -> Iterator[tuple[Body, Node]]:
        """All nodes with the body that holds them."""
        for body in self.bodies:
            for node in body.nodes:
                yield body, node

    def callers(self) -> dict[Body, list[Node]]:
        """The nodes that call each body."""
        callers: dict[Body, list[Node]] = {body: [] for body in self.bodies}
        for _, node in self.nodes():
            for _, body in node.called:
                callers[body].append(node)
        return callers

    def free_id(self) -> int:
        """A number that no node has."""
        return 1 + max((node.id for _, node in self.nodes()), default=0)


def thaw(module: Module) -> tuple[Draft, dict[Node, Ref]]:
    """A draft of the module, with the place that each node had in it."""
    bodies: list[Body] = []
    places: dict[Node, Ref] = {}
    for number, computation in enumerate(module.computations):
        body = _thaw_computation(computation, bodies)
        places.update((node, Ref(number, i)) for i, node in enumerate(body.nodes))
        bodies.append(body)
    draft = Draft(
        name=module.name,
        bodies=bodies,
        entry=None if module.entry is None else bodies[module.entry],
        is_scheduled=module.is_scheduled,
        header=dict(module.header),
        stack_frames=module.stack_frames,
        notes=module.notes,
    )
    return draft, places


def _thaw_computation(computation: Computation, bodies: Sequence[Body]) -> Body:
    nodes: list[Node] = []
    for i in computation.instructions:
        node = Node(i.name, i.id, i.opcode, i.shape)
        node.operands = [nodes[k] for k in i.operands]
        node.called = [(role, bodies[k]) for role, k in i.called]
        node.attrs = dict(i.attrs)
        node.parameter, node.literal, node.metadata = i.parameter, i.literal, i.metadata
        nodes.append(node)
    for node, i in zip(nodes, computation.instructions, strict=True):
        node.control = [nodes[k] for k in i.control]
    return Body(computation.name, nodes, nodes[computation.root], computation.execution_thread)


def freeze(draft: Draft) -> tuple[Module, dict[Node, Ref]]:
    """The module that the draft describes, with the place of each node in it.

    Operands are put before users and callees before callers; apart from that the order stays.
    """
    bodies = _before_users(draft.bodies, _called_bodies)
    number = {body: i for i, body in enumerate(bodies)}
    places: dict[Node, Ref] = {}
    computations = []
    for body in bodies:
        nodes = _before_users(body.nodes, _dependencies)
        position = {node: i for i, node in enumerate(nodes)}
        places.update((node, Ref(number[body], i)) for node, i in position.items())
        computations.append(
            Computation(
                body.name,
                tuple(_freeze_node(node, position, number) for node in nodes),
                position[body.root],
                body.execution_thread,
            )
        )
    module = Module(
        name=draft.name,
        computations=tuple(computations),
        entry=None if draft.entry is None else number[draft.entry],
        is_scheduled=draft.is_scheduled,
        header=tuple(sorted(draft.header.items())),
        stack_frames=draft.stack_frames,
        notes=draft.notes,
    )
    return module, places


def _freeze_node(node: Node, position: dict[Node, int], number: dict[Body, int]) -> Instruction:
    return Instruction(
        name=node.name,
        id=node.id,
        opcode=node.opcode,
        shape=node.shape,
        operands=tuple(position[o] for o in node.operands),
        called=tuple((role, number[body]) for role, body in node.called),
        attrs=tuple(sorted(node.attrs.items())),
        control=tuple(position[o] for o in node.control),
        parameter=node.parameter,
        literal=node.literal,
        metadata=node.metadata,
    )


def _number(node: Node) -> int:
    return node.parameter


def _called_bodies(body: Body) -> Iterable[Body]:
    return (callee for node in body.nodes for _, callee in node.called)


def _dependencies(node: Node) -> Iterable[Node]:
    return (*node.operands, *node.control)


def _before_users(items: Iterable[T], dependencies: Callable[[T], Iterable[T]]) -> list[T]:
    """The items in their own order, each after what it depends on."""
    done: dict[T, None] = {}
    for item in items:
        stack = [(item, iter(dependencies(item)))]
        open_items = {item}
        while stack:
            current, rest = stack[-1]
            following = next((d for d in rest if d not in done), None)
            if following is None:
                done[current] = None
                stack.pop()
            elif following in open_items:
                raise ValueError(f"'{current.name}' depends on itself")
            else:
                open_items.add(following)
                stack.append((following, iter(dependencies(following))))
    return list(done)
