"""State that is written in place or anew, attention, and how operations are grouped."""

import jax
import jax.numpy as jnp

from hloscope import Program


def cached(_devices, how="slice", length=256, batch=4):
    """One row of a cache is written: in place, by a mask, by shifting it, or by growing it."""

    def step(cache, row, n):
        if how == "slice":
            return jax.lax.dynamic_update_slice_in_dim(cache, row, n, 1)
        if how == "mask":
            here = jnp.arange(cache.shape[1])[None, :, None] == n
            return jnp.where(here, jnp.broadcast_to(row, cache.shape), cache)
        return jnp.concatenate([cache[:, 1:] if how == "shift" else cache, row], 1)

    args = (
        jax.ShapeDtypeStruct((batch, length, 128), jnp.bfloat16),
        jax.ShapeDtypeStruct((batch, 1, 128), jnp.bfloat16),
        jax.ShapeDtypeStruct((), jnp.int32),
    )
    return Program(function=step, args=args, jit_options={"donate_argnums": 0})


def cached_layers(_devices, mask=False, layers=3, length=128):
    """A loop over layers writes a row of each layer's cache."""

    def step(weights, cache, x, n):
        def layer(x, state):
            w, c = state
            row = (x @ w)[:, None]
            if mask:
                c = jnp.where((jnp.arange(length) == n)[None, :, None], row, c)
            else:
                c = jax.lax.dynamic_update_slice_in_dim(c, row, n, 1)
            return x + jnp.sum(c, 1), c

        return jax.lax.scan(layer, x, (weights, cache))

    args = (
        jax.ShapeDtypeStruct((layers, 128, 128), jnp.float32),
        jax.ShapeDtypeStruct((layers, 4, length, 128), jnp.float32),
        jax.ShapeDtypeStruct((4, 128), jnp.float32),
        jax.ShapeDtypeStruct((), jnp.int32),
    )
    return Program(function=step, args=args, jit_options={"donate_argnums": 1})


def written(_devices, mapped=False, batch=8, length=256):
    """Rows are written at one position of the batch, or at one each."""

    def step(cache, rows, n):
        if mapped:
            write = lambda c, r, n: jax.lax.dynamic_update_slice(c, r, (n, 0))  # noqa: E731
            return jax.vmap(write)(cache, rows, n)
        return jax.lax.dynamic_update_slice(cache, rows, (0, n[0], 0))

    args = (
        jax.ShapeDtypeStruct((batch, length, 128), jnp.float32),
        jax.ShapeDtypeStruct((batch, 1, 128), jnp.float32),
        jax.ShapeDtypeStruct((batch,), jnp.int32),
    )
    return Program(function=step, args=args, jit_options={"donate_argnums": 0})


def attention(_devices, blocks=1, heads=4, length=512):
    """Softmax attention with its gradient, all queries at once or in blocks."""

    def attend(q, k, v):
        scores = jnp.einsum("qhd,khd->hqk", q, k)
        return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v)

    def loss(q, k, v):
        if blocks == 1:
            return jnp.sum(attend(q, k, v) ** 2)

        @jax.checkpoint
        def block(total, part):
            return total + jnp.sum(attend(part, k, v) ** 2), None

        return jax.lax.scan(block, 0.0, q.reshape(blocks, -1, heads, 32))[0]

    one = jax.ShapeDtypeStruct((length, heads, 32), jnp.float32)
    return Program(function=jax.grad(loss, (0, 1, 2)), args=(one, one, one))


def logits(_devices, vocabulary=512):
    """A loss over a vocabulary: an exponential between products that are no attention."""

    def loss(w, x):
        return -jnp.sum(jax.nn.log_softmax(x @ w)[:, 0])

    args = (
        jax.ShapeDtypeStruct((64, vocabulary), jnp.float32),
        jax.ShapeDtypeStruct((256, 64), jnp.float32),
    )
    return Program(function=jax.grad(loss, (0, 1)), args=args)


def chain(_devices, barriers=0, tail="tanh", size=1024):
    """An elementwise chain, with barriers between its parts."""
    keep = jax.lax.optimization_barrier

    def step(x, y):
        h = x * y + 1
        h = jnp.exp(keep(h) if barriers > 0 else h) - y
        h = keep(h) if barriers > 1 else h
        return (jnp.tanh(h) if tail == "tanh" else jnp.sin(h)) * 2

    one = jax.ShapeDtypeStruct((size, size), jnp.float32)
    return Program(function=step, args=(one, one))


def laid(devices, order="rows", rows=65536):
    """An array of eight columns that lies by rows or by columns."""
    from jax.experimental.layout import Format, Layout
    from jax.sharding import SingleDeviceSharding

    major = (0, 1) if order == "rows" else (1, 0)
    place = Format(Layout(major_to_minor=major), SingleDeviceSharding(next(iter(devices))))
    one = jax.ShapeDtypeStruct((rows, 8), jnp.float32)
    return Program(
        function=lambda x: jnp.tanh(x) * 2, args=(one,),
        jit_options={"in_shardings": (place,), "out_shardings": place},
    )  # fmt: skip


def turned(_devices, back=False, rows=512):
    """Heads of an array, in place or brought to the front."""

    def step(x):
        heads = x.reshape(rows, 4, 128)
        return jnp.swapaxes(heads, 0, 1) if back else heads

    return Program(function=step, args=(jax.ShapeDtypeStruct((rows, 512), jnp.float32),))
