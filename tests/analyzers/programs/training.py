"""A small stack of layers with its gradient."""

import jax
import jax.numpy as jnp

from hloscope import Program

POLICIES = {
    "all": None,
    "dots": jax.checkpoint_policies.dots_saveable,
    "merged": None,
}


def stack(_devices, remat="none", scan=True, layers=4, width=64, rows=256, pad=0, gives="grad"):
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
    with_value = jax.value_and_grad(forward)

    def named(*given):
        value, grads = with_value(*given)
        return {"loss": value, "slopes": grads}

    functions = {"grad": jax.grad(forward), "value": with_value, "named": named}
    return Program(function=functions[gives], args=args)


def step(_devices, parts=1, grads=False, layers=3, width=64, rows=256):
    """A gradient step; the batch is taken in parts, and the gradients are given back as well."""

    def loss(weights, x):
        x, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, weights)
        return jnp.mean(jnp.square(x))

    def train(weights, x):
        if parts == 1:
            found = jax.grad(loss)(weights, x)
        else:
            found, _ = jax.lax.scan(
                lambda total, part: (total + jax.grad(loss)(weights, part), None),
                jnp.zeros_like(weights),
                x.reshape(parts, rows // parts, width),
            )
        made = {"weights": weights - 0.1 * found}
        return {**made, "grads": found} if grads else made

    args = (
        jax.ShapeDtypeStruct((layers, width, width), jnp.float32),
        jax.ShapeDtypeStruct((rows, width), jnp.float32),
    )
    return Program(function=train, args=args)
