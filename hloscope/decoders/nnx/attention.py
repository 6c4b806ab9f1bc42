"""Self-attention in Flax NNX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

from hloscope.decoders.attending import attend
from hloscope.decoders.axes import EXPANDED, KEY, LATENT, QUERY
from hloscope.decoders.config import Config
from hloscope.decoders.nnx.parts import Projections, constrain, norm
from hloscope.decoders.pattern import Layer
from hloscope.decoders.rope import rotate
from hloscope.decoders.scores import normalised, positions_of, score_scale


class _Cached(Projections):
    """An attention that keeps what later tokens need of this one's."""

    def __init__(self, config: Config, layer: Layer) -> None:
        self.config = config
        self.layer = layer

    def _make_cache(self, *extent: int, axes: tuple[str, ...]) -> nnx.Cache | None:
        shape = self.config.cache
        if shape is None:
            return None
        make = nnx.with_partitioning(jnp.zeros, axes)
        whole = (shape.batch, shape.positions, *extent)
        return nnx.Cache(make(whole, jnp.dtype(self.config.dtype)))

    def _keep(self, cache: nnx.Cache | None, new: jax.Array, start: jax.Array | None) -> jax.Array:
        """Writes `[batch, seq, ...]` into the cache; what to attend to, the cache for one token."""
        if cache is None or start is None:
            return new
        cache[...] = jax.lax.dynamic_update_slice_in_dim(cache[...], new, start, axis=1)
        kept: jax.Array = cache[...]
        return kept if new.shape[1] == 1 else new

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
        return constrain(mixed, QUERY)


class Attention(_Cached):
    """Causal self-attention; several heads of queries may share one of keys and values."""

    def __init__(self, config: Config, layer: Layer, *, rngs: nnx.Rngs) -> None:
        super().__init__(config, layer)
        size = config.size
        heads, kv_heads = (size.heads, size.head_dim), (size.kv_heads, size.head_dim)
        if config.traits.fused:
            qkv = ("embed", "qkv", "heads", "head_dim")
            self.add("qkv", "bte,eqhd->btqhd", (size.embed, 3, *heads), qkv, rngs)
        else:
            parts = (
                ("query", heads, "heads"),
                ("key", kv_heads, "kv_heads"),
                ("value", kv_heads, "kv_heads"),
            )
            for name, extent, axis in parts:
                axes = ("embed", axis, "head_dim")
                self.add(name, "bte,ehd->bthd", (size.embed, *extent), axes, rngs)
        if size.qk_norm == "rms":
            self.query_norm = norm(config, size.head_dim, rngs)
            self.key_norm = norm(config, size.head_dim, rngs)
        axes = ("heads", "head_dim", "embed")
        self.add("out", "bthd,hde->bte", (*heads, size.embed), axes, rngs)
        self.cached_key = self._make_cache(*kv_heads, axes=KEY)
        self.cached_value = self._make_cache(*kv_heads, axes=KEY)

    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape; `start` is the first token's position."""
        qk_norm = self.config.size.qk_norm
        query, key, value = self._fused(x) if self.config.traits.fused else self._apart(x)
        if qk_norm == "rms":
            query, key = self.query_norm(query), self.key_norm(key)
        if self.layer.rope is not None:
            positions = positions_of(x, start)
            query = rotate(query, positions, self.layer.rope)
            key = rotate(key, positions, self.layer.rope)
            if qk_norm == "l2":
                query, key = normalised(query), normalised(key)
        query = constrain(query, QUERY)
        key = self._keep(self.cached_key, constrain(key, KEY), start)
        value = self._keep(self.cached_value, constrain(value, KEY), start)
        return self.project("out", self._attend(query, key, value, start))

    def _fused(self, x: jax.Array) -> tuple[jax.Array, ...]:
        qkv = self.project("qkv", x)
        return tuple(qkv[:, :, i] for i in range(3))  # [batch, seq, heads, head_dim]

    def _apart(self, x: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(self.project(name, x) for name in ("query", "key", "value"))


class LatentAttention(_Cached):
    """Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1).

    Keys and values are expanded from one narrow latent, which is all that the cache keeps beside
    the part of the keys that has positions.
    """

    def __init__(self, config: Config, layer: Layer, *, rngs: nnx.Rngs) -> None:
        super().__init__(config, layer)
        size, latent = config.size, config.size.latent
        assert latent is not None  # noqa: S101 - the size has one where this module is used
        assert layer.rope is not None  # noqa: S101 - the family's layers all have positions
        self.latent, self.rope = latent, layer.rope
        self.plain = size.head_dim - latent.rope_dim  # the width without positions
        down, up = ("embed", "latent"), ("latent", "heads", "head_dim")
        self.add("query_down", "bte,er->btr", (size.embed, latent.query_rank), down, rngs)
        self.query_norm = norm(config, latent.query_rank, rngs)
        shape = (latent.query_rank, size.heads, size.head_dim)
        self.add("query_up", "btr,rhd->bthd", shape, up, rngs)
        narrow = (size.embed, latent.rank + latent.rope_dim)
        self.add("latent_down", "bte,er->btr", narrow, down, rngs)
        self.latent_norm = norm(config, latent.rank, rngs)
        shape = (latent.rank, size.heads, self.plain + latent.value_dim)
        self.add("latent_up", "btr,rhd->bthd", shape, up, rngs)
        axes = ("heads", "head_dim", "embed")
        shape = (size.heads, latent.value_dim, size.embed)
        self.add("out", "bthd,hde->bte", shape, axes, rngs)
        self.cached_latent = self._make_cache(latent.rank, axes=LATENT)
        self.cached_key = self._make_cache(latent.rope_dim, axes=LATENT)

    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape; `start` is the first token's position."""
        positions = positions_of(x, start)
        query = self.project("query_up", self.query_norm(self.project("query_down", x)))
        turned = rotate(query[..., self.plain :], positions, self.rope)
        query = jnp.concatenate([query[..., : self.plain], turned], axis=-1)
        both = self.project("latent_down", x)
        narrow = constrain(self.latent_norm(both[..., : self.latent.rank]), LATENT)
        shared = rotate(both[..., self.latent.rank :][:, :, None], positions, self.rope)[:, :, 0]
        narrow = self._keep(self.cached_latent, narrow, start)
        shared = self._keep(self.cached_key, constrain(shared, LATENT), start)
        key, value = self._expand(narrow, shared)
        return self.project("out", self._attend(constrain(query, QUERY), key, value, start))

    def _expand(self, narrow: jax.Array, shared: jax.Array) -> tuple[jax.Array, jax.Array]:
        both = self.project("latent_up", narrow)
        spread = jnp.broadcast_to(shared[:, :, None], (*both.shape[:3], self.latent.rope_dim))
        key = jnp.concatenate([both[..., : self.plain], spread], axis=-1)
        return constrain(key, EXPANDED), constrain(both[..., self.plain :], EXPANDED)
