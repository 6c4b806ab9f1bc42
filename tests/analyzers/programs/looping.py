"""Layers in a loop, and what the loop carries, stacks and hands back."""

import jax
import jax.numpy as jnp

from hloscope import Program


def _weights(layers, width):
    return jax.ShapeDtypeStruct((layers, width, width), jnp.float32)


def _x(rows, width):
    return jax.ShapeDtypeStruct((rows, width), jnp.float32)


def returned(_devices, back=False, donate=False, layers=4, width=128):
    """The weights come back as they went in."""

    def forward(weights, x):
        x, kept = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), w if back else None), x, weights)
        return (x, kept) if back else x

    options = {"donate_argnums": 0} if donate else {}
    args = (_weights(layers, width), _x(32, width))
    return Program(function=forward, args=args, jit_options=options)


def stacked(_devices, what="nothing", layers=4, width=128):
    """The loop stacks weights that it only reads, or changes."""

    def layer(x, w):
        y = jnp.tanh(x @ w)
        kept = {"nothing": None, "read": jax.lax.optimization_barrier(w), "changed": w * 2}
        return y, kept[what]

    args = (_weights(layers, width), _x(32, width))
    return Program(function=lambda w, x: jax.lax.scan(layer, x, w), args=args)


def residuals(_devices, long=False, grad=True, layers=4, width=128):
    """A nonlinearity that keeps more for the backward pass."""

    def act(x):
        return x * jnp.sin(x) * jnp.cos(x * 2) if long else jnp.maximum(x, 0)

    def loss(weights, x):
        return jnp.sum(jax.lax.scan(lambda x, w: (x + act(x @ w), None), x, weights)[0] ** 2)

    function = jax.grad(loss) if grad else loss
    return Program(function=function, args=(_weights(layers, width), _x(512, width)))


def history(_devices, old=False, length=64, width=4096):
    """A row is written in every turn, and one read of the old array or of the new."""

    def step(rows, x):
        def turn(n, carry):
            rows, x = carry
            new = jax.lax.dynamic_update_slice(rows, (x * 2)[None], (n, 0))
            read = rows if old else new
            x = x + read[jax.lax.rem(n + 3, length)]
            x = x - (new if old else read)[jax.lax.rem(n + 1, length)]
            return new, x

        return jax.lax.fori_loop(0, length, turn, (rows, x))

    args = (_x(length, width), jax.ShapeDtypeStruct((width,), jnp.float32))
    return Program(function=step, args=args, jit_options={"donate_argnums": 0})


def outputs(_devices, what="one", layers=4, width=128):
    """The loop stacks one value, the same value again in another type, or two values."""

    def layer(x, w):
        y = jnp.tanh(x @ w)
        kept = {"one": (y,), "again": (y, y.astype(jnp.bfloat16)), "two": (y, jnp.sin(x))}
        return y, kept[what]

    args = (_weights(layers, width), _x(128, width))
    return Program(function=lambda w, x: jax.lax.scan(layer, x, w), args=args)


def layers(_devices, scan=True, count=6, width=128, unroll=1):
    """Layers as a loop, or one after the other."""

    def layer(x, w):
        return x + jnp.tanh(x @ w), None

    def forward(weights, x):
        if scan:
            return jax.lax.scan(layer, x, weights, unroll=unroll)[0]
        for n in range(count):
            x, _ = layer(x, weights[n])
        return x

    return Program(function=forward, args=(_weights(count, width), _x(64, width)))
