"""What differs between the cost analyses of XLA's releases and back ends."""

from __future__ import annotations

from typing import NamedTuple

from hloscope.attribute.cost_shapes import array_bytes, leaves
from hloscope.model.hlo import Shape

# TPUs keep the semaphores of copies in this memory space
FLAG_SPACE = 2


class XlaRules(NamedTuple):
    """What differs between XLA's releases and back ends.

    Attributes:
      padded: whether an array counts with the padding of its tiles (jaxlib from 0.11 on).
      pointer: bytes of a tuple table's entry.
      table: least bytes of a tuple table (512 in libtpu).
      flag: bytes of an array in memory space 2, where TPUs keep the semaphores of copies (4096 in
        libtpu); 0 where the space makes no difference.
      whole_gather: whether a gather reads all of its operand (libtpu), rather than what it returns.
      kernels: whether a Mosaic kernel counts as its author's `cost_estimate` says, or as nothing
        (libtpu), rather than as unknown.
    """

    padded: bool = True
    pointer: int = 8
    table: int = 0
    flag: int = 0
    whole_gather: bool = False
    kernels: bool = False


CURRENT_RULES = XlaRules()


def rules_for(platform: str, jaxlib: str) -> XlaRules:
    """The rules of a back end's `cost_analysis()`.

    Tried with jaxlib 0.10.2, 0.11.2 and 0.12.0.1.

    Args:
      platform: `tpu`, `cpu` or `gpu`; the last has no cost analysis to compare with.
      jaxlib: its version.
    """
    if platform == "tpu":
        return XlaRules(table=512, flag=4096, whole_gather=True, kernels=True)
    old = jaxlib.split(".")[:2] == ["0", "10"]
    return XlaRules(padded=not old, pointer=8 if old else 4)


def shape_size(shape: Shape, rules: XlaRules) -> int:
    """XLA's size of a value: a tuple is the table of pointers to its elements."""
    if shape.dtype == "tuple" or shape.elements:
        entries = rules.pointer * len(shape.elements)
        return max(entries, rules.table) if entries else 0
    if rules.flag and shape.layout is not None and shape.layout.memory_space == FLAG_SPACE:
        return rules.flag
    return array_bytes(shape, padded=rules.padded)


def leaf_sizes(shape: Shape, rules: XlaRules) -> int:
    """XLA's size of all arrays in a value."""
    if not shape.elements:
        return shape_size(shape, rules)
    return sum(shape_size(leaf, rules) for leaf in leaves(shape))
