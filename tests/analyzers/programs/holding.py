"""Programs with literals."""

import jax
import jax.numpy as jnp
import numpy as np

from hloscope import Program


def table(_devices, captured=True, rows=256, seed=0, scale=1.0):
    """A table that is captured or given."""
    values = np.random.default_rng(seed).normal(size=(rows, 128)).astype(np.float32)

    def inside(x):
        return jnp.tanh(x * scale) + jnp.asarray(values)

    def given(x, rows_of_table):
        return jnp.tanh(x * scale) + rows_of_table

    one = jax.ShapeDtypeStruct((rows, 128), jnp.float32)
    return Program(function=inside if captured else given, args=(one,) * (1 if captured else 2))


def folded(_devices, known=True, n=64):
    """A product of two small literals, which the compiler can work out, or with an argument."""
    random = np.random.default_rng(0)
    left = random.normal(size=(n, 16)).astype(np.float32)
    right = random.normal(size=(16, 2 * n)).astype(np.float32)

    def function(x, other):
        return x + jnp.asarray(left) @ (jnp.asarray(right) if known else other)

    x = jax.ShapeDtypeStruct((n, 2 * n), jnp.float32)
    return Program(function=function, args=(x, jax.ShapeDtypeStruct((16, 2 * n), jnp.float32)))
