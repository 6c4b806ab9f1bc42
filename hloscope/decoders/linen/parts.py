"""The layers that Linen decoders are made of."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from hloscope.decoders.adapters import ALPHA, plan
from hloscope.decoders.config import Config

kernel_init = nn.initializers.normal(stddev=0.02)


def norm(config: Config, name: str) -> nn.Module:
    """A norm over the last dimension."""
    own = {
        "epsilon": config.traits.epsilon,
        "dtype": config.dtype,
        "param_dtype": config.weights_dtype,
        "scale_init": nn.with_logical_partitioning(nn.initializers.ones, ("norm",)),
        "name": name,
    }
    if config.traits.norm == "rms":
        return nn.RMSNorm(**own)
    bias_init = nn.with_logical_partitioning(nn.initializers.zeros, ("norm",))
    return nn.LayerNorm(bias_init=bias_init, **own)


def project(
    config: Config, equation: str, shape: tuple[int, ...], axes: tuple[str, ...], name: str
) -> Any:
    """A projection, with a LoRA adapter beside it where the config asks for one.

    Not `nn.DenseGeneral`: it makes its kernel flat, which four axes do not fit under a mesh.

    Args:
      config: says whether there are biases and adapters.
      equation: `bte,ehd->bthd`, batch and seq first.
      shape: of the kernel.
      axes: logical axes of the kernel; a bias has the last of them.
      name: of the module; the adapter's is `NAME_lora`.
    """
    outputs = len(equation.partition("->")[2]) - 2  # all of the result but batch and seq
    base = nn.Einsum(
        shape,
        equation,
        use_bias=config.traits.bias,
        dtype=config.dtype,
        param_dtype=config.weights_dtype,
        kernel_init=nn.with_logical_partitioning(kernel_init, axes),
        bias_init=nn.with_logical_partitioning(nn.initializers.zeros, axes[-outputs:]),
        name=name,
    )
    if not config.lora:
        return base
    adapter = Adapter(config, equation, shape, axes, name=f"{name}_lora")
    return lambda x: base(x) + adapter(x)


class Adapter(nn.Module):
    """What LoRA adds to a projection; its two matrices are the `lora` collection."""

    config: Config
    equation: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Applies the equation with the product of the two thin matrices as kernel."""
        rank = self.config.lora
        adapter = plan(self.equation, self.shape, self.axes, rank)
        a = self._matrix("a", kernel_init, adapter.a_shape, adapter.a_axes)
        b = self._matrix("b", nn.initializers.zeros, adapter.b_shape, adapter.b_axes)
        return jnp.einsum(adapter.out, jnp.einsum(adapter.into, x, a), b) * (ALPHA / rank)

    def _matrix(
        self, name: str, init: Any, shape: tuple[int, ...], axes: tuple[str, ...]
    ) -> jax.Array:
        make = nn.with_logical_partitioning(init, axes)
        dtype = self.config.weights_dtype
        matrix = self.variable(
            "lora", name, lambda: make(self.make_rng("params"), shape, jnp.dtype(dtype))
        )
        return matrix.value.astype(self.config.dtype)


def dense(config: Config, features: int, axes: tuple[str, str], name: str) -> nn.Dense:
    """A matrix, with a bias where the family has them."""
    return nn.Dense(
        features,
        use_bias=config.traits.bias,
        dtype=config.dtype,
        param_dtype=config.weights_dtype,
        kernel_init=nn.with_logical_partitioning(kernel_init, axes),
        bias_init=nn.with_logical_partitioning(nn.initializers.zeros, axes[1:]),
        name=name,
    )


def embed(config: Config, rows: int, axis: str, name: str) -> nn.Embed:
    """A table of embeddings, its rows along the logical axis."""
    return nn.Embed(
        rows,
        config.size.embed,
        dtype=config.dtype,
        param_dtype=config.weights_dtype,
        embedding_init=nn.with_logical_partitioning(kernel_init, (axis, "embed")),
        name=name,
    )
