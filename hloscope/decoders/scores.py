"""What both stacks do to queries and keys before they are multiplied."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from hloscope.decoders.sizes import Size

_EPSILON = 1e-6


def score_scale(size: Size) -> float:
    """What scores are multiplied by."""
    return float((size.query_scale or size.head_dim) ** -0.5)


def positions_of(x: jax.Array, start: jax.Array | None) -> jax.Array:
    """Positions of `[batch, seq, ...]`, `[seq]`."""
    numbers = jnp.arange(x.shape[1])
    return numbers if start is None else numbers + start


def normalised(x: jax.Array) -> jax.Array:
    """`x` over the root of the mean of its last dimension's squares, without a learned scale."""
    wide = x.astype(jnp.float32)
    mean = jnp.mean(wide**2, axis=-1, keepdims=True)
    return (wide * jax.lax.rsqrt(mean + _EPSILON)).astype(x.dtype)
