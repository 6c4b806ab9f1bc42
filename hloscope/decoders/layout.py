"""How a decoder lies on the devices: the mesh, with the rules from logical to mesh axes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from flax.core.spmd import logical_axis_rules
from jax.experimental import mesh_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BATCH_AXES = ("data", "fsdp")

# Weights are split over fsdp along the width and over tensor along what each device computes apart
# (heads, the MLP's hidden layer, the vocabulary); activations never along the width.
AXIS_RULES: tuple[tuple[str, str | tuple[str, ...] | None], ...] = (
    ("layers", None),
    ("vocab", "tensor"),
    ("positions", None),
    ("embed", "fsdp"),
    ("qkv", None),
    ("heads", "tensor"),
    ("head_dim", None),
    ("mlp", "tensor"),
    ("norm", None),
    ("activation_batch", BATCH_AXES),
    ("activation_length", None),
    ("activation_embed", None),
    ("activation_heads", "tensor"),
    ("activation_head_dim", None),
    ("activation_mlp", "tensor"),
    ("activation_vocab", "tensor"),
)


def make_mesh(shape: Mapping[str, int], devices: Sequence[jax.Device]) -> Mesh:
    """Lays the devices out as the hardware's links suggest.

    Args:
      shape: axis sizes by name; their product is the number of devices.
      devices: real ones, or described ahead of time.
    """
    sizes = tuple(shape.values())
    if devices[0].platform == "tpu":
        grid = mesh_utils.create_device_mesh(sizes, devices, allow_split_physical_axes=True)
    else:
        grid = np.array(devices).reshape(sizes)
    return Mesh(grid, tuple(shape), axis_types=(AxisType.Auto,) * len(sizes))


def abstract_tokens(mesh: Mesh, batch: int, seq: int) -> jax.ShapeDtypeStruct:
    """Describes token numbers `[batch, seq]`, the batch split over the mesh."""
    sharding = NamedSharding(mesh, PartitionSpec(BATCH_AXES, None))
    return jax.ShapeDtypeStruct((batch, seq), jnp.int32, sharding=sharding)


@contextmanager
def tracing_under(mesh: Mesh) -> Iterator[None]:
    """Makes the mesh and the axis rules current, as both stacks' logical constraints need."""
    with jax.set_mesh(mesh), logical_axis_rules(AXIS_RULES):
        yield
