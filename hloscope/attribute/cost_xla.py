"""XLA's own cost analysis (`HloCostAnalysis`) replayed, where a loop body counts once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hloscope.attribute.cost_alike import fused_computations
from hloscope.attribute.cost_custom_calls import read_estimate, target_of
from hloscope.attribute.cost_flops import APPLIED, Arithmetic, arithmetic
from hloscope.attribute.cost_traffic import is_bitcast
from hloscope.attribute.cost_users import Graph, called
from hloscope.attribute.cost_xla_fusion import fusion_bytes
from hloscope.attribute.cost_xla_rules import (
    CURRENT_RULES,
    XlaRules,
    leaf_sizes,
    shape_size,
)
from hloscope.model.hlo import Computation, Instruction, Shape

# XLA marks what a custom call does as unknown with -1, which then takes part in its sums
UNKNOWN = -1
_MOSAIC = "tpu_custom_call"
_NO_BYTES = frozenset({
    "add-dependency", "after-all", "bitcast", "constant", "domain", "get-tuple-element",
    "parameter",
})  # fmt: skip
# what runs as part of the program, by opcode: the roles of its computations
PROGRAM_ROLES = {
    "while": ("body", "condition"),
    "call": ("to_apply", "calls"),
    "fusion": ("calls",),
    "async-start": ("calls",),
}
BRANCH_ROLES = ("branch_computations", "true_computation", "false_computation")


class XlaCost(NamedTuple):
    """XLA's figures of one execution."""

    flops: int = 0
    transcendentals: int = 0
    bytes: int = 0

    def plus(self, other: XlaCost) -> XlaCost:
        """Both together."""
        return XlaCost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes + other.bytes,
        )


_FREE = XlaCost()
Sums = Mapping[int, XlaCost]


class Replay(NamedTuple):
    """XLA's figures by position: of computations with all they call, of instructions alone.

    Attributes:
      unreadable: instructions, as (computation, position), whose attributes make no sense; they
        count no arithmetic. Of computations that are alike the first is named alone.
    """

    computations: Mapping[int, XlaCost]
    instructions: Mapping[int, tuple[XlaCost, ...]]
    unreadable: frozenset[tuple[int, int]]


def replay(graph: Graph, rules: XlaRules = CURRENT_RULES) -> Replay:
    """XLA's figures of every computation, callees before callers."""
    sums: dict[int, XlaCost] = {}
    details: dict[int, tuple[XlaCost, ...]] = {}
    unreadable: set[tuple[int, int]] = set()
    known: dict[tuple[int, bool], XlaCost | None] = {}
    fused = fused_computations(graph.module)
    for position in graph.order:
        first = graph.alike[position]
        if first == position:
            own, unread = _figures(
                graph, position, known, sums, None if position in fused else rules
            )
            details[position] = own
            unreadable.update((position, number) for number in unread)
            sums[position] = _sum_of(graph, position, own, sums)
        else:
            sums[position], details[position] = sums[first], details[first]
    return Replay(sums, details, frozenset(unreadable))


def _figures(
    graph: Graph,
    position: int,
    known: dict[tuple[int, bool], XlaCost | None],
    sums: Sums,
    rules: XlaRules | None,
) -> tuple[tuple[XlaCost, ...], list[int]]:
    """Each instruction's own figures, with the positions of those that do not read.

    `known` has the figures of instructions seen before, by signature and whether they are fused.
    """
    computation = graph.body(position)
    signatures = graph.signatures(position)
    own: list[XlaCost] = []
    unread: list[int] = []
    for number, instruction in enumerate(computation.instructions):
        key = (signatures[number], rules is None)
        if key not in known:
            known[key] = _own(graph, computation, instruction, sums, rules)
        cost = known[key]
        if cost is None:
            unread.append(number)
        own.append(cost or _FREE)
    return tuple(own), unread


def _sum_of(graph: Graph, position: int, own: Sequence[XlaCost], sums: Sums) -> XlaCost:
    """A computation's figures with those of all it calls."""
    below = [
        _below(graph, instruction, sums)
        for instruction in graph.body(position).instructions
        if instruction.called
    ]
    return XlaCost(*(sum(figures) for figures in zip(_FREE, *own, *below, strict=True)))


def _at(sums: Sums, position: int) -> XlaCost:
    # nothing is there where calls form a cycle, which no XLA module has
    return sums.get(position, _FREE)


def counted_callees(graph: Graph, instruction: Instruction) -> list[int]:
    """The computations that XLA adds to an instruction, but for a conditional's branches."""
    if instruction.opcode == "fusion" and _moving(graph, instruction) is not None:
        return []
    found = [called(instruction, role) for role in PROGRAM_ROLES.get(instruction.opcode, ())]
    return [callee for callee in found if callee is not None]


def _moving(graph: Graph, fusion: Instruction) -> tuple[int, Instruction] | None:
    """The gather or scatter in a custom fusion: XLA takes its cost for the fusion's."""
    position = called(fusion) if fusion.attr("kind") == "kCustom" else None
    if position is None:
        return None
    for inner in graph.body(position).instructions:
        if inner.opcode in ("gather", "scatter"):
            return position, inner
    return None


def _below(graph: Graph, instruction: Instruction, sums: Sums) -> XlaCost:
    """What the computations add that run as part of the program."""
    if instruction.opcode == "conditional":
        found = [_at(sums, n) for role, n in instruction.called if role in BRANCH_ROLES]
        return XlaCost(*(max(figures) for figures in zip(*found, strict=True)))
    total = XlaCost()
    for callee in counted_callees(graph, instruction):
        total = total.plus(_at(sums, callee))
    # a fusion's inner bytes stay inside
    return total._replace(bytes=0) if instruction.opcode == "fusion" else total


def _own(
    graph: Graph,
    computation: Computation,
    instruction: Instruction,
    sums: Sums,
    rules: XlaRules | None,
) -> XlaCost | None:
    """The instruction's own figures; bytes are 0 where no rules say how they count."""
    opcode = instruction.opcode
    if opcode in _NO_BYTES:
        return _FREE
    if opcode == "custom-call":
        return _custom_call(instruction, rules)
    if opcode == "fusion":
        moving = _moving(graph, instruction)
        if moving is not None:
            return _own(graph, graph.body(moving[0]), moving[1], sums, rules)
        return XlaCost(0, 0, fusion_bytes(graph, instruction, rules)) if rules else _FREE
    operands = [computation.instructions[n].shape for n in instruction.operands]
    done = _arithmetic(instruction, operands, sums)
    if done is None:
        return None
    moved = _bytes(instruction, operands, rules) if rules else 0
    return XlaCost(done.flops, done.transcendentals, moved)


def _custom_call(instruction: Instruction, rules: XlaRules | None) -> XlaCost:
    if rules is None:
        return XlaCost(UNKNOWN, 0, 0)
    if not rules.kernels or target_of(instruction) != _MOSAIC:
        return XlaCost(UNKNOWN, 0, UNKNOWN)
    estimate = read_estimate(instruction)
    return XlaCost() if estimate is None else XlaCost(*estimate)


def _arithmetic(
    instruction: Instruction, operands: Sequence[Shape], sums: Sums
) -> Arithmetic | None:
    """An instruction's arithmetic given its callees' sums; `None` where its text makes no sense."""
    applied: list[Arithmetic] = []
    if instruction.opcode in APPLIED:
        applied = [Arithmetic(*_at(sums, n)[:2]) for _, n in instruction.called]
    try:
        return arithmetic(instruction, operands, applied)
    except (IndexError, ValueError):
        return None


def _bytes(instruction: Instruction, operands: Sequence[Shape], rules: XlaRules) -> int:
    opcode, shape = instruction.opcode, instruction.shape
    if opcode in _NO_BYTES or opcode in PROGRAM_ROLES or opcode == "conditional":
        return 0
    if opcode == "tuple":
        return shape_size(shape, rules)
    if opcode == "transpose" and operands and is_bitcast(instruction, operands[0]):
        return 0
    special = _special_bytes(instruction, [shape_size(o, rules) for o in operands], rules)
    if special is not None:
        return special
    return leaf_sizes(shape, rules) + sum(shape_size(o, rules) for o in operands)


def _special_bytes(instruction: Instruction, sizes: list[int], rules: XlaRules) -> int | None:
    opcode = instruction.opcode
    result = leaf_sizes(instruction.shape, rules)
    if opcode == "slice":
        return 2 * result
    if opcode == "gather" and rules.whole_gather:
        return result + sum(sizes)
    if opcode in ("dynamic-slice", "gather"):
        # of several indices XLA looks at the first alone
        return 2 * result + sum(sizes[1:2])
    if opcode == "dynamic-update-slice":
        return 2 * sum(sizes[1:2]) + sum(sizes[2:3])
    if opcode == "scatter":
        targets = len(sizes) // 2
        return 3 * sum(sizes[targets + 1 :]) + sizes[targets]
    if opcode == "infeed":
        return result
    if opcode == "cholesky":
        return sizes[0]
    if opcode == "triangular-solve":
        return result + sizes[0] // 2 + sizes[1]
    return None
