"""A module with its noise removed: what is left to compare."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from hloscope.model.hlo import Instruction, Module, Shape


class Ref(NamedTuple):
    """An instruction of a module: positions in `Module.computations` and `.instructions`."""

    computation: int
    instruction: int


class NodeKind(IntEnum):
    """What a node of the canonical graph is.

    OPERATION, WIRE and WRAPPER are instructions; the others are values that no single instruction
    makes.
    """

    OPERATION = 0  # computes, moves or sends something
    WIRE = 1  # hands values on: tuple, get-tuple-element, parameter of an inlined computation
    WRAPPER = 2  # a boundary around other nodes: fusion, while, conditional, call, async-start/done
    ELEMENT = 3  # one element of a tuple that an operation makes, or that holds all arguments
    SLOT = 4  # what a loop carries, a conditional yields or a barrier passes, whatever its position


class Label(NamedTuple):
    """What an instruction is, apart from where its operands come from, without noise.

    Attributes:
      opcode: XLA's opcode; for a value `element` or `slot`.
      shape: without layouts; tuples of wires and wrappers are emptied, since positions are noise.
      attrs: canonical text of the attributes that are left, sorted by name.
      literal: a constant's value: its digest in hex, or XLA's text where the source elides it.
      kept: what passes that were switched off left in, by pass.
    """

    opcode: str
    shape: Shape
    attrs: tuple[tuple[str, str], ...] = ()
    literal: str = ""
    kept: tuple[tuple[str, str], ...] = ()

    def attr(self, name: str) -> str | None:
        """The canonical text of one attribute, `None` where the label does not have it."""
        for key, value in self.attrs:
            if key == name:
                return value
        return None


class Alias(NamedTuple):
    """A donated input whose memory an output takes over (`input_output_alias`).

    Attributes:
      parameter: node of the entry parameter (or of its element).
      output: node of the value that the module returns there.
      kind: `may-alias` or `must-alias`.
    """

    parameter: int
    output: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Where values come from, through tuples, called computations and loop carries.

    Attributes:
      kinds: `NodeKind` of each node.
      sources: node to the nodes its operands come from, in operand order, flattened where an
        operand is a tuple. A loop's slot has its initial value alone here. An element has the
        operation that makes the tuple; one of a combined collective also its own operand.
      back: a loop's slot to its value after one turn of the body.
      called: node to (role, root node) of each computation that it calls.
      control: node to its control predecessors, for the nodes that have any.
      commutative: 1 where the order of a node's sources does not matter.
      topological: every node, sources and called roots first (`back` apart).
      outputs: nodes that the entry returns, in the order of its flattened result.
    """

    kinds: bytes
    sources: tuple[tuple[int, ...], ...]
    back: Mapping[int, int]
    called: Mapping[int, tuple[tuple[str, int], ...]]
    control: Mapping[int, tuple[int, ...]]
    commutative: bytes
    topological: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CanonicalModule:
    """A module as a graph without noise, beside the module as it was read.

    Nodes are numbered: instruction i of computation c is node `offsets[c] + i`; values that no
    single instruction makes (`NodeKind.ELEMENT`, `SLOT`) have the numbers from
    `module.instruction_count` on. Two canonical modules are equal when their fingerprints are.

    Attributes:
      strict: whether `fingerprint` covers layouts and the schedule.
      off: names of the passes that were switched off.
      count: nodes that are instructions; elements and slots have the numbers from here on.
      offsets: the first node of each computation.
      flow: the graph.
      labels: the distinct labels.
      label_of: node to position in `labels`.
      layout_of: node to its layouts in XLA's text form, `""` where they are the default ones.
      inlined: computation to the wrapper node that runs it, -1 for the entry and for
        computations that are not inlined.
      parameters: nodes of the entry parameters, by parameter number; where the entry takes one
        tuple of all arguments, its elements.
      paths: entry parameter node to its canonical state path, where it has one.
      aliases: donations that the module kept.
      donors: nodes of the entry parameters that are offered and not aliased (`buffer_donor`).
      header: canonical module attributes that speak of no parameter or output.
      order: every node, in canonical order.
      graph_fingerprint: BLAKE2b-128 in hex of everything but layouts and schedule.
      full_fingerprint: the same with layouts and schedule.
      notes: what normalizing had to leave in or guess, one sentence each.
    """

    module: Module
    strict: bool
    off: frozenset[str]
    count: int
    offsets: tuple[int, ...]
    flow: Flow
    labels: tuple[Label, ...]
    label_of: tuple[int, ...]
    layout_of: tuple[str, ...]
    inlined: tuple[int, ...]
    parameters: tuple[int, ...]
    paths: Mapping[int, tuple[str, ...]]
    aliases: tuple[Alias, ...]
    donors: tuple[int, ...]
    header: tuple[tuple[str, str], ...]
    order: tuple[int, ...]
    graph_fingerprint: str
    full_fingerprint: str
    notes: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """Equal exactly when the canonical modules are equal, as strictly as was asked for."""
        return self.full_fingerprint if self.strict else self.graph_fingerprint

    def sources(self, node: int) -> tuple[int, ...]:
        """Where a node's operands come from; for a loop's slot, first value and next value."""
        after = self.flow.back.get(node)
        return self.flow.sources[node] + (() if after is None else (after,))

    def node(self, ref: Ref) -> int:
        """The node of an instruction."""
        return self.offsets[ref.computation] + ref.instruction

    def ref(self, node: int) -> Ref | None:
        """The instruction of a node, `None` for an element or a slot."""
        if node >= self.count:
            return None
        computation = bisect_right(self.offsets, node) - 1
        return Ref(computation, node - self.offsets[computation])

    def label(self, ref: Ref) -> Label:
        """What an instruction is, without noise."""
        return self.labels[self.label_of[self.node(ref)]]

    def instruction(self, ref: Ref) -> Instruction:
        """An instruction as it was read."""
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CanonicalModule):
            return NotImplemented
        return (self.strict, self.fingerprint) == (other.strict, other.fingerprint)

    def __hash__(self) -> int:
        return int(self.fingerprint[:15], 16)
