"""Self-attention in Flax Linen."""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp

from hloscope.decoders.attending import attend
from hloscope.decoders.axes import EXPANDED, KEY, LATENT, QUERY
from hloscope.decoders.config import Config
from hloscope.decoders.linen.parts import norm, project
from hloscope.decoders.pattern import Layer
from hloscope.decoders.rope import rotate
from hloscope.decoders.scores import normalised, positions_of, score_scale


class _Cached(nn.Module):
    """An attention that keeps what later tokens need of this one's."""

    config: Config
    layer: Layer

    def _keep(
        self, name: str, new: jax.Array, start: jax.Array | None, axes: tuple[str, ...]
    ) -> jax.Array:
        """Writes `[batch, seq, ...]` into the cache; what to attend to, the cache for one token."""
        shape = self.config.cache
        if shape is None or start is None:
            return new
        make = nn.with_logical_partitioning(jnp.zeros, axes)
        extent = (shape.batch, shape.positions, *new.shape[2:])
        cache = self.variable("cache", name, make, extent, new.dtype)
        cache.value = jax.lax.dynamic_update_slice_in_dim(cache.value, new, start, axis=1)
        return cache.value if new.shape[1] == 1 else new

    def _attend(
        self, query: jax.Array, key: jax.Array, value: jax.Array, start: jax.Array | None
    ) -> jax.Array:
        mixed = attend(
            query,
            key,
            value,
            self.layer,
            implementation=self.config.attention,
            scale=score_scale(self.config.size),
            offset=start if query.shape[1] == 1 else None,
        )
        return nn.with_logical_constraint(mixed, QUERY)


class Attention(_Cached):
    """Causal self-attention; several heads of queries may share one of keys and values."""

    @nn.compact
    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape; `start` is the first token's position."""
        size = self.config.size
        query, key, value = self._fused(x) if self.config.traits.fused else self._apart(x)
        if size.qk_norm == "rms":
            query = norm(self.config, "query_norm")(query)
            key = norm(self.config, "key_norm")(key)
        if self.layer.rope is not None:
            positions = positions_of(x, start)
            query = rotate(query, positions, self.layer.rope)
            key = rotate(key, positions, self.layer.rope)
            if size.qk_norm == "l2":
                query, key = normalised(query), normalised(key)
        query = nn.with_logical_constraint(query, QUERY)
        key = self._keep("cached_key", nn.with_logical_constraint(key, KEY), start, KEY)
        value = self._keep("cached_value", nn.with_logical_constraint(value, KEY), start, KEY)
        mixed = self._attend(query, key, value, start)
        shape = (size.heads, size.head_dim, size.embed)
        axes = ("heads", "head_dim", "embed")
        out: jax.Array = project(self.config, "bthd,hde->bte", shape, axes, "out")(mixed)
        return out

    def _fused(self, x: jax.Array) -> tuple[jax.Array, ...]:
        size = self.config.size
        shape = (size.embed, 3, size.heads, size.head_dim)
        axes = ("embed", "qkv", "heads", "head_dim")
        qkv = project(self.config, "bte,eqhd->btqhd", shape, axes, "qkv")(x)
        return tuple(qkv[:, :, i] for i in range(3))  # [batch, seq, heads, head_dim]

    def _apart(self, x: jax.Array) -> tuple[jax.Array, ...]:
        size = self.config.size
        parts = (
            ("query", size.heads, "heads"),
            ("key", size.kv_heads, "kv_heads"),
            ("value", size.kv_heads, "kv_heads"),
        )
        return tuple(
            project(
                self.config,
                "bte,ehd->bthd",
                (size.embed, heads, size.head_dim),
                ("embed", axis, "head_dim"),
                name,
            )(x)
            for name, heads, axis in parts
        )


class LatentAttention(_Cached):
    """Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1).

    Keys and values are expanded from one narrow latent, which is all that the cache keeps beside
    the part of the keys that has positions.
    """

    @nn.compact
    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape; `start` is the first token's position."""
        size, latent = self.config.size, self.config.size.latent
        assert latent is not None  # noqa: S101 - the size has one where this module is used
        assert self.layer.rope is not None  # noqa: S101 - the family's layers all have positions
        positions = positions_of(x, start)
        query, plain = self._query(x), size.head_dim - latent.rope_dim
        turned = rotate(query[..., plain:], positions, self.layer.rope)
        query = jnp.concatenate([query[..., :plain], turned], axis=-1)
        narrow, shared = self._narrow(x)
        shared = rotate(shared[:, :, None], positions, self.layer.rope)[:, :, 0]
        narrow = self._keep(
            "cached_latent", nn.with_logical_constraint(narrow, LATENT), start, LATENT
        )
        shared = self._keep("cached_key", nn.with_logical_constraint(shared, LATENT), start, LATENT)
        key, value = self._expand(narrow, shared)
        query = nn.with_logical_constraint(query, QUERY)
        mixed = self._attend(query, key, value, start)
        shape = (size.heads, latent.value_dim, size.embed)
        axes = ("heads", "head_dim", "embed")
        out: jax.Array = project(self.config, "bthd,hde->bte", shape, axes, "out")(mixed)
        return out

    def _query(self, x: jax.Array) -> jax.Array:
        size, latent = self.config.size, self.config.size.latent
        assert latent is not None  # noqa: S101 - as above
        shape = (size.embed, latent.query_rank)
        down = project(self.config, "bte,er->btr", shape, ("embed", "latent"), "query_down")
        wide = (latent.query_rank, size.heads, size.head_dim)
        axes = ("latent", "heads", "head_dim")
        up = project(self.config, "btr,rhd->bthd", wide, axes, "query_up")
        query: jax.Array = up(norm(self.config, "query_norm")(down(x)))
        return query

    def _narrow(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        latent = self.config.size.latent
        assert latent is not None  # noqa: S101 - as above
        shape = (self.config.size.embed, latent.rank + latent.rope_dim)
        both = project(self.config, "bte,er->btr", shape, ("embed", "latent"), "latent_down")(x)
        narrow = norm(self.config, "latent_norm")(both[..., : latent.rank])
        return narrow, both[..., latent.rank :]

    def _expand(self, narrow: jax.Array, shared: jax.Array) -> tuple[jax.Array, jax.Array]:
        size, latent = self.config.size, self.config.size.latent
        assert latent is not None  # noqa: S101 - as above
        plain = size.head_dim - latent.rope_dim
        shape = (latent.rank, size.heads, plain + latent.value_dim)
        axes = ("latent", "heads", "head_dim")
        both = project(self.config, "btr,rhd->bthd", shape, axes, "latent_up")(narrow)
        spread = jnp.broadcast_to(shared[:, :, None], (*both.shape[:3], latent.rope_dim))
        key = jnp.concatenate([both[..., :plain], spread], axis=-1)
        key = nn.with_logical_constraint(key, EXPANDED)
        return key, nn.with_logical_constraint(both[..., plain:], EXPANDED)
