"""The input leaves of a module that comes without its program."""

from __future__ import annotations

from hloscope.hlo.arguments import Argument, donated, entry_arguments
from hloscope.model.capture import Leaf
from hloscope.model.hlo import Module


def entry_leaves(module: Module) -> tuple[Leaf, ...]:
    """The arguments of the entry as leaves, by number.

    An argument's path is its op_name, where JAX writes the tree path; without one, and where all
    arguments are one tuple, it is its number. Dtypes are XLA's.
    """
    offered = donated(module)
    return tuple(
        _leaf(argument, donated=argument.number in offered) for argument in entry_arguments(module)
    )


def _leaf(argument: Argument, *, donated: bool) -> Leaf:
    layout = argument.shape.layout
    return Leaf(
        path=argument.op_name or f"[{argument.number}]",
        shape=argument.shape.dims,
        dtype=argument.shape.dtype,
        weak_type=False,
        sharding=argument.sharding,
        mesh=None,
        memory_kind=None,
        layout=str(layout.minor_to_major) if layout else None,
        donated=donated,
        parameter=argument.number,
    )
