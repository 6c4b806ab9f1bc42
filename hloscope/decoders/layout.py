"""How a decoder lies on the devices: the mesh, with the rules from logical to mesh axes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.core.spmd import logical_axis_rules
from jax.experimental import mesh_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from hloscope.decoders.meshes import batch_axes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hloscope.decoders.config import Setup

Rules = tuple[tuple[str, str | tuple[str, ...] | None], ...]

# logical axes of weights, activations and caches that are never split
_WHOLE = (
    *("layers", "positions", "qkv", "head_dim", "norm", "latent", "lora", "router"),
    *("activation_kv_length", "activation_embed", "activation_head_dim", "activation_capacity"),
)


def axis_rules(setup: Setup) -> Rules:
    """From logical axes to those of the mesh.

    Weights are split over fsdp along the width, over expert along the experts, and over tensor
    along what each device computes apart (heads, the MLP's hidden layer, the vocabulary);
    activations never along the width. Keys and values see the whole sequence. Their heads are
    replicated where there are too few of them to split. One token more is not split.
    """
    mesh = setup.mesh
    kv_heads = None if setup.config.size.kv_heads % mesh["tensor"] else "tensor"
    rules: Rules = (
        ("vocab", "tensor"),
        ("embed", "fsdp"),
        ("heads", "tensor"),
        ("kv_heads", kv_heads),
        ("mlp", "tensor"),
        ("activation_batch", batch_axes(mesh)),
        ("activation_length", None if setup.step == "decode" else "context"),
        ("activation_heads", "tensor"),
        ("activation_kv_heads", kv_heads),
        ("activation_mlp", "tensor"),
        ("activation_vocab", "tensor"),
    )
    if "expert" in mesh:
        rules += (
            ("experts", "expert"),
            ("activation_experts", "expert"),
            ("activation_expert_batch", tuple(a for a in batch_axes(mesh) if a != "expert")),
        )
    return rules + tuple((name, None) for name in _WHOLE)


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


def abstract_tokens(mesh: Mesh, *shape: int) -> jax.ShapeDtypeStruct:
    """Describes token numbers `[batch, ..., seq]`, both ends split over the mesh."""
    between = (None,) * (len(shape) - 2)
    # one token more is not split
    along = None if shape[-1] == 1 else "context"
    spec = PartitionSpec(batch_axes(mesh.shape), *between, along)
    return jax.ShapeDtypeStruct(shape, jnp.int32, sharding=NamedSharding(mesh, spec))


def replicated(mesh: Mesh, like: Any) -> jax.ShapeDtypeStruct:
    """Describes an array of the shape and dtype of `like` that every device has."""
    sharding = NamedSharding(mesh, PartitionSpec())
    return jax.ShapeDtypeStruct(like.shape, like.dtype, sharding=sharding)


def logits_sharding(mesh: Mesh) -> NamedSharding:
    """Of `[batch, 1, vocab]`."""
    return NamedSharding(mesh, PartitionSpec(batch_axes(mesh.shape), None, "tensor"))


@contextmanager
def tracing_under(mesh: Mesh, rules: Rules) -> Iterator[None]:
    """Makes the mesh and the axis rules current, as both stacks' logical constraints need."""
    with jax.set_mesh(mesh), logical_axis_rules(rules):
        yield
