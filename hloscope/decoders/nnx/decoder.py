"""A decoder in Flax NNX."""

from __future__ import annotations

from typing import Any

import jax
from flax import nnx

from hloscope.decoders.axes import LOGITS, RESIDUAL
from hloscope.decoders.config import Config
from hloscope.decoders.nnx.attention import Attention, LatentAttention
from hloscope.decoders.nnx.mlp import Experts, Mlp
from hloscope.decoders.nnx.parts import constrain, embed, kernel_init, norm
from hloscope.decoders.pattern import Layer, Stretch
from hloscope.decoders.remat import POLICIES
from hloscope.decoders.scores import positions_of


class Block(nnx.Module):
    """One layer, each half normalised before and added after."""

    def __init__(self, config: Config, layer: Layer, *, rngs: nnx.Rngs) -> None:
        width = config.size.embed
        attention = LatentAttention if config.size.latent else Attention
        self.post_norms = config.traits.post_norms
        self.attention_norm = norm(config, width, rngs)
        self.attention = attention(config, layer, rngs=rngs)
        self.mlp_norm = norm(config, width, rngs)
        if layer.experts:
            self.mlp = Experts(config, rngs=rngs)
        else:
            self.mlp = Mlp(config, config.size.mlp, rngs=rngs)
        if self.post_norms:
            self.attention_post_norm = norm(config, width, rngs)
            self.mlp_post_norm = norm(config, width, rngs)
        self.attention_dropout = nnx.Dropout(config.dropout, rngs=rngs)
        self.mlp_dropout = nnx.Dropout(config.dropout, rngs=rngs)

    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        x = constrain(x, RESIDUAL)
        half = self.attention(self.attention_norm(x), start)
        half = self.attention_post_norm(half) if self.post_norms else half
        x = constrain(x + self.attention_dropout(half), RESIDUAL)
        half = self.mlp(self.mlp_norm(x))
        half = self.mlp_post_norm(half) if self.post_norms else half
        return constrain(x + self.mlp_dropout(half), RESIDUAL)


class Group(nnx.Module):
    """The layers of one turn of a scan."""

    def __init__(self, config: Config, layers: tuple[Layer, ...], *, rngs: nnx.Rngs) -> None:
        self.block = nnx.List([Block(config, layer, rngs=rngs) for layer in layers])

    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        for block in self.block:
            x = block(x, start)
        return x


class Decoder(nnx.Module):
    """Tokens to logits."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        self.config = config
        self.token_embed = embed(config, config.vocab, "vocab", rngs)
        if config.traits.learned_positions:
            self.position_embed = embed(config, config.size.positions, "positions", rngs)
        self.dropout = nnx.Dropout(config.dropout, rngs=rngs)
        for stretch in config.stretches():
            setattr(self, stretch.name, _make(config, stretch, rngs))
        self.final_norm = norm(config, config.size.embed, rngs)
        if not config.tied:
            self.output = nnx.Linear(
                config.size.embed,
                config.vocab,
                use_bias=False,
                dtype=config.dtype,
                param_dtype=config.weights_dtype,
                kernel_init=nnx.with_partitioning(kernel_init, ("embed", "vocab")),
                rngs=rngs,
            )

    def __call__(self, tokens: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps tokens `[batch, seq]` to logits `[batch, seq, vocab]`.

        With a KV cache, `start` is the position of the first token, and the logits are those of
        the last one, `[batch, 1, vocab]`.
        """
        config = self.config
        x = self.token_embed(tokens)
        if config.traits.scaled_embedding:
            x = x * jax.numpy.asarray(config.size.embed**0.5, x.dtype)
        if config.traits.learned_positions:
            x = x + self.position_embed(positions_of(tokens, start))
        x = constrain(self.dropout(x), RESIDUAL)
        for stretch in config.stretches():
            x = self._run(stretch, x, start)
        x = self.final_norm(x if start is None else x[:, -1:])
        logits = self.token_embed.attend(x) if config.tied else self.output(x)
        if start is None:  # one position cannot be split along the sequence
            logits = constrain(logits, LOGITS)
        return logits.astype(config.logits_dtype)

    def _run(self, stretch: Stretch, x: jax.Array, start: jax.Array | None) -> jax.Array:
        layers = getattr(self, stretch.name)
        apply = _applied(self.config, in_scan=stretch.repeats is not None)
        if stretch.repeats is None:
            for block in layers:
                x = apply(block, x, start)
            return x
        scanned = nnx.scan(
            apply,
            in_axes=(0, nnx.Carry, None),
            out_axes=nnx.Carry,
            transform_metadata={nnx.PARTITION_NAME: "layers"},
        )
        out: jax.Array = scanned(layers, x, start)
        return out


def _make(config: Config, stretch: Stretch, rngs: nnx.Rngs) -> nnx.Module:
    """Listed blocks, or one block or group whose variables have a leading `layers` dimension."""
    if stretch.repeats is None:
        return nnx.List([Block(config, layer, rngs=rngs) for layer in stretch.group])

    @nnx.split_rngs(splits=stretch.repeats)
    @nnx.vmap(in_axes=(0,), out_axes=0, transform_metadata={nnx.PARTITION_NAME: "layers"})
    def create(rngs: nnx.Rngs) -> nnx.Module:
        if len(stretch.group) == 1:
            return Block(config, stretch.group[0], rngs=rngs)
        return Group(config, stretch.group, rngs=rngs)

    return create(rngs)


def _applied(config: Config, *, in_scan: bool) -> Any:
    def apply(block: Block | Group, x: jax.Array, start: jax.Array | None) -> jax.Array:
        return block(x, start)

    # steps that keep a cache have no backward pass
    if config.remat == "none" or config.cache is not None:
        return apply
    # inside a scan the loop itself keeps XLA from merging the recomputation away
    return nnx.remat(apply, policy=POLICIES[config.remat], prevent_cse=not in_scan)
