"""Programs that update their arguments."""

import jax
import jax.numpy as jnp

from hloscope import Program


def state(_devices, donate=True, dtype="float32", out="float32", rows=256, extra=False):
    """Two leaves of a state are updated."""

    def step(state, x):
        grads = jax.tree.map(lambda w: jnp.mean(x) * w.astype(jnp.float32), state)
        new = jax.tree.map(lambda w, g: (w - 0.1 * g).astype(out), state, grads)
        return (new, state["w"] * 2) if extra else (new, jnp.sum(x))

    leaf = jax.ShapeDtypeStruct((rows, 512), dtype)
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32)
    options = {"donate_argnums": 0} if donate else {}
    return Program(function=step, args=({"m": leaf, "w": leaf}, x), jit_options=options)


def read_late(_devices, late=True, rows=1024):
    """A row is written in a loop, and the array read before or after."""

    def step(cache, x):
        before = jnp.zeros(()) if late else jnp.sum(jnp.sin(cache))
        x = x + before
        new = jax.lax.fori_loop(
            0, 4, lambda i, c: jax.lax.dynamic_update_slice(c, x[None] + c[i][None], (i, 0)), cache
        )
        after = jnp.sum(jnp.sin(cache) * jnp.max(new)) if late else jnp.max(new)
        return new, after

    args = (
        jax.ShapeDtypeStruct((rows, 256), jnp.float32),
        jax.ShapeDtypeStruct((256,), jnp.float32),
    )
    return Program(function=step, args=args, jit_options={"donate_argnums": 0})
