"""Programs on a mesh of four or eight devices."""

import functools
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from hloscope import Program


def _mesh(devices, shape=(4,), names=("x",)):
    return Mesh(np.array(list(devices)[: int(np.prod(shape))]).reshape(shape), names)


def _leaf(mesh, shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def _constrain(mesh, value, *spec):
    return jax.lax.with_sharding_constraint(value, NamedSharding(mesh, P(*spec)))


def arguments(devices, spec="rows", size=512):
    """A weight that is cut by rows, by columns, or not at all."""
    mesh = _mesh(devices)
    cut = {"rows": ("x", None), "columns": (None, "x"), "none": ()}[spec]
    args = (_leaf(mesh, (size, 512), *cut), _leaf(mesh, (256, size)))
    return Program(
        function=lambda w, x: jnp.tanh(x @ w), args=args,
        jit_options={"out_shardings": NamedSharding(mesh, P())},
    )  # fmt: skip


def results(devices, whole=False, size=512):
    """A result that is cut as it is made, or gathered."""
    mesh = _mesh(devices)
    out = P() if whole else P("x")
    args = (_leaf(mesh, (size, 512), "x"), _leaf(mesh, (512, 512)))
    return Program(
        function=lambda x, w: jnp.tanh(x @ w), args=args,
        jit_options={"out_shardings": NamedSharding(mesh, out)},
    )  # fmt: skip


def between(devices, whole=False, rows=512):
    """A large array on the way to a result that is cut, or gathered."""
    mesh = _mesh(devices)
    out = P() if whole else P("x")
    args = (_leaf(mesh, (rows, 64)), _leaf(mesh, (64, 4096)))
    return Program(
        function=lambda x, w: jnp.cos(jnp.sin(x @ w) @ w.T), args=args,
        jit_options={"out_shardings": NamedSharding(mesh, out)},
    )  # fmt: skip


def cache(devices, constrain=True, mesh="set", rows=512):
    """A cache that nothing but a constraint cuts among devices."""
    devices = _mesh(devices)
    if mesh == "set":
        context = functools.partial(jax.set_mesh, devices)
    else:
        context = functools.partial(nullcontext) if mesh == "none" else (lambda: devices)

    def step(w, x):
        made = jnp.tanh(x @ w)
        return _constrain(devices, made, "x") if constrain else made

    args = (_leaf(devices, (256, 512)), _leaf(devices, (rows, 256)))
    return Program(function=step, args=args, context=context)


def layers(devices, early=False, count=4, width=256):
    """Weights that are gathered in the loop over layers, or before it."""
    mesh = _mesh(devices)

    def forward(weights, x):
        if early:
            weights = _constrain(mesh, weights)

        def layer(x, w):
            return _constrain(mesh, jnp.tanh(x @ _constrain(mesh, w)), "x"), None

        return jax.lax.scan(layer, x, weights)[0]

    args = (_leaf(mesh, (count, width, width), None, "x"), _leaf(mesh, (256, width), "x"))
    return Program(function=forward, args=args)


def middle(devices, turn=False, rows=1024):
    """Activations that are cut by rows all through, or by columns in the middle."""
    mesh = _mesh(devices)

    def step(x, w):
        h = _constrain(mesh, jnp.maximum(x @ w, 0), "x", None)
        h = jnp.tanh(_constrain(mesh, h, *((None, "x") if turn else ("x", None))))
        return _constrain(mesh, h * 2, "x", None)

    args = (_leaf(mesh, (rows, 256), "x"), _leaf(mesh, (256, 256)))
    return Program(function=step, args=args)


def arranged(devices, shape="2x2", names="data,model", width=512):
    """The same program on another arrangement of devices."""
    mesh = _mesh(devices, tuple(map(int, shape.split("x"))), tuple(names.split(",")))
    args = (_leaf(mesh, (256, width), "data", "model"), _leaf(mesh, (width, 256), "model", "data"))
    return Program(
        function=lambda x, w: jnp.tanh(x @ w), args=args,
        jit_options={"out_shardings": NamedSharding(mesh, P("data"))},
    )  # fmt: skip


def reduced(devices, axes="b", wide=False, more=False, again=False, size=256):
    """A sum over devices: over one axis or two, in two types, once or more."""
    mesh = _mesh(devices, (2, 2), ("a", "b"))
    names = tuple(axes.split("+"))

    def body(x):
        part = (x * 2).astype(jnp.float32 if wide else jnp.bfloat16)
        total = jax.lax.psum(part, names)
        if more:
            total = total + jax.lax.pmax(jnp.sin(part), names)
        if again:
            total = total * jax.lax.psum(jax.lax.optimization_barrier(part), names)
        return total.astype(jnp.float32)

    spec = P() if len(names) > 1 else P("a")
    function = jax.shard_map(
        body, mesh=mesh, in_specs=(P("a", "b"),), out_specs=spec, check_vma=False
    )
    return Program(function=function, args=(_leaf(mesh, (size, 512), "a", "b"),))


def summed(devices, every=False, turns=4, size=256):
    """A product for each part of a batch, summed over devices once or in every turn."""
    mesh = _mesh(devices)

    def body(x, w):
        def turn(total, part):
            made = part.T @ jnp.tanh(part @ w)
            return total + (jax.lax.psum(made, "x") if every else made), None

        total, _ = jax.lax.scan(turn, jnp.zeros((size, size)), x)
        return total if every else jax.lax.psum(total, "x")

    function = jax.shard_map(
        body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P(), check_vma=False
    )
    args = (_leaf(mesh, (turns, 512, size), None, "x"), _leaf(mesh, (size, size)))
    return Program(function=function, args=args)


def kept(devices, remat=False, constrain=True, rows=512):
    """A constrained layer, recomputed in the backward pass or not."""
    mesh = _mesh(devices)

    def layer(x, w):
        made = jnp.tanh(x @ w)
        return jnp.sin(_constrain(mesh, made, "x") if constrain else made)

    def loss(w, x):
        for _ in range(2):
            x = (jax.checkpoint(layer) if remat else layer)(x, w)
        return jnp.sum(x)

    args = (_leaf(mesh, (256, 256)), _leaf(mesh, (rows, 256), "x"))
    return Program(function=jax.grad(loss), args=args)
