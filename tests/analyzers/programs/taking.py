"""Programs that take more or less, or take it in another form."""

import jax
import jax.numpy as jnp

from hloscope import Program


def step(
    _devices, rng=0, names="plain", used=True, weak=False, dtype="float32", rows=32, scale=1.0
):
    """A layer applied to a batch; `rng` more leaves are handed through."""

    def plain(params, x, extra):
        y = x.astype(jnp.float32) @ params["kernel"].astype(jnp.float32)
        y = y + (params["bias"] if used else 0.0)
        return y * params["scale"], extra

    def other(state, batch, more):
        kernel, bias = state["weight"], state["offset"]
        return plain({"kernel": kernel, "bias": bias, "scale": state["factor"]}, batch, more)

    keys = ("kernel", "bias", "scale") if names == "plain" else ("weight", "offset", "factor")
    leaves = (
        jax.ShapeDtypeStruct((64, 128), dtype),
        jax.ShapeDtypeStruct((128,), jnp.float32),
        scale if weak else jax.ShapeDtypeStruct((), jnp.float32),
    )
    params = dict(zip(keys, leaves, strict=True))
    extra = {f"rngs{n}": {"key": jax.ShapeDtypeStruct((2,), jnp.uint32)} for n in range(rng)}
    x = jax.ShapeDtypeStruct((rows, 64), jnp.float32)
    return Program(function=plain if names == "plain" else other, args=(params, x, extra))
