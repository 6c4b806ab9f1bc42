"""The other half of a block in Flax NNX: one MLP, or many that tokens are routed to."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

from hloscope.decoders.axes import HIDDEN
from hloscope.decoders.config import Config
from hloscope.decoders.experts import Weights, capacity_of, dropless, with_capacity
from hloscope.decoders.nnx.parts import constrain, kernel_init, linear
from hloscope.decoders.routing import route


class Mlp(nnx.Module):
    """Two projections with an activation between them, which a third may multiply."""

    def __init__(self, config: Config, width: int, *, rngs: nnx.Rngs) -> None:
        self.activation = nnx.gelu if config.traits.activation == "gelu" else nnx.silu
        self.gated = config.traits.gated
        if self.gated:
            self.gate = linear(config, config.size.embed, width, ("embed", "mlp"), rngs)
        self.up = linear(config, config.size.embed, width, ("embed", "mlp"), rngs)
        self.down = linear(config, width, config.size.embed, ("mlp", "embed"), rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        if self.gated:
            hidden = self.activation(self.gate(x)) * self.up(x)
        else:
            hidden = self.activation(self.up(x))
        return self.down(constrain(hidden, HIDDEN))


class Experts(nnx.Module):
    """Routed experts beside those that every token goes to."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        experts, embed = config.size.experts, config.size.embed
        assert experts is not None  # noqa: S101 - the size has some where this module is used
        self.config = config
        self.experts = experts
        self.router = nnx.Linear(
            embed,
            experts.count,
            use_bias=False,
            dtype=jnp.float32,
            param_dtype=config.weights_dtype,
            kernel_init=nnx.with_partitioning(kernel_init, ("embed", "router")),
            rngs=rngs,
        )
        if experts.groups > 1:
            make_bias = nnx.with_partitioning(nnx.initializers.zeros_init(), ("router",))
            self.router_bias = nnx.Param(make_bias(rngs.params(), (experts.count,), jnp.float32))
        into, out = ("experts", "embed", "mlp"), ("experts", "mlp", "embed")
        self.gate = self._matrix((experts.count, embed, experts.mlp), into, rngs)
        self.up = self._matrix((experts.count, embed, experts.mlp), into, rngs)
        self.down = self._matrix((experts.count, experts.mlp, embed), out, rngs)
        self.shared = Mlp(config, experts.shared_mlp, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps `[batch, seq, embed]` to the same shape."""
        config, experts = self.config, self.experts
        bias = self.router_bias[...] if experts.groups > 1 else None
        shares, chosen = route(self.router(x), bias, experts, config.traits.router)
        matrices = (self.gate, self.up, self.down)
        weights = Weights(*(matrix[...].astype(config.dtype) for matrix in matrices))
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
                constrain=constrain,
            )
        return routed + self.shared(x)

    def _matrix(self, shape: tuple[int, ...], axes: tuple[str, ...], rngs: nnx.Rngs) -> nnx.Param:
        make = nnx.with_partitioning(kernel_init, axes)
        return nnx.Param(make(rngs.params(), shape, jnp.dtype(self.config.weights_dtype)))
