"""The same programs written twice: other names, other lines, other order of keys."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from hloscope import Program


def _floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _mlp(params, x):
    return jax.nn.gelu(x @ params["up"] + params["bias"]) @ params["down"]


def mlp_renamed(weights, batch):
    # the same function, on other lines and with other names
    hidden = batch @ weights["up"]

    shifted = hidden + weights["bias"]
    return jax.nn.gelu(shifted) @ weights["down"]


def _scan(params, x):
    def body(c, w):
        return jnp.tanh(c @ w), None

    return jax.lax.scan(body, x, params["layers"])[0]


def scan_renamed(tree, state):
    def turn(carried, layer):
        product = carried @ layer
        return jnp.tanh(product), None

    last, _ = jax.lax.scan(turn, state, tree["layers"])
    return last


def _attention(params, x):
    q, k, v = (x @ params[n] for n in ("q", "k", "v"))
    return jax.nn.softmax(q @ k.T / 8.0) @ v


def attention_renamed(model, tokens):
    query = tokens @ model["q"]
    key = tokens @ model["k"]
    value = tokens @ model["v"]
    weights = jax.nn.softmax(query @ key.T / 8.0)
    return weights @ value


def _step(function):
    def loss(params, x):
        return jnp.mean(function(params, x) ** 2)

    def train(params, x):
        grads = jax.grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return train


def renamed_step(model):
    def objective(weights, batch):
        outcome = model(weights, batch)
        return jnp.mean(outcome**2)

    def update(weights, batch):
        slopes = jax.grad(objective)(weights, batch)
        return jax.tree.map(lambda old, slope: old - 0.1 * slope, weights, slopes)

    return update


SHAPES = {
    "mlp": {"up": (64, 256), "bias": (256,), "down": (256, 64)},
    "scan": {"layers": (4, 64, 64)},
    "attention": {"q": (64, 64), "k": (64, 64), "v": (64, 64)},
}
FUNCTIONS = {
    "mlp": (_mlp, mlp_renamed),
    "scan": (_scan, scan_renamed),
    "attention": (_attention, attention_renamed),
}


def _program(devices, program, second):
    name = "mlp" if program == "sharded" else program
    shapes = SHAPES[name]
    keys = sorted(shapes, reverse=bool(second))
    params, x = {key: _floats(*shapes[key]) for key in keys}, _floats(32, 64)
    if program == "sharded":
        mesh = Mesh(np.array(devices[:4]).reshape(4), ("d",))
        split = NamedSharding(mesh, PartitionSpec("d"))
        params = {
            k: jax.ShapeDtypeStruct(p.shape, p.dtype, sharding=split) for k, p in params.items()
        }
        x = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=split)
    function = (renamed_step if second else _step)(FUNCTIONS[name][second])
    return Program(function=function, args=(params, x), jit_options={"donate_argnums": 0})


def one(devices, program):
    """A program."""
    return _program(devices, program, 0)


def other(devices, program):
    """The same program, written by somebody else."""
    return _program(devices, program, 1)
