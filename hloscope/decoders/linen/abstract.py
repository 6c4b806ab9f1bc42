"""Shapes and shardings of Linen variables, without any array."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
from flax.core.meta import map_axis_meta
from jax.sharding import Mesh

from hloscope.decoders.layout import Rules


def with_shardings(boxed: Any, mesh: Mesh, rules: Rules) -> tuple[Any, Any]:
    """Unboxes abstract variables; each gets the sharding that its logical axes ask for.

    Returns:
      The tree of `jax.ShapeDtypeStruct`, and that of the shardings alone.
    """
    shardings = nn.logical_to_mesh_sharding(nn.get_partition_spec(boxed), mesh, rules)
    shapes = jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        map_axis_meta(lambda box: box.value, boxed),
        shardings,
    )
    return shapes, shardings
