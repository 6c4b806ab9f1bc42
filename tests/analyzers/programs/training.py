"""A small stack of layers with its gradient."""

import jax
import jax.numpy as jnp

from hloscope import Program

POLICIES = {
    "all": None,
    "dots": jax.checkpoint_policies.dots_saveable,
    "merged": None,
}


def stack(_devices, remat="none", scan=True, layers=4, width=64, rows=256, pad=0):
    """Layers of two products and a nonlinearity; what the backward pass recomputes is chosen."""

    def layer(x, w):
        return jnp.tanh(jax.nn.gelu(x @ w["in"]) @ w["out"]) + x, None

    if remat != "none":
        layer = jax.checkpoint(layer, policy=POLICIES[remat], prevent_cse=remat != "merged")

    def forward(weights, x):
        if scan:
            x, _ = jax.lax.scan(layer, x, weights)
        else:
            for n in range(layers):
                x, _ = layer(x, jax.tree.map(lambda w, n=n: w[n], weights))
        return jnp.mean(jnp.square(x))

    args = (
        {
            "in": jax.ShapeDtypeStruct((layers, width, 4 * width + pad), jnp.float32),
            "out": jax.ShapeDtypeStruct((layers, 4 * width + pad, width), jnp.float32),
        },
        jax.ShapeDtypeStruct((rows, width), jnp.float32),
    )
    return Program(function=jax.grad(forward), args=args)
