"""The other half of a block in Flax Linen: one MLP, or many that tokens are routed to."""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp

from hloscope.decoders.axes import HIDDEN
from hloscope.decoders.config import Config
from hloscope.decoders.experts import Weights, capacity_of, dropless, with_capacity
from hloscope.decoders.linen.parts import dense, kernel_init
from hloscope.decoders.routing import route


class Mlp(nn.Module):
    """Two projections with an activation between them, which a third may multiply.

    Attributes:
      width: of the hidden layer.
    """

    config: Config
    width: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        config = self.config
        activation = nn.gelu if config.traits.activation == "gelu" else nn.silu
        if config.traits.gated:
            gate = activation(dense(config, self.width, ("embed", "mlp"), "gate")(x))
            hidden = gate * dense(config, self.width, ("embed", "mlp"), "up")(x)
        else:
            hidden = activation(dense(config, self.width, ("embed", "mlp"), "up")(x))
        hidden = nn.with_logical_constraint(hidden, HIDDEN)
        return dense(config, config.size.embed, ("mlp", "embed"), "down")(hidden)


class Experts(nn.Module):
    """Routed experts beside those that every token goes to."""

    config: Config

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        config, experts = self.config, self.config.size.experts
        assert experts is not None  # noqa: S101 - the size has some where this module is used
        shares, chosen = route(*self._scores(x), experts, config.traits.router)
        weights = self._weights(x.shape[-1])
        scale_input = config.traits.router == "sigmoid_topk"
        if config.moe == "dropless":
            routed = dropless(x, shares, chosen, weights, scale_input=scale_input)
        else:
            routed = with_capacity(
                x,
                shares,
                chosen,
                weights,
                capacity=capacity_of(experts, x.shape[1], config.capacity_factor),
                scale_input=scale_input,
                constrain=nn.with_logical_constraint,
            )
        return routed + Mlp(config, experts.shared_mlp, name="shared")(x)

    def _scores(self, x: jax.Array) -> tuple[jax.Array, jax.Array | None]:
        experts = self.config.size.experts
        assert experts is not None  # noqa: S101 - as above
        router = nn.Dense(
            experts.count,
            use_bias=False,
            dtype=jnp.float32,
            param_dtype=self.config.weights_dtype,
            kernel_init=nn.with_logical_partitioning(kernel_init, ("embed", "router")),
            name="router",
        )
        if experts.groups == 1:
            return router(x), None
        init = nn.with_logical_partitioning(nn.initializers.zeros, ("router",))
        bias = self.param("router_bias", init, (experts.count,), jnp.float32)
        return router(x), bias

    def _weights(self, embed: int) -> Weights[jax.Array]:
        experts, dtype = self.config.size.experts, jnp.dtype(self.config.weights_dtype)
        assert experts is not None  # noqa: S101 - as above
        into, out = ("experts", "embed", "mlp"), ("experts", "mlp", "embed")
        wide, narrow = (experts.count, embed, experts.mlp), (experts.count, experts.mlp, embed)
        made = (
            self.param(name, nn.with_logical_partitioning(kernel_init, axes), shape, dtype)
            for name, axes, shape in (
                ("gate", into, wide),
                ("up", into, wide),
                ("down", out, narrow),
            )
        )
        return Weights(*(weight.astype(self.config.dtype) for weight in made))
