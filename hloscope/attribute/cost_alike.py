"""Computations of one module that are equal but for names and places."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.model.hlo import Module

_Key = tuple[object, ...]


def alike(module: Module, order: Sequence[int]) -> tuple[int, ...]:
    """By computation, the first one that computes the same in the same way, as a rule itself.

    Unrolled layers repeat a few hundred computations thousands of times, so what holds of one is
    worked out once. Names, metadata and constants' values are not looked at, and whether it is
    fused is: what a fusion holds moves no bytes.

    Args:
      module: the module.
      order: its computations, callees before callers.
    """
    fused = fused_computations(module)
    first: dict[_Key, int] = {}
    found = list(range(len(module.computations)))
    for position in order:
        computation = module.computations[position]
        # readers share equal shapes and attributes; those that do not only are not recognized
        rows = [
            (i.opcode, id(i.shape), id(i.attrs), i.operands, i.parameter)
            if not i.called
            else (i.opcode, id(i.shape), id(i.attrs), i.operands,
                  tuple((role, found[callee]) for role, callee in i.called))
            for i in computation.instructions
        ]  # fmt: skip
        key = (position in fused, computation.root, *rows)
        found[position] = first.setdefault(key, position)
    return tuple(found)


def fused_computations(module: Module) -> frozenset[int]:
    """Computations that are fused: their bytes never leave the chip, and count for nothing."""
    return frozenset(
        callee
        for computation in module.computations
        for instruction in computation.instructions
        if instruction.opcode == "fusion"
        for _, callee in instruction.called
    )
