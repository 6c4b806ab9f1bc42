"""Compiles small programs for one backend and writes each one's HloModuleProto to a folder.

Arguments: backend (`cpu` or a TPU topology such as `v5e:2x2`), folder.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

backend, folder = sys.argv[1], Path(sys.argv[2])


def devices():
    if backend == "cpu":
        return np.array(jax.devices()[:4])
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(platform="tpu", topology_name=backend)
    return np.array(topology.devices[:4])


mesh = jax.sharding.Mesh(devices().reshape(2, 2), ("data", "model"))


def arg(shape, dtype=jnp.float32, spec=None):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec or P()))


def scan(x, w):
    def body(carry, weight):
        return jnp.tanh(carry @ weight), carry.sum()

    return jax.lax.scan(body, x, w)


def branches(x, n):
    return jax.lax.switch(n, [jnp.sin, jnp.cos, lambda v: v * 2], x)


def sharded(x, w):
    y = jax.nn.relu(x @ w)
    return jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P("data", None))).sum()


def exchange(x):
    def shard(v):
        v = jax.lax.ppermute(v, "data", [(0, 1), (1, 0)])
        v = jax.lax.all_to_all(v, "model", 0, 1, tiled=True)
        return jax.lax.psum_scatter(jax.lax.all_gather(v, "data", tiled=True), "data", tiled=True)

    return jax.shard_map(
        shard, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data", "model")
    )(x)


def pick(x, i):
    return jnp.sort(x, axis=-1)[..., ::2], x[i], x.at[i].add(1.0), jax.lax.top_k(x, 2)


def constants(x):
    z = jnp.array([1 + 2j, -3.5j], jnp.complex64)
    table = jnp.arange(12, dtype=jnp.int32).reshape(3, 4)[:, ::-1]
    return z * x[0, 0], table + jnp.array(np.array([[1], [7], [-3]], np.int32)), jnp.bfloat16(0.1)


def narrow(x):
    return x.astype(jnp.float8_e4m3fn), x.astype(jnp.float8_e5m2), x.astype(jnp.int4)


def donated(a, b):
    return a + b, b * 2


PROGRAMS = {
    "scan": (scan, [arg((8, 16)), arg((5, 16, 16))], {}),
    "branches": (branches, [arg((8, 128)), arg((), jnp.int32)], {}),
    "sharded": (
        sharded,
        [arg((16, 32), spec=P("data", "model")), arg((32, 64), spec=P("model"))],
        {},
    ),
    "exchange": (exchange, [arg((16, 16), spec=P("data", "model"))], {}),
    "pick": (pick, [arg((16, 8)), arg((4,), jnp.int32)], {}),
    "constants": (constants, [arg((2, 2))], {}),
    "narrow": (narrow, [arg((8, 128))], {}),
    "donated": (donated, [arg((8, 8)), arg((8, 8))], {"donate_argnums": (0, 1)}),
    "convolved": (
        lambda x, k: jax.lax.conv_general_dilated(x, k, (2, 1), "SAME", feature_group_count=2),
        [arg((2, 4, 8, 8)), arg((6, 2, 3, 3))],
        {},
    ),
    "random": (lambda k: jax.random.normal(k, (8, 8)), [arg((2,), jnp.uint32)], {}),
    "pooled": (
        lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2), (1, 2, 2), "SAME"),
        [arg((2, 9, 9))],
        {},
    ),
    "fourier": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x)), [arg((4, 16))], {}),
    "while": (
        lambda x: jax.lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 2, c[1] * 1.5), (1, x)),
        [arg((4,))],
        {},
    ),
}

for name, (function, arguments, options) in PROGRAMS.items():
    lowered = jax.jit(function, **options).lower(*arguments)
    for stage, text in (("before", lowered.compiler_ir("hlo")), ("after", None)):
        if text is not None:
            proto = text.as_serialized_hlo_module_proto()
        else:
            compiled = lowered.compile()
            proto = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
        (folder / f"{name}.{stage}.pb").write_bytes(proto)
