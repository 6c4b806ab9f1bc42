"""Compiles the benchmark programs for one platform; run as a child process.

Usage: program_worker.py cpu|tpu FOLDER [PROGRAM...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

Build = Callable[[], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]
Spec = jax.ShapeDtypeStruct
F32 = jnp.float32
WIDTH, HEADS, TOKENS, LAYERS = 64, 4, 16, 4


def spec(*dims: int, dtype: Any = F32) -> jax.ShapeDtypeStruct:
    """An abstract array."""
    return Spec(dims, dtype)


def mlp_params() -> dict[str, Any]:
    """Weights of a two-layer perceptron."""
    return {"up": spec(64, 128), "bias": spec(128), "down": spec(128, 16)}


def mlp_loss(params: dict[str, Any], x: Any, y: Any) -> Any:
    """Mean squared error of the perceptron."""
    hidden = jax.nn.gelu(x @ params["up"] + params["bias"])
    return jnp.mean((hidden @ params["down"] - y) ** 2)


def sgd(params: Any, x: Any, y: Any) -> Any:
    """One step of gradient descent."""
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def mlp_train() -> Any:
    """Train step with a donated state."""
    return sgd, (mlp_params(), spec(8, 64), spec(8, 16)), {"donate_argnums": 0}


def adam() -> Any:
    """Train step with optimizer moments."""

    def step(params: Any, mu: Any, nu: Any, x: Any, y: Any) -> Any:
        grads = jax.grad(mlp_loss)(params, x, y)
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
        nu = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, nu, grads)
        params = jax.tree.map(lambda p, m, v: p - m / (jnp.sqrt(v) + 1e-6), params, mu, nu)
        return params, mu, nu

    p = mlp_params()
    return step, (p, p, p, spec(8, 64), spec(8, 16)), {"donate_argnums": (0, 1, 2)}


def layer_params(*lead: int) -> dict[str, Any]:
    """Weights of a transformer layer, stacked along `lead`."""
    return {
        "qkv": spec(*lead, WIDTH, 3 * WIDTH),
        "out": spec(*lead, WIDTH, WIDTH),
        "up": spec(*lead, WIDTH, 4 * WIDTH),
        "down": spec(*lead, 4 * WIDTH, WIDTH),
        "scale": spec(*lead, WIDTH),
    }


def norm(x: Any, scale: Any) -> Any:
    """Root mean square norm."""
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def attention(q: Any, k: Any, v: Any) -> Any:
    """Causal attention of [batch, seq, heads, dim]."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def layer(x: Any, p: Any) -> Any:
    """One pre-norm transformer layer."""
    h = norm(x, p["scale"])
    q, k, v = jnp.split((h @ p["qkv"]).reshape(*h.shape[:2], HEADS, -1), 3, -1)
    x = x + attention(q, k, v).reshape(x.shape) @ p["out"]
    return x + jax.nn.silu(norm(x, p["scale"]) @ p["up"]) @ p["down"]


def scan_forward(params: Any, x: Any, remat: bool = False) -> Any:
    """All layers by scan."""
    body = jax.checkpoint(layer) if remat else layer
    return lax.scan(lambda c, p: (body(c, p), None), x, params)[0]


def loop_forward(params: Any, x: Any) -> Any:
    """All layers written out."""
    for p in params:
        x = layer(x, p)
    return x


def decoder_train(forward: Callable[..., Any], params: Any) -> Any:
    """A train step of a decoder."""

    def step(params: Any, x: Any) -> Any:
        def loss(p: Any) -> Any:
            return jnp.mean(forward(p, x) ** 2)

        grads = jax.grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return step, (params, spec(2, TOKENS, WIDTH)), {"donate_argnums": 0}


def scan_decoder() -> Any:
    """Scanned layers."""
    return decoder_train(scan_forward, layer_params(LAYERS))


def remat_decoder() -> Any:
    """Scanned layers that recompute their activations."""
    return decoder_train(partial(scan_forward, remat=True), layer_params(LAYERS))


def unrolled_decoder() -> Any:
    """Layers written out."""
    return decoder_train(loop_forward, [layer_params() for _ in range(LAYERS)])


def unrolled_inference() -> Any:
    """Layers written out, without gradients."""
    params = [layer_params() for _ in range(LAYERS)]
    return loop_forward, (params, spec(2, TOKENS, WIDTH)), {}


def mixture() -> Any:
    """Top-2 routing with sort, gather and scatter."""

    def route(x: Any, router: Any, up: Any, down: Any) -> Any:
        weights, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
        order = jnp.argsort(chosen.reshape(-1))
        token = order // 2
        hidden = jnp.einsum("td,tdf->tf", x[token], up[chosen.reshape(-1)[order]])
        out = jnp.einsum("tf,tfd->td", jax.nn.relu(hidden), down[chosen.reshape(-1)[order]])
        return jnp.zeros_like(x).at[token].add(out * weights.reshape(-1)[order][:, None])

    return route, (spec(16, 32), spec(32, 4), spec(4, 32, 64), spec(4, 64, 32)), {}


def convolution() -> Any:
    """Convolutions with batch norm and pooling."""

    def net(x: Any, k1: Any, k2: Any, w: Any) -> Any:
        dims = ("NHWC", "HWIO", "NHWC")
        x = lax.conv_general_dilated(x, k1, (1, 1), "SAME", dimension_numbers=dims)
        x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5))
        x = lax.conv_general_dilated(x, k2, (2, 2), "SAME", dimension_numbers=dims)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.reshape(x.shape[0], -1) @ w

    return net, (spec(2, 16, 16, 3), spec(3, 3, 3, 8), spec(3, 3, 8, 8), spec(128, 10)), {}


def conditional() -> Any:
    """Branches and a switch."""

    def f(i: Any, x: Any, y: Any) -> Any:
        z = lax.cond(i > 0, lambda a, b: jnp.sin(a) - b, lambda a, b: a * b + 1, x, y)
        return lax.switch(i, [jnp.cos, jnp.exp, lambda v: v @ v.T @ v], z)

    return f, (spec(dtype=jnp.int32), spec(8, 8), spec(8, 8)), {}


def dynamic_while() -> Any:
    """A loop whose trip count depends on data."""

    def f(x: Any, a: Any) -> Any:
        def body(state: Any) -> Any:
            i, x, r = state
            r = a @ x - x
            return i + 1, x + 0.1 * r, r

        def go_on(state: Any) -> Any:
            return (state[0] < 100) & (jnp.linalg.norm(state[2]) > 1e-3)

        return lax.while_loop(go_on, body, (0, x, x))

    return f, (spec(16), spec(16, 16)), {}


def nested_loops() -> Any:
    """A scan inside a fori_loop."""

    def f(x: Any, w: Any) -> Any:
        def outer(i: Any, x: Any) -> Any:
            return lax.scan(lambda c, v: (jnp.tanh(c @ v) + i, c.sum()), x, w)[0]

        return lax.fori_loop(0, 3, outer, x)

    return f, (spec(8, 8), spec(5, 8, 8)), {}


def kv_decode() -> Any:
    """One decoding step with a donated cache."""

    def f(params: Any, cache: Any, x: Any, position: Any) -> Any:
        out = []
        for p, (keys, values) in zip(params, cache, strict=True):
            q, k, v = jnp.split((x @ p["qkv"]).reshape(2, 1, HEADS, -1), 3, -1)
            keys = lax.dynamic_update_slice(keys, k, (0, position, 0, 0))
            values = lax.dynamic_update_slice(values, v, (0, position, 0, 0))
            x = x + attention(q, keys, values).reshape(x.shape) @ p["out"]
            out.append((keys, values))
        return x, out

    cache = [(spec(2, TOKENS, HEADS, 16), spec(2, TOKENS, HEADS, 16)) for _ in range(2)]
    params = [layer_params() for _ in range(2)]
    args = (params, cache, spec(2, 1, WIDTH), spec(dtype=jnp.int32))
    return f, args, {"donate_argnums": 1}


def dropout() -> Any:
    """Random bits and dropout."""

    def f(key: Any, x: Any, w: Any) -> Any:
        first, second = jax.random.split(key)
        x = jnp.where(jax.random.bernoulli(first, 0.9, x.shape), x / 0.9, 0)
        return x @ w + jax.random.normal(second, (8, 32))

    return f, (spec(2, dtype=jnp.uint32), spec(8, 16), spec(16, 32)), {}


def custom_gradient() -> Any:
    """A custom_vjp function and its gradient."""

    @jax.custom_vjp
    def clip(x: Any) -> Any:
        return jnp.clip(x, -1, 1)

    clip.defvjp(lambda x: (clip(x), x), lambda x, g: (jnp.where(jnp.abs(x) < 2, g, 0.1 * g),))

    def f(w: Any, x: Any) -> Any:
        return jax.value_and_grad(lambda w: (clip(x @ w) ** 2).sum())(w)

    return f, (spec(16, 16), spec(4, 16)), {}


def low_precision() -> Any:
    """bf16 products accumulated in f32."""

    def f(w: Any, x: Any) -> Any:
        h = jnp.dot(x.astype(jnp.bfloat16), w, preferred_element_type=F32)
        return jax.nn.log_softmax(h).astype(jnp.bfloat16)

    return f, (spec(64, 64, dtype=jnp.bfloat16), spec(8, 64)), {}


def linear_algebra() -> Any:
    """Sorts, cumulative sums, FFT and segments."""

    def f(x: Any, ids: Any) -> Any:
        spectrum = jnp.abs(jnp.fft.rfft(x))
        sums = jax.ops.segment_sum(x, ids, 4)
        return jnp.sort(spectrum, 0), jnp.cumsum(x, 1), sums, lax.top_k(x, 3), x.argmax(1)

    return f, (spec(16, 32), spec(16, dtype=jnp.int32)), {}


def mesh_of(devices: Any) -> Mesh:
    """A 2 by 2 mesh."""
    return Mesh(np.array(devices[:4]).reshape(2, 2), ("data", "model"))


def sharded_mlp(mesh: Mesh) -> Any:
    """Data and tensor parallel train step, partitioned by the compiler."""

    def put(s: Any, *axes: Any) -> Any:
        return Spec(s.shape, s.dtype, sharding=NamedSharding(mesh, PartitionSpec(*axes)))

    p = mlp_params()
    params = {
        "up": put(p["up"], None, "model"),
        "bias": put(p["bias"], "model"),
        "down": put(p["down"], "model", None),
    }
    return sgd, (params, put(spec(8, 64), "data"), put(spec(8, 16), "data")), {"donate_argnums": 0}


def sharded_scan(mesh: Mesh) -> Any:
    """Scanned decoder with weights sharded over both axes."""
    step, (params, x), options = decoder_train(scan_forward, layer_params(LAYERS))
    axes = {"qkv": (None, "data", "model"), "out": (None, "model", "data")}
    axes |= {"up": (None, "data", "model"), "down": (None, "model", "data"), "scale": ()}
    params = {
        k: Spec(v.shape, v.dtype, sharding=NamedSharding(mesh, PartitionSpec(*axes[k])))
        for k, v in params.items()
    }
    x = Spec(x.shape, x.dtype, sharding=NamedSharding(mesh, PartitionSpec("data")))
    return step, (params, x), options


def manual_collectives(mesh: Mesh) -> Any:
    """Every kind of collective, written by hand."""
    row = PartitionSpec("data", "model")

    def f(x: Any) -> Any:
        total = lax.psum(x, "data")
        whole = lax.all_gather(x, "model", axis=1, tiled=True)
        part = lax.psum_scatter(whole, "model", scatter_dimension=1, tiled=True)
        turned = lax.ppermute(part, "data", [(0, 1), (1, 0)])
        dealt = lax.all_to_all(x, "model", 0, 1, tiled=True)
        return total + turned, dealt * 2.0

    mapped = jax.shard_map(f, mesh=mesh, in_specs=row, out_specs=(row, row))
    x = Spec((16, 16), F32, sharding=NamedSharding(mesh, row))
    return mapped, (x,), {}


SINGLE: dict[str, Build] = {
    "mlp_train": mlp_train,
    "adam": adam,
    "scan_decoder": scan_decoder,
    "remat_decoder": remat_decoder,
    "unrolled_decoder": unrolled_decoder,
    "unrolled_inference": unrolled_inference,
    "mixture": mixture,
    "convolution": convolution,
    "conditional": conditional,
    "dynamic_while": dynamic_while,
    "nested_loops": nested_loops,
    "kv_decode": kv_decode,
    "dropout": dropout,
    "custom_gradient": custom_gradient,
    "low_precision": low_precision,
    "linear_algebra": linear_algebra,
}
MESHED: dict[str, Callable[[Mesh], Any]] = {
    "sharded_mlp": sharded_mlp,
    "sharded_scan": sharded_scan,
    "manual_collectives": manual_collectives,
}
# the larger half of TPU compile time buys no other kind of graph
TPU_SINGLE = ("mlp_train", "scan_decoder", "unrolled_inference", "mixture", "kv_decode", "adam")


def devices_for(platform: str) -> list[Any]:
    """Devices to compile for."""
    if platform == "cpu":
        return list(jax.devices("cpu"))
    from jax.experimental import topologies

    return list(topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices)


def main(platform: str, folder: Path, *names: str) -> None:
    """Writes the module before and after optimization of each program, or of those named."""
    devices = devices_for(platform)
    single = SINGLE if platform == "cpu" else {name: SINGLE[name] for name in TPU_SINGLE}
    for name, build in single.items():
        if names and name not in names:
            continue
        fn, args, options = build()
        place = SingleDeviceSharding(devices[0])
        args = jax.tree.map(lambda s: Spec(s.shape, s.dtype, sharding=place), args)  # noqa: B023
        write(folder, f"{name}.{platform}", jax.jit(fn, **options).lower(*args))
    for name, build_on in MESHED.items():
        if names and name not in names:
            continue
        fn, args, options = build_on(mesh_of(devices))
        write(folder, f"{name}.{platform}", jax.jit(fn, **options).lower(*args))


def write(folder: Path, name: str, lowered: Any) -> None:
    """Compiles and writes the two modules."""
    before = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    (folder / f"{name}.before.hlo.pb").write_bytes(before)
    (module,) = lowered.compile().runtime_executable().hlo_modules()
    optimized = module.as_serialized_hlo_module_proto()
    (folder / f"{name}.optimized.hlo.pb").write_bytes(optimized)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
