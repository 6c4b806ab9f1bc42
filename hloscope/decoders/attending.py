"""Attention between queries and keys that are projected already."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from hloscope.decoders.pattern import Layer

_MASKED = -0.7 * float(jnp.finfo(jnp.float32).max)  # a sum with it stays finite


def attend(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    layer: Layer,
    *,
    implementation: str,
    scale: float,
    offset: jax.Array | None,
) -> jax.Array:
    """Mixes values by how well keys fit queries.

    Args:
      query: `[batch, seq, heads, dim]`.
      key: `[batch, length, kv_heads, dim]`.
      value: `[batch, length, kv_heads, value_dim]`, where `value_dim` is `dim` at most.
      layer: says which keys a query sees.
      implementation: `dot_product` or `plain`.
      scale: of the scores.
      offset: position of the first query among the keys; `None` where both begin together.

    Returns:
      `[batch, seq, heads, value_dim]`.
    """
    if implementation == "plain":
        return _plain(query, key, value, _visible(query, key, layer, offset), scale)
    width = value.shape[-1]
    if width != key.shape[-1]:  # one width is all that jax.nn knows
        value = jnp.pad(value, ((0, 0), (0, 0), (0, 0), (0, key.shape[-1] - width)))
    if offset is not None:
        mask = _visible(query, key, layer, offset)
        mixed = jax.nn.dot_product_attention(query, key, value, mask=mask, scale=scale)
    else:
        mixed = _from_the_start(query, key, value, layer, scale)
    return mixed[..., :width]


def _from_the_start(
    query: jax.Array, key: jax.Array, value: jax.Array, layer: Layer, scale: float
) -> jax.Array:
    if layer.span == "local":
        window = (layer.reach - 1, 0)
        return jax.nn.dot_product_attention(
            query, key, value, is_causal=True, local_window_size=window, scale=scale
        )
    # a sequence of one chunk is not divided
    mask = _visible(query, key, layer, None) if _is_divided(layer, key) else None
    return jax.nn.dot_product_attention(
        query, key, value, mask=mask, is_causal=mask is None, scale=scale
    )


def _is_divided(layer: Layer, key: jax.Array) -> bool:
    return layer.span == "chunked" and key.shape[1] > layer.reach


def _visible(query: jax.Array, key: jax.Array, layer: Layer, offset: jax.Array | None) -> jax.Array:
    """Which keys each query sees, `[1, 1, seq, length]`."""
    rows = jnp.arange(query.shape[1])[:, None] + (0 if offset is None else offset)
    columns = jnp.arange(key.shape[1])[None, :]
    visible = columns <= rows
    if layer.span == "local":
        visible &= columns > rows - layer.reach
    elif layer.span == "chunked":
        visible &= columns // layer.reach == rows // layer.reach
    return visible[None, None]


def _plain(
    query: jax.Array, key: jax.Array, value: jax.Array, visible: jax.Array, scale: float
) -> jax.Array:
    batch, seq, heads, dim = query.shape
    grouped = query.reshape(batch, seq, key.shape[2], -1, dim)
    scores = jnp.einsum("btkgd,bskd->bkgts", grouped, key, preferred_element_type=jnp.float32)
    scores = jnp.where(visible[:, :, None], scores * scale, _MASKED)
    shares = jax.nn.softmax(scores, axis=-1).astype(value.dtype)
    mixed = jnp.einsum("bkgts,bskd->btkgd", shares, value)
    return mixed.reshape(batch, seq, heads, -1)
