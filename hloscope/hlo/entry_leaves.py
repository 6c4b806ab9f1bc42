"""The input leaves of a module that comes without its program."""

from __future__ import annotations

import re

from hloscope.model.capture import Leaf
from hloscope.model.hlo import Instruction, Module

# `{0}: (3, {}, may-alias)` in input_output_alias, `(3, {})` in buffer_donor
_DONATED = re.compile(r"\(\s*(\d+)\s*,\s*\{")


def entry_leaves(module: Module) -> tuple[Leaf, ...]:
    """The entry parameters as leaves, by parameter number.

    A parameter's path is its op_name, where JAX writes the tree path; without one it is its number.
    Dtypes are XLA's. A tuple parameter is one leaf.
    """
    assert module.entry is not None  # noqa: S101 - the caller checks
    header = [module.header_attr(name) or "" for name in ("input_output_alias", "buffer_donor")]
    donated = {int(number) for text in header for number in _DONATED.findall(text)}
    instructions = module.computations[module.entry].instructions
    parameters = sorted(
        (i for i in instructions if i.opcode == "parameter"), key=lambda i: i.parameter
    )
    return tuple(_leaf(i, donated=i.parameter in donated) for i in parameters)


def _leaf(parameter: Instruction, *, donated: bool) -> Leaf:
    layout = parameter.shape.layout
    return Leaf(
        path=parameter.metadata.op_name or f"[{parameter.parameter}]",
        shape=parameter.shape.dims,
        dtype=parameter.shape.dtype,
        weak_type=False,
        sharding=parameter.attr("sharding"),
        mesh=None,
        memory_kind=None,
        layout=str(layout.minor_to_major) if layout else None,
        donated=donated,
        parameter=parameter.parameter,
    )
