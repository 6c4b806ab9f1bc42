"""Inputs and outputs of a lowering as records; runs in the compiler process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
from jax.sharding import NamedSharding

from hloscope.capture.jax_private.stages import Facts
from hloscope.model.capture import Leaf


def input_leaves(lowered: Any, known: Facts, names: tuple[str | None, ...]) -> tuple[Leaf, ...]:
    """The program's inputs in flattening order, pruned ones included.

    jit drops inputs that nothing uses, so an input's number is not its HLO parameter's.
    """
    flat, _ = jax.tree_util.tree_flatten_with_path(lowered.args_info)
    numbers = {position: number for number, position in enumerate(known.kept)}
    return tuple(
        _leaf(
            names[position] if len(names) == len(flat) else None,
            path,
            info._aval,
            sharding=_at(known.input_shardings, numbers.get(position)),
            layout=_at(known.input_layouts, numbers.get(position)),
            donated=info.donated,
            parameter=_shifted(numbers.get(position), known.leading),
        )
        for position, (path, info) in enumerate(flat)
    )


def output_leaves(lowered: Any, known: Facts) -> tuple[Leaf, ...]:
    """The program's outputs in flattening order, which is the root tuple's."""
    positions = jax.tree_util.tree_unflatten(lowered.out_tree, range(lowered.out_tree.num_leaves))
    flat, _ = jax.tree_util.tree_flatten_with_path(positions)
    return tuple(
        _leaf(
            None,
            path,
            known.output_avals[position],
            sharding=known.output_shardings[position],
            layout=known.output_layouts[position],
            donated=False,
            parameter=position,
        )
        for path, position in flat
    )


def _at(values: tuple[Any, ...], number: int | None) -> Any:
    return None if number is None else values[number]


def _shifted(number: int | None, leading: int) -> int | None:
    return None if number is None else number + leading


def _leaf(
    name: str | None,
    path: Any,
    aval: Any,
    *,
    sharding: Any,
    layout: Any,
    donated: bool,
    parameter: int | None,
) -> Leaf:
    return Leaf(
        path=name or jax.tree_util.keystr(path),
        shape=tuple(int(extent) for extent in aval.shape),
        dtype=str(aval.dtype),
        weak_type=bool(getattr(aval, "weak_type", False)),
        sharding=sharding_text(sharding, len(aval.shape)),
        mesh=_mesh_sizes(sharding),
        memory_kind=getattr(sharding, "memory_kind", None),
        layout=None if layout is None else str(layout),
        donated=donated,
        parameter=parameter,
    )


def sharding_text(sharding: Any, rank: int) -> str | None:
    """A sharding's mesh axes by dimension, one entry for each of the `rank` dimensions."""
    if sharding is None:
        return None
    if not isinstance(sharding, NamedSharding):
        # HloSharding's own text, without the devices' names
        return str(sharding._to_xla_hlo_sharding(rank))
    entries = list(sharding.spec) + [None] * (rank - len(sharding.spec))
    return f"PartitionSpec({', '.join(_entry(entry) for entry in entries)})"


def _entry(entry: Any) -> str:
    return repr(entry) if entry is None or isinstance(entry, str | tuple) else str(entry)


def _mesh_sizes(sharding: Any) -> Mapping[str, int] | None:
    return dict(sharding.mesh.shape) if isinstance(sharding, NamedSharding) else None
