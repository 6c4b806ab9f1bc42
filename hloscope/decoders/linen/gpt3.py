"""GPT-3's decoder in Flax Linen."""

from __future__ import annotations

from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from hloscope.decoders.config import Config
from hloscope.decoders.remat import POLICIES

EPSILON = 1e-5  # of every layer norm, as in GPT-2

_kernel_init = nn.initializers.normal(stddev=0.02)
_RESIDUAL = ("activation_batch", "activation_length", "activation_embed")
_HEADS = ("activation_batch", "activation_length", "activation_heads", "activation_head_dim")


def _layer_norm(config: Config, name: str) -> nn.LayerNorm:
    return nn.LayerNorm(
        epsilon=EPSILON,
        dtype=config.dtype,
        scale_init=nn.with_logical_partitioning(nn.initializers.ones, ("norm",)),
        bias_init=nn.with_logical_partitioning(nn.initializers.zeros, ("norm",)),
        name=name,
    )


def _einsum(
    config: Config, equation: str, shape: tuple[int, ...], axes: tuple[str, ...], name: str
) -> nn.Einsum:
    """A projection with bias; `axes` name the kernel's dimensions, the bias has its last ones.

    Not `nn.DenseGeneral`: it makes its kernel flat, which four axes do not fit under a mesh.
    """
    outputs = len(equation.partition("->")[2]) - 2  # all of the result but batch and seq
    return nn.Einsum(
        shape,
        equation,
        dtype=config.dtype,
        kernel_init=nn.with_logical_partitioning(_kernel_init, axes),
        bias_init=nn.with_logical_partitioning(nn.initializers.zeros, axes[-outputs:]),
        name=name,
    )


def _dense(config: Config, features: int, axes: tuple[str, str], name: str) -> nn.Dense:
    return nn.Dense(
        features,
        dtype=config.dtype,
        kernel_init=nn.with_logical_partitioning(_kernel_init, axes),
        bias_init=nn.with_logical_partitioning(nn.initializers.zeros, axes[1:]),
        name=name,
    )


def _embed(config: Config, rows: int, axis: str, name: str) -> nn.Embed:
    return nn.Embed(
        rows,
        config.embed,
        dtype=config.dtype,
        embedding_init=nn.with_logical_partitioning(_kernel_init, (axis, "embed")),
        name=name,
    )


class Attention(nn.Module):
    """Causal self-attention with one fused projection to queries, keys and values."""

    config: Config

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        config = self.config
        heads = (config.heads, config.head_dim)
        project = _einsum(
            config,
            "bte,eqhd->btqhd",
            (config.embed, 3, *heads),
            ("embed", "qkv", "heads", "head_dim"),
            "qkv",
        )
        qkv = project(x)
        query, key, value = (
            nn.with_logical_constraint(qkv[:, :, i], _HEADS)  # [batch, seq, heads, head_dim]
            for i in range(3)
        )
        mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
        mixed = nn.with_logical_constraint(mixed, _HEADS)
        merge = _einsum(
            config,
            "bthd,hde->bte",
            (*heads, config.embed),
            ("heads", "head_dim", "embed"),
            "out",
        )
        return merge(mixed)


class Mlp(nn.Module):
    """Two projections with a gelu between them."""

    config: Config

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        config = self.config
        x = nn.gelu(_dense(config, config.mlp, ("embed", "mlp"), "up")(x))
        x = nn.with_logical_constraint(
            x, ("activation_batch", "activation_length", "activation_mlp")
        )
        return _dense(config, config.embed, ("mlp", "embed"), "down")(x)


class Block(nn.Module):
    """One layer, each half normalised before and added after."""

    config: Config
    deterministic: bool

    @nn.compact
    def __call__(self, x: jax.Array, _: None = None) -> tuple[jax.Array, None]:
        """Maps `[batch, seq, embed]` to the same shape; the second result is `nn.scan`'s."""
        drop = partial(nn.Dropout, self.config.dropout, deterministic=self.deterministic)
        x = nn.with_logical_constraint(x, _RESIDUAL)
        attended = Attention(self.config, name="attention")(
            _layer_norm(self.config, "attention_norm")(x)
        )
        x = x + drop(name="attention_dropout")(attended)
        x = nn.with_logical_constraint(x, _RESIDUAL)
        expanded = Mlp(self.config, name="mlp")(_layer_norm(self.config, "mlp_norm")(x))
        x = x + drop(name="mlp_dropout")(expanded)
        return nn.with_logical_constraint(x, _RESIDUAL), None


class Decoder(nn.Module):
    """Tokens to logits."""

    config: Config
    deterministic: bool = False

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Maps tokens `[batch, seq]` to logits `[batch, seq, vocab]`."""
        config = self.config
        token_embed = _embed(config, config.vocab, "vocab", "token_embed")
        position_embed = _embed(config, config.positions, "positions", "position_embed")
        x = token_embed(tokens) + position_embed(jnp.arange(tokens.shape[1]))
        x = nn.Dropout(config.dropout, deterministic=self.deterministic)(x)
        x = nn.with_logical_constraint(x, _RESIDUAL)
        x = self._blocks(x)
        x = _layer_norm(config, "final_norm")(x)
        logits = token_embed.attend(x) if config.tied else self._output()(x)
        logits = nn.with_logical_constraint(
            logits, ("activation_batch", "activation_length", "activation_vocab")
        )
        return logits.astype(config.logits_dtype)

    def _blocks(self, x: jax.Array) -> jax.Array:
        config = self.config
        block = self._block_class()
        if not config.scan:
            for layer in range(config.layers):
                x, _ = block(config, self.deterministic, name=f"layers_{layer}")(x)
            return x
        layers = nn.scan(
            block,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            length=config.layers,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        x, _ = layers(config, self.deterministic, name="layers")(x, None)
        return x

    def _block_class(self) -> Any:
        if self.config.remat == "none":
            return Block
        # inside a scan the loop itself keeps XLA from merging the recomputation away
        return nn.remat(Block, policy=POLICIES[self.config.remat], prevent_cse=not self.config.scan)

    def _output(self) -> nn.Dense:
        return nn.Dense(
            self.config.vocab,
            use_bias=False,
            dtype=self.config.dtype,
            kernel_init=nn.with_logical_partitioning(_kernel_init, ("embed", "vocab")),
            name="output",
        )
