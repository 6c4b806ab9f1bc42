"""Finds the logits: what a softmax over a vocabulary reads."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from hloscope.hlo.dataflow import ANNOTATED, Dataflow, NodeKind

_PRODUCTS = frozenset({"dot", "convolution"})
_GATHERED = frozenset({"all-gather", "all-gather-start", "all-gather-done"})
# from a matrix as it is given to the one that is multiplied with
_FROM_WEIGHT = ANNOTATED | _GATHERED | {"convert", "transpose", "bitcast-convert"}
# from logits to the exponential of a softmax: shifted, scaled, masked, capped
_TO_EXPONENTIAL = ANNOTATED | _GATHERED | {
    "convert", "transpose", "subtract", "add", "multiply", "divide", "select", "tanh",
}  # fmt: skip
_EXPONENTIAL = frozenset({"exponential", "exponential-minus-one"})
_FAR = 24  # operations between a product and the exponential


class Logits(NamedTuple):
    """What a softmax over a vocabulary reads.

    Attributes:
      product: node of the product with the output matrix.
      exponential: node of the exponential of the softmax.
    """

    product: int
    exponential: int


def logits(flow: Dataflow) -> tuple[Logits, ...]:
    """Products with a whole matrix of the arguments that a softmax reads, in order.

    Attention scores are no logits: what they multiply is computed, or has more than two dimensions
    where it is a cache.
    """
    parameters = frozenset(flow.parameters)
    return tuple(
        Logits(node, exponential)
        for node, found in enumerate(flow.nodes)
        if found.kind is NodeKind.OPERATION
        and flow.opcode(node) in _PRODUCTS
        and any(_is_matrix(flow, operand, parameters) for operand in found.operands)
        and (exponential := _exponential(flow, node)) is not None
    )


def _is_matrix(flow: Dataflow, node: int, parameters: frozenset[int]) -> bool:
    source = flow.origin(node, _FROM_WEIGHT)
    extents = [extent for extent in flow.nodes[source].shape.dims if extent != 1]
    return source in parameters and len(extents) == 2


def _exponential(flow: Dataflow, node: int) -> int | None:
    """The exponential of as many elements that reads a value, `None` where none does."""
    size = prod(flow.nodes[node].shape.dims)
    seen = {node}
    edge = [node]
    for _ in range(_FAR):
        after = []
        for user in (user for at in edge for user in flow.users[at] if user not in seen):
            seen.add(user)
            if flow.nodes[user].kind is not NodeKind.OPERATION:
                continue
            opcode = flow.opcode(user)
            if opcode in _EXPONENTIAL and prod(flow.nodes[user].shape.dims) == size:
                return user
            if opcode in _TO_EXPONENTIAL:
                after.append(user)
        edge = after
    return None
