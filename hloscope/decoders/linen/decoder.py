"""A decoder in Flax Linen."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax

from hloscope.decoders.axes import LOGITS, RESIDUAL
from hloscope.decoders.config import Config
from hloscope.decoders.linen.attention import Attention, LatentAttention
from hloscope.decoders.linen.mlp import Experts, Mlp
from hloscope.decoders.linen.parts import embed, kernel_init, norm
from hloscope.decoders.pattern import Layer, Stretch
from hloscope.decoders.remat import POLICIES
from hloscope.decoders.scores import positions_of


class Block(nn.Module):
    """One layer, each half normalised before and added after."""

    config: Config
    layer: Layer
    deterministic: bool

    @nn.compact
    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> tuple[jax.Array, None]:
        """Maps `[batch, seq, embed]` to the same shape; the second result is `nn.scan`'s."""
        config = self.config
        attention = LatentAttention if config.size.latent else Attention
        x = nn.with_logical_constraint(x, RESIDUAL)
        half = norm(config, "attention_norm")(x)
        half = attention(config, self.layer, name="attention")(half, start)
        x = nn.with_logical_constraint(x + self._leave("attention", half), RESIDUAL)
        half = self._mlp()(norm(config, "mlp_norm")(x))
        return nn.with_logical_constraint(x + self._leave("mlp", half), RESIDUAL), None

    def _mlp(self) -> nn.Module:
        if self.layer.experts:
            return Experts(self.config, name="mlp")
        return Mlp(self.config, self.config.size.mlp, name="mlp")

    def _leave(self, half: str, x: jax.Array) -> jax.Array:
        if self.config.traits.post_norms:
            x = norm(self.config, f"{half}_post_norm")(x)
        drop = nn.Dropout(
            self.config.dropout, deterministic=self.deterministic, name=f"{half}_dropout"
        )
        return drop(x)


class Group(nn.Module):
    """The layers of one turn of a scan."""

    config: Config
    layers: tuple[Layer, ...]
    deterministic: bool

    @nn.compact
    def __call__(self, x: jax.Array, start: jax.Array | None = None) -> tuple[jax.Array, None]:
        """Maps `[batch, seq, embed]` to the same shape; the second result is `nn.scan`'s."""
        for number, layer in enumerate(self.layers):
            block = Block(self.config, layer, self.deterministic, name=f"block_{number}")
            x, _ = block(x, start)
        return x, None


class Decoder(nn.Module):
    """Tokens to logits."""

    config: Config
    deterministic: bool = False

    @nn.compact
    def __call__(self, tokens: jax.Array, start: jax.Array | None = None) -> jax.Array:
        """Maps tokens `[batch, seq]` to logits `[batch, seq, vocab]`.

        With a KV cache, `start` is the position of the first token, and the logits are those of
        the last one, `[batch, 1, vocab]`.
        """
        config = self.config
        token_embed = embed(config, config.vocab, "vocab", "token_embed")
        x = token_embed(tokens)
        if config.traits.scaled_embedding:
            x = x * jax.numpy.asarray(config.size.embed**0.5, x.dtype)
        if config.traits.learned_positions:
            table = embed(config, config.size.positions, "positions", "position_embed")
            x = x + table(positions_of(tokens, start))
        x = nn.Dropout(config.dropout, deterministic=self.deterministic)(x)
        x = nn.with_logical_constraint(x, RESIDUAL)
        for stretch in config.stretches():
            x = self._run(stretch, x, start)
        x = norm(config, "final_norm")(x if start is None else x[:, -1:])
        logits = token_embed.attend(x) if config.tied else self._output()(x)
        if start is None:  # one position cannot be split along the sequence
            logits = nn.with_logical_constraint(logits, LOGITS)
        return logits.astype(config.logits_dtype)

    def _run(self, stretch: Stretch, x: jax.Array, start: jax.Array | None) -> jax.Array:
        if stretch.repeats is None:
            block = self._remat(Block)
            for number, layer in enumerate(stretch.group):
                name = f"{stretch.name}_{number}"
                x, _ = block(self.config, layer, self.deterministic, name=name)(x, start)
            return x
        single = len(stretch.group) == 1
        scanned = nn.scan(
            self._remat(Block if single else Group, in_scan=True),
            variable_axes={"params": 0, "lora": 0, "cache": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=nn.broadcast,
            length=stretch.repeats,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        of_one_turn = stretch.group[0] if single else stretch.group
        x, _ = scanned(self.config, of_one_turn, self.deterministic, name=stretch.name)(x, start)
        return x

    def _remat(self, module: type[nn.Module], *, in_scan: bool = False) -> Any:
        # steps that keep a cache have no backward pass
        if self.config.remat == "none" or self.config.cache is not None:
            return module
        # inside a scan the loop itself keeps XLA from merging the recomputation away
        return nn.remat(module, policy=POLICIES[self.config.remat], prevent_cse=not in_scan)

    def _output(self) -> nn.Dense:
        return nn.Dense(
            self.config.vocab,
            use_bias=False,
            dtype=self.config.dtype,
            param_dtype=self.config.weights_dtype,
            kernel_init=nn.with_logical_partitioning(kernel_init, ("embed", "vocab")),
            name="output",
        )
