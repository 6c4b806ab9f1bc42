"""Two canonical modules side by side, with who corresponds to whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from hloscope.model.canonical import CanonicalModule, Label, NodeKind
from hloscope.model.changes import FieldChange
from hloscope.model.hlo import Instruction
from hloscope.model.pairing import Pairing

NONE = -1


class Side:
    """One canonical module, with what is asked of it again and again looked up once."""

    def __init__(self, module: CanonicalModule) -> None:
        self.canonical = module
        self.module = module.module
        self.kinds = module.flow.kinds
        self.sources = _sources(module)
        self.called = module.flow.called
        self.labels = module.labels
        self.label_of = module.label_of
        self.layout_of = module.layout_of
        self.computation_of = self._computations()
        # instructions; nodes from here on are elements and slots
        self.size = len(self.computation_of)
        self.loop_of = self._enclosing("while")
        self.fusion_of = self._enclosing("fusion")
        self.position = self._positions()
        self.slot_owner = self._slot_owners()
        # place of each argument that is an element of one tuple
        self.arguments = {n: k for k, n in enumerate(module.parameters) if n >= self.size}
        self.silent = self._silent()

    def label(self, node: int) -> Label:
        """What a node is."""
        return self.labels[self.label_of[node]]

    def instruction(self, node: int) -> Instruction:
        """A node's instruction as it was read."""
        number = self.computation_of[node]
        offset = self.canonical.offsets[number]
        return self.module.computations[number].instructions[node - offset]

    def name(self, node: int) -> str:
        """An instruction's name; an element's maker's, for a slot that of what it starts as."""
        suffix = ""
        while node >= self.size:
            suffix = " (carried)" if self.kinds[node] == NodeKind.SLOT else suffix
            if not self.sources[node]:
                return f"value{suffix}"
            if node in self.arguments:
                suffix = f"[{self.arguments[node]}]{suffix}"
            # what a slot starts as is made before the slot, so this ends
            node = self.sources[node][0]
        return f"{self.instruction(node).name}{suffix}"

    def title(self, node: int) -> str:
        """An entry parameter's state path where it has one, else the name."""
        path = self.canonical.paths.get(node)
        return "/".join(path) if path else self.name(node)

    def wrapper(self, node: int) -> int:
        """The node of the instruction that a node's computation is inlined into, -1 for none."""
        return self.canonical.inlined[self.computation_of[node]] if node < self.size else NONE

    def feeders(self, node: int) -> Iterator[int]:
        """The nodes that a node reads, with elements of a tuple result resolved to its maker."""
        for source in self.sources[node]:
            while self.kinds[source] == NodeKind.ELEMENT and source not in self.arguments:
                source = self.sources[source][0]
            yield source

    @cached_property
    def digests(self) -> dict[int, bytes]:
        """The content, without noise, of each computation that is called and not inlined."""
        found: dict[int, bytes] = {}
        for number in range(len(self.module.computations)):
            if self.canonical.inlined[number] == NONE and number != self.module.entry:
                found[number] = self._digest(number, found)
        return found

    @cached_property
    def _label_texts(self) -> list[bytes]:
        return [repr(label).encode() for label in self.labels]

    def _digest(self, number: int, known: dict[int, bytes]) -> bytes:
        computation = self.module.computations[number]
        digests: list[bytes] = []
        for index, ins in enumerate(computation.instructions):
            node = self.canonical.offsets[number] + index
            operands = [digests[o] for o in ins.operands]
            if self.canonical.flow.commutative[node]:
                operands.sort()
            called = [known.get(n, b"") for _, n in ins.called]
            text = self._label_texts[self.label_of[node]] + b"%d" % ins.parameter
            digests.append(blake2b(b"".join([*operands, *called, text]), digest_size=16).digest())
        return blake2b(b"".join(sorted(digests)) + digests[computation.root]).digest()

    def is_part(self, node: int) -> bool:
        """Whether it is one of several values that a combined collective works on."""
        return self.kinds[node] == NodeKind.ELEMENT and len(self.sources[node]) > 1

    def _silent(self) -> bytes:
        """1 for nodes that have nothing to say themselves.

        Wires only hand values on. An element is named through the operation that makes it, unless
        it is an argument, or a part of a combined collective.
        """
        silent = bytearray(kind == NodeKind.WIRE for kind in self.kinds)
        for node in range(self.size, len(silent)):
            if self.kinds[node] == NodeKind.ELEMENT and node not in self.arguments:
                silent[node] = not self.is_part(node)
        return bytes(silent)

    def _computations(self) -> list[int]:
        return [
            number
            for number, computation in enumerate(self.module.computations)
            for _ in computation.instructions
        ]

    def _enclosing(self, opcode: str) -> list[int]:
        """For each computation, the nearest wrapper of this opcode around it, -1 for none."""
        found = [NONE] * len(self.module.computations)
        for number in range(len(found)):
            wrapper = self.canonical.inlined[number]
            while wrapper != NONE and self.instruction(wrapper).opcode != opcode:
                wrapper = self.wrapper(wrapper)
            found[number] = wrapper
        return found

    def _slot_owners(self) -> dict[int, int]:
        return {
            source: node
            for node in self.called
            if self.kinds[node] == NodeKind.WRAPPER
            for source in self.sources[node]
            if self.kinds[source] == NodeKind.SLOT and self.instruction(node).opcode == "while"
        }

    def _positions(self) -> list[float]:
        order = self.canonical.order
        position = [0.0] * max(len(self.sources), 1)
        for rank, node in enumerate(order):
            position[node] = rank / len(order)
        return position


def _sources(module: CanonicalModule) -> list[tuple[int, ...]]:
    """By node; a loop's slot has its first value and the one after a turn of the body."""
    sources = list(module.flow.sources)
    for node, after in module.flow.back.items():
        sources[node] = (*sources[node], after)
    return sources


@dataclass(slots=True, eq=False)
class Item:
    """Something that differs: a pair of nodes, or a node that one side lacks.

    Attributes:
      lhs: node, -1 for none.
      own: what nothing else explains.
      derived: what follows from a difference in what the node reads.
      follows: for a node without partner: whether another one explains it.
    """

    lhs: int
    rhs: int
    own: list[FieldChange] = field(default_factory=list)
    derived: list[FieldChange] = field(default_factory=list)
    follows: bool = False

    @property
    def paired(self) -> bool:
        """Whether both sides have the node."""
        return self.lhs != NONE and self.rhs != NONE

    @property
    def head(self) -> bool:
        """Whether it would differ even if nothing else did."""
        return bool(self.own) if self.paired else not self.follows

    @property
    def differs(self) -> bool:
        """Whether there is anything to report."""
        return not self.paired or bool(self.own or self.derived)


class Joined:
    """Both sides with the pairing between their nodes."""

    def __init__(self, lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing) -> None:
        self.lhs, self.rhs = Side(lhs), Side(rhs)
        self.pairing = pairing
        self.partners, self.rhs_partners = pairing.partners, pairing.rhs_partners

    def same(self, left: int, right: int) -> bool:
        """Whether two nodes are each other's partners; no node corresponds to no node."""
        if left == NONE or right == NONE:
            return left == right
        return self.partners[left] == right

    def lone(self, left: int, right: int) -> bool:
        """Whether either of two nodes has no partner at all."""
        return (left != NONE and self.partners[left] == NONE) or (
            right != NONE and self.rhs_partners[right] == NONE
        )
