"""Rotary position embedding (Su et al. 2021, RoFormer)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from hloscope.decoders.pattern import Rope


def frequencies(rope: Rope, width: int) -> npt.NDArray[np.float32]:
    """Radians per position, `[width / 2]`.

    The `llama3` scaling is that of Llama 3.1's released code: waves longer than `original / low`
    positions are stretched by `factor`, those shorter than `original / high` are kept, and between
    the two the shares go over evenly.
    """
    kept = rope.theta ** (-np.arange(0, width, 2) / width)
    if rope.scaling == "none":
        return kept.astype(np.float32)
    if rope.scaling == "linear":
        return (kept / rope.factor).astype(np.float32)
    waves = rope.original * kept / (2 * np.pi)  # over the original positions
    if rope.high == rope.low:
        share = (waves > rope.low).astype(float)
    else:
        share = np.clip((waves - rope.low) / (rope.high - rope.low), 0.0, 1.0)
    return (share * kept + (1 - share) * kept / rope.factor).astype(np.float32)


def rotate(x: jax.Array, positions: jax.Array, rope: Rope) -> jax.Array:
    """Turns pairs of `[batch, seq, heads, width]` by their positions `[seq]`; in float32."""
    angles = positions[:, None].astype(jnp.float32) * frequencies(rope, x.shape[-1])
    sin, cos = jnp.sin(angles)[:, None, :], jnp.cos(angles)[:, None, :]
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    turned = jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.astype(x.dtype)
