"""A place to edit: a draft with what edits ask of it, and the truth they leave behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from benchmarks.colours import Palette, colours
from benchmarks.draft import Body, Draft, Node
from hloscope.model.hlo import Shape

TRIES = 60  # places looked at before an edit gives up on a draft
WIRING = frozenset({"parameter", "tuple", "get-tuple-element", "constant"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What an edit changed.

    Attributes:
      kind: the edit's name.
      nodes: the edited instructions, old and new. Where the edit cannot be told from the same edit
        of another instruction (one of two equal branches), that one is here as well.
      header: edited module attributes.
    """

    kind: str
    nodes: frozenset[Node]
    header: frozenset[str] = frozenset()


@dataclass(slots=True)
class Site:
    """A draft that is being edited, with what edits ask of it."""

    draft: Draft
    rng: Random
    colour: dict[Node, int] = field(default_factory=dict)
    next_id: int = 0

    def __post_init__(self) -> None:
        self.colour = colours(self.draft, Palette())
        self.next_id = self.draft.free_id()

    def nodes(self, *opcodes: str) -> list[tuple[Body, Node]]:
        """Nodes of these opcodes (of any, without) in a random order."""
        live = self.live()
        found = [
            (body, node)
            for body, node in self.draft.nodes()
            if body in live and (not opcodes or node.opcode in opcodes)
        ]
        self.rng.shuffle(found)
        return found

    def live(self) -> set[Body]:
        """Computations that the entry reaches; all of them where the source has no entry."""
        if self.draft.entry is None:
            return set(self.draft.bodies)
        reached: dict[Body, None] = {self.draft.entry: None}
        waiting = [self.draft.entry]
        while waiting:
            for node in waiting.pop().nodes:
                fresh = [callee for _, callee in node.called if callee not in reached]
                reached.update(dict.fromkeys(fresh))
                waiting.extend(fresh)
        return set(reached)

    def reducers(self) -> set[Body]:
        """Computations that are applied element by element: no place for a collective."""
        return {
            callee
            for _, node in self.draft.nodes()
            for role, callee in node.called
            if role == "to_apply" and node.opcode != "call"
        }

    def new(self, body: Body, opcode: str, shape: Shape, operands: Sequence[Node]) -> Node:
        """A new node right after its last operand."""
        node = Node(f"{opcode}.new.{self.next_id}", self.next_id, opcode, shape, list(operands))
        node.metadata = operands[0].metadata if operands else node.metadata
        self.next_id += 1
        last = max((body.nodes.index(operand) for operand in operands), default=-1)
        body.nodes.insert(last + 1, node)
        return node


def truth(kind: str, nodes: Iterable[Node], header_names: Iterable[str] = ()) -> Truth:
    """The record of an edit."""
    return Truth(kind=kind, nodes=frozenset(nodes), header=frozenset(header_names))


def redirect(users: Iterable[Node], old: Node, new: Node) -> None:
    """Makes users of one node users of another."""
    for user in users:
        user.operands = [new if operand is old else operand for operand in user.operands]


def may_be_copied(node: Node, users: Iterable[Node]) -> bool:
    """Not inside an asynchronous pair, and not beside a copy that it could be taken for."""
    near = {node.opcode, *(user.opcode for user in users)}
    return "copy" not in near and not any(o.endswith(("-start", "-done", "-update")) for o in near)
