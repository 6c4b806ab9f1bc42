"""Bytes that XLA's cost analysis counts for a fusion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hloscope.attribute.cost_shapes import array_bytes, element_count
from hloscope.attribute.cost_traffic import IMMEDIATE_ELEMENTS, parameters_of
from hloscope.attribute.cost_users import Graph, called, outputs_of
from hloscope.attribute.cost_xla_rules import XlaRules, leaf_sizes
from hloscope.model.hlo import Computation, Instruction


def fusion_bytes(graph: Graph, instruction: Instruction, rules: XlaRules) -> int:
    """What comes out, large constants, and what each parameter is read for."""
    position = called(instruction)
    if position is None:
        return 0
    body = graph.body(position)
    total = _output_bytes(body, rules)
    for number, inner in enumerate(body.instructions):
        if inner.opcode == "constant" and element_count(inner.shape) > IMMEDIATE_ELEMENTS:
            total += array_bytes(inner.shape, padded=rules.padded)
        elif inner.opcode == "parameter":
            total += _parameter_bytes(graph, position, number, rules)
    return total


def _output_bytes(body: Computation, rules: XlaRules) -> int:
    total = 0
    for position in outputs_of(body):
        result = body.instructions[position]
        if result.opcode == "dynamic-update-slice":
            result = body.instructions[result.operands[1]]
        total += leaf_sizes(result.shape, rules)
    return total


def _parameter_bytes(graph: Graph, position: int, number: int, rules: XlaRules) -> int:
    """Reads of a fused parameter: slices one by one, all other users together once."""
    body, users = graph.body(position), graph.users(position)
    if body.instructions[number].shape.elements:
        return sum(
            _parameter_bytes(graph, position, user, rules)
            for user in users.get(number, ())
            if body.instructions[user].opcode == "get-tuple-element"
        )
    return _reads(graph, Use(position, number, None), rules)


class Use(NamedTuple):
    """A fused parameter, with who uses the result of the fusion that it belongs to.

    Attributes:
      after: users of the fusion's result, each with whether it takes it as its first operand;
        `None` for the outermost fusion, whose result leaves it.
    """

    computation: int
    position: int
    after: tuple[tuple[Instruction, bool], ...] | None


def _reads(graph: Graph, use: Use, rules: XlaRules) -> int:
    """Slices one by one, all other users together once.

    A user whose result is a nested fusion's result stands for the users of that; a nested fusion
    that nothing uses inside the outer one, such as its root, reads nothing. Found by asking XLA.
    """
    body = graph.body(use.computation)
    whole = array_bytes(body.instructions[use.position].shape, padded=rules.padded)
    total, shared = 0, False
    for user, first, nested in _readers(graph, use):
        if nested is not None:
            total += sum(_reads(graph, inner, rules) for inner in _inside(graph, use, user, nested))
        elif user.opcode == "slice" or (user.opcode == "dynamic-slice" and first):
            total += leaf_sizes(user.shape, rules)
        elif user.opcode in ("broadcast", "reshape"):
            total += whole
        elif not (shared or (user.opcode == "dynamic-update-slice" and first)):
            shared = True
            total += whole
    return total


def _readers(graph: Graph, use: Use) -> Iterator[tuple[Instruction, bool, int | None]]:
    """Users with whether they take the value first; a nested fusion has its own position beside."""
    body = graph.body(use.computation)
    for number in graph.users(use.computation).get(use.position, ()):
        user = body.instructions[number]
        if number == body.root and use.after is not None:
            yield from ((later, first, None) for later, first in use.after)
        else:
            first = user.operands[0] == use.position
            yield user, first, number if user.opcode == "fusion" and user.called else None


def _inside(graph: Graph, use: Use, fusion: Instruction, number: int) -> list[Use]:
    """The parameters of a nested fusion that stand for the value."""
    inner = called(fusion)
    after = tuple(
        (user, user.operands[0] == number)
        for user in (
            graph.body(use.computation).instructions[n]
            for n in graph.users(use.computation).get(number, ())
        )
    )
    if inner is None or not after:
        return []
    found = parameters_of(graph, inner, fusion, use.position)
    return [Use(inner, parameter, after) for parameter in found]
