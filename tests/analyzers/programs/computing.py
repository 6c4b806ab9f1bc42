"""Programs that compute in one type or another."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from hloscope import Program


def _program(function, *shapes, context=None):
    args = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes)
    if context is None:
        return Program(function=function, args=args)
    return Program(function=function, args=args, context=context)


def block(_devices, lift="none", rows=128, scale=0.125):
    """Two products with a scaled nonlinearity between them; a scalar may lift it to f32."""

    def strong(w1, w2, x):
        h = jax.nn.gelu((x @ w1) * jnp.full((1,), scale, jnp.float32))
        return h @ w2.astype(jnp.float32)

    def late(w1, w2, x):
        return (jax.nn.gelu((x @ w1) * scale) @ w2).astype(jnp.float32) * scale

    def none(w1, w2, x):
        return jax.nn.gelu((x @ w1) * scale) @ w2

    function = {"none": none, "strong": strong, "late": late}[lift]
    b = jnp.bfloat16
    return _program(function, ((256, 512), b), ((512, 256), b), ((rows, 256), b))


def scanned(_devices, weights="bfloat16", layers=16):
    """A scan that casts each layer's weights to bf16."""

    def forward(ws, x):
        def body(x, w):
            return x + jax.nn.gelu(x @ w.astype(jnp.bfloat16))[:, :1024], None

        return jax.lax.scan(body, x, ws)[0]

    return _program(forward, ((layers, 1024, 4096), weights), ((256, 1024), jnp.bfloat16))


def loss(_devices, dtype="float32", given="bfloat16", parts=1, tokens=512, vocab=2048):
    """A loss over a vocabulary, in parts of the tokens or all at once."""

    def part(x, w, y):
        z = (x @ w).astype(dtype)
        picked = jnp.take_along_axis(z, y[:, None], 1)[:, 0]
        return jnp.sum((jax.nn.logsumexp(z, -1) - picked).astype(jnp.float32))

    def whole(x, w, y):
        if parts == 1:
            return part(x, w, y)
        one = jax.checkpoint(part, prevent_cse=False)

        def body(total, xy):
            return total + one(xy[0], w, xy[1]), None

        split = x.reshape(parts, -1, 64), y.reshape(parts, -1)
        return jax.lax.scan(body, 0.0, split)[0]

    shapes = ((tokens, 64), given), ((64, vocab), given), ((tokens,), jnp.int32)
    return _program(jax.grad(whole, (0, 1)), *shapes)


def indexed(_devices, x64=False, rows=512):
    """Rows picked by positions that are computed."""

    def pick(table, x):
        order = jnp.argsort(x)
        return table[(order * 3) % rows]

    context = (lambda: jax.enable_x64(True)) if x64 else None
    return _program(pick, ((rows, 64), jnp.float32), ((rows,), jnp.float32), context=context)


def products(devices, precision="default", rows=128, placed=""):
    """Two products of f32 matrices, and the gradient of both; weights in parts or as copies."""

    def loss(ws, x):
        h = jnp.tanh(jnp.matmul(x, ws[0], precision=precision))
        return jnp.sum(jnp.matmul(h, ws[1], precision=precision) ** 2)

    f = jnp.float32
    sharding = None
    if placed:
        mesh = Mesh(np.array(devices), ("x",))
        sharding = NamedSharding(mesh, P("x") if placed == "parts" else P())
    weights = [jax.ShapeDtypeStruct(s, f, sharding=sharding) for s in ((256, 512), (512, 256))]
    args = (weights, jax.ShapeDtypeStruct((rows, 256), f))
    return Program(function=jax.grad(loss), args=args)
