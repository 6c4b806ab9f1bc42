"""The layers that NNX decoders are made of."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from flax.core.spmd import get_pspec

from hloscope.decoders.adapters import ALPHA, plan
from hloscope.decoders.config import Config

kernel_init = nnx.initializers.normal(stddev=0.02)


def constrain(x: jax.Array, axes: tuple[str, ...]) -> jax.Array:
    """Shards an activation as the current axis rules say."""
    return jax.lax.with_sharding_constraint(x, get_pspec(axes))


def norm(config: Config, width: int, rngs: nnx.Rngs) -> nnx.Module:
    """A norm over the last dimension, which has this width."""
    own: dict[str, Any] = {
        "epsilon": config.traits.epsilon,
        "dtype": config.dtype,
        "param_dtype": config.weights_dtype,
        "scale_init": nnx.with_partitioning(nnx.initializers.ones_init(), ("norm",)),
        "rngs": rngs,
    }
    if config.traits.norm == "rms":
        return nnx.RMSNorm(width, **own)
    bias_init = nnx.with_partitioning(nnx.initializers.zeros_init(), ("norm",))
    return nnx.LayerNorm(width, bias_init=bias_init, **own)


class Projections(nnx.Module):
    """A module with projections, each with a LoRA adapter beside it where the config asks."""

    config: Config

    def add(
        self,
        name: str,
        equation: str,
        shape: tuple[int, ...],
        axes: tuple[str, ...],
        rngs: nnx.Rngs,
    ) -> None:
        """Adds a projection.

        Args:
          name: of the field; the adapter's is `NAME_lora`.
          equation: `bte,ehd->bthd`, batch and seq first.
          shape: of the kernel.
          axes: logical axes of the kernel; a bias has the last of them.
          rngs: of the weights.
        """
        config = self.config
        outputs = len(equation.partition("->")[2]) - 2  # all of the result but batch and seq
        base = nnx.Einsum(
            equation,
            shape,
            shape[-outputs:] if config.traits.bias else None,
            dtype=config.dtype,
            param_dtype=config.weights_dtype,
            kernel_init=nnx.with_partitioning(kernel_init, axes),
            bias_init=nnx.with_partitioning(nnx.initializers.zeros_init(), axes[-outputs:]),
            rngs=rngs,
        )
        setattr(self, name, base)
        if config.lora:
            setattr(self, f"{name}_lora", Adapter(config, equation, shape, axes, rngs=rngs))

    def project(self, name: str, x: jax.Array) -> jax.Array:
        """Applies a projection with its adapter."""
        given: jax.Array = getattr(self, name)(x)
        return given + getattr(self, f"{name}_lora")(x) if self.config.lora else given


class Adapter(nnx.Module):
    """What LoRA adds to a projection; `nnx.LoRA` knows matrices alone."""

    def __init__(
        self,
        config: Config,
        equation: str,
        shape: tuple[int, ...],
        axes: tuple[str, ...],
        *,
        rngs: nnx.Rngs,
    ) -> None:
        self.config = config
        self.plan = plan(equation, shape, axes, config.lora)
        zeros, dtype = nnx.initializers.zeros_init(), jnp.dtype(config.weights_dtype)
        make_a = nnx.with_partitioning(kernel_init, self.plan.a_axes)
        make_b = nnx.with_partitioning(zeros, self.plan.b_axes)
        self.a = nnx.LoRAParam(make_a(rngs.params(), self.plan.a_shape, dtype))
        self.b = nnx.LoRAParam(make_b(rngs.params(), self.plan.b_shape, dtype))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Applies the equation with the product of the two thin matrices as kernel."""
        a, b = (matrix[...].astype(self.config.dtype) for matrix in (self.a, self.b))
        thin = jnp.einsum(self.plan.into, x, a)
        return jnp.einsum(self.plan.out, thin, b) * (ALPHA / self.config.lora)


def linear(
    config: Config, inputs: int, outputs: int, axes: tuple[str, str], rngs: nnx.Rngs
) -> nnx.Linear:
    """A matrix, with a bias where the family has them."""
    return nnx.Linear(
        inputs,
        outputs,
        use_bias=config.traits.bias,
        dtype=config.dtype,
        param_dtype=config.weights_dtype,
        kernel_init=nnx.with_partitioning(kernel_init, axes),
        bias_init=nnx.with_partitioning(nnx.initializers.zeros_init(), axes[1:]),
        rngs=rngs,
    )


def embed(config: Config, rows: int, axis: str, rngs: nnx.Rngs) -> nnx.Embed:
    """A table of embeddings, its rows along the logical axis."""
    return nnx.Embed(
        rows,
        config.size.embed,
        dtype=config.dtype,
        param_dtype=config.weights_dtype,
        embedding_init=nnx.with_partitioning(kernel_init, (axis, "embed")),
        rngs=rngs,
    )
