"""GPT-3's decoder in Flax NNX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from flax.core.spmd import get_pspec

from hloscope.decoders.config import Config
from hloscope.decoders.remat import POLICIES

EPSILON = 1e-5  # of every layer norm, as in GPT-2

_kernel_init = nnx.initializers.normal(stddev=0.02)
_RESIDUAL = ("activation_batch", "activation_length", "activation_embed")
_HEADS = ("activation_batch", "activation_length", "activation_heads", "activation_head_dim")


def _constrain(x: jax.Array, axes: tuple[str, ...]) -> jax.Array:
    """Shards an activation as the current axis rules say."""
    return jax.lax.with_sharding_constraint(x, get_pspec(axes))


def _layer_norm(config: Config, rngs: nnx.Rngs) -> nnx.LayerNorm:
    return nnx.LayerNorm(
        config.embed,
        epsilon=EPSILON,
        dtype=config.dtype,
        scale_init=nnx.with_partitioning(nnx.initializers.ones_init(), ("norm",)),
        bias_init=nnx.with_partitioning(nnx.initializers.zeros_init(), ("norm",)),
        rngs=rngs,
    )


def _einsum(
    config: Config, equation: str, shape: tuple[int, ...], axes: tuple[str, ...], rngs: nnx.Rngs
) -> nnx.Einsum:
    """A projection with bias; `axes` name the kernel's dimensions, the bias has its last ones."""
    outputs = len(equation.partition("->")[2]) - 2  # all of the result but batch and seq
    return nnx.Einsum(
        equation,
        shape,
        shape[-outputs:],
        dtype=config.dtype,
        kernel_init=nnx.with_partitioning(_kernel_init, axes),
        bias_init=nnx.with_partitioning(nnx.initializers.zeros_init(), axes[-outputs:]),
        rngs=rngs,
    )


def _linear(
    config: Config, inputs: int, outputs: int, axes: tuple[str, str], rngs: nnx.Rngs
) -> nnx.Linear:
    return nnx.Linear(
        inputs,
        outputs,
        dtype=config.dtype,
        kernel_init=nnx.with_partitioning(_kernel_init, axes),
        bias_init=nnx.with_partitioning(nnx.initializers.zeros_init(), axes[1:]),
        rngs=rngs,
    )


def _embed(config: Config, rows: int, axis: str, rngs: nnx.Rngs) -> nnx.Embed:
    return nnx.Embed(
        rows,
        config.embed,
        dtype=config.dtype,
        embedding_init=nnx.with_partitioning(_kernel_init, (axis, "embed")),
        rngs=rngs,
    )


class Attention(nnx.Module):
    """Causal self-attention with one fused projection to queries, keys and values."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        heads = (config.heads, config.head_dim)
        self.qkv = _einsum(
            config,
            "bte,eqhd->btqhd",
            (config.embed, 3, *heads),
            ("embed", "qkv", "heads", "head_dim"),
            rngs,
        )
        self.out = _einsum(
            config, "bthd,hde->bte", (*heads, config.embed), ("heads", "head_dim", "embed"), rngs
        )

    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        qkv = self.qkv(x)
        query, key, value = (
            _constrain(qkv[:, :, i], _HEADS)  # [batch, seq, heads, head_dim]
            for i in range(3)
        )
        mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
        return self.out(_constrain(mixed, _HEADS))


class Mlp(nnx.Module):
    """Two projections with a gelu between them."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        self.up = _linear(config, config.embed, config.mlp, ("embed", "mlp"), rngs)
        self.down = _linear(config, config.mlp, config.embed, ("mlp", "embed"), rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        x = nnx.gelu(self.up(x))
        x = _constrain(x, ("activation_batch", "activation_length", "activation_mlp"))
        return self.down(x)


class Block(nnx.Module):
    """One layer, each half normalised before and added after."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        self.attention_norm = _layer_norm(config, rngs)
        self.attention = Attention(config, rngs=rngs)
        self.attention_dropout = nnx.Dropout(config.dropout, rngs=rngs)
        self.mlp_norm = _layer_norm(config, rngs)
        self.mlp = Mlp(config, rngs=rngs)
        self.mlp_dropout = nnx.Dropout(config.dropout, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        x = _constrain(x, _RESIDUAL)
        x = x + self.attention_dropout(self.attention(self.attention_norm(x)))
        x = _constrain(x, _RESIDUAL)
        x = x + self.mlp_dropout(self.mlp(self.mlp_norm(x)))
        return _constrain(x, _RESIDUAL)


class Decoder(nnx.Module):
    """Tokens to logits."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        self.config = config
        self.token_embed = _embed(config, config.vocab, "vocab", rngs)
        self.position_embed = _embed(config, config.positions, "positions", rngs)
        self.dropout = nnx.Dropout(config.dropout, rngs=rngs)
        self.layers = _stacked(config, rngs) if config.scan else _listed(config, rngs)
        self.final_norm = _layer_norm(config, rngs)
        if not config.tied:
            self.output = nnx.Linear(
                config.embed,
                config.vocab,
                use_bias=False,
                dtype=config.dtype,
                kernel_init=nnx.with_partitioning(_kernel_init, ("embed", "vocab")),
                rngs=rngs,
            )

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Maps tokens `[batch, seq]` to logits `[batch, seq, vocab]`."""
        x = self.token_embed(tokens) + self.position_embed(jnp.arange(tokens.shape[1]))
        x = _constrain(self.dropout(x), _RESIDUAL)
        x = self.final_norm(self._blocks(x))
        logits = self.token_embed.attend(x) if self.config.tied else self.output(x)
        logits = _constrain(logits, ("activation_batch", "activation_length", "activation_vocab"))
        return logits.astype(self.config.logits_dtype)

    def _blocks(self, x: jax.Array) -> jax.Array:
        apply_block = _block_function(self.config)
        if not self.config.scan:
            for block in self.layers:
                x = apply_block(block, x)
            return x
        scanned = nnx.scan(
            apply_block,
            in_axes=(0, nnx.Carry),
            out_axes=nnx.Carry,
            transform_metadata={nnx.PARTITION_NAME: "layers"},
        )
        return scanned(self.layers, x)


def _stacked(config: Config, rngs: nnx.Rngs) -> Block:
    """One block whose variables have a leading `layers` dimension."""

    @nnx.split_rngs(splits=config.layers)
    @nnx.vmap(in_axes=(0,), out_axes=0, transform_metadata={nnx.PARTITION_NAME: "layers"})
    def create(rngs: nnx.Rngs) -> Block:
        return Block(config, rngs=rngs)

    return create(rngs)


def _listed(config: Config, rngs: nnx.Rngs) -> nnx.List:
    return nnx.List([Block(config, rngs=rngs) for _ in range(config.layers)])


def _block_function(config: Config) -> Any:
    def apply_block(block: Block, x: jax.Array) -> jax.Array:
        return block(x)

    if config.remat == "none":
        return apply_block
    # inside a scan the loop itself keeps XLA from merging the recomputation away
    return nnx.remat(apply_block, policy=POLICIES[config.remat], prevent_cse=not config.scan)
