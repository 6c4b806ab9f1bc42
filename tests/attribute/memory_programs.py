"""Compiles small programs for one target to the end and keeps what XLA says of their memory.

Arguments: target, folder. Each program leaves NAME.pb (the HloProto) and NAME.json (figures).
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

target, folder = sys.argv[1], Path(sys.argv[2])

from hloscope.capture.targets.devices import target_devices  # noqa: E402
from hloscope.capture.targets.parse import parse_target  # noqa: E402
from hloscope.capture.targets.surroundings import (  # noqa: E402
    child_environment,
    default_compile_options,
)

os.environ.update(child_environment(parse_target(target), os.environ))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import SingleDeviceSharding  # noqa: E402

warnings.simplefilter("ignore")
chosen = parse_target(target)
device = target_devices(chosen)[0]
here = SingleDeviceSharding(device)
captured = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)


def array(*shape, dtype=jnp.float32, sharding=here):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


def scanned(x, weights):
    return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), c.sum()), x, weights)


def loss(weights, x):
    return scanned(x, weights)[0].astype(jnp.float32).sum()


def adam(state, x):
    weights, first, second = state
    gradient = jax.grad(loss)(weights, x)
    first = 0.9 * first + 0.1 * gradient
    second = 0.99 * second + 0.01 * gradient * gradient
    return (weights - 1e-3 * first / (jnp.sqrt(second) + 1e-8), first, second)


# large enough to leave VMEM for HBM on TPU; they are never run
BIG = 4096
PROGRAMS = {
    "tiny": (lambda x: x + 1, (array(),), {}),
    "donated": (lambda x, y: (x * 2, y.sum()), (array(256, 256), array(128, 128)),
                {"donate_argnums": 0}),
    "not_donated": (lambda x: x.sum(), (array(256, 256),), {"donate_argnums": 0}),
    "swapped": (lambda x, y: (y, x), (array(256, 256), array(256, 256)),
                {"donate_argnums": (0, 1)}),
    "constant": (lambda x: x @ captured, (array(64, 64),), {}),
    "no_output": (lambda _: (), (array(256, 256),), {"keep_unused": True}),
    "unused": (lambda x, _: x + 1, (array(256, 256), array(64, 64)), {"keep_unused": True}),
    "passed_through": (lambda x: (x, x, x * 2), (array(256, 256),), {}),
    "narrow": (lambda x: x.astype(jnp.bfloat16) * 2, (array(1000, 3),), {}),
    "branch": (lambda p, x: jax.lax.cond(p > 0, lambda x: x @ x, jnp.sin, x),
               (array(dtype=jnp.int32), array(256, 256)), {}),
    "loop": (lambda x: jax.lax.fori_loop(0, 9, lambda i, c: jnp.sin(c @ c) + i, x),
             (array(256, 256),), {}),
    "sort": (lambda x: jnp.sort(jnp.sin(x @ x.T), axis=0), (array(200, 200),), {}),
    "scan": (scanned, (array(256, 256), array(8, 256, 256)), {}),
    "gradient": (jax.grad(loss), (array(8, 256, 256), array(256, 256)), {}),
    "step": (adam, ((array(4, 512, 512),) * 3, array(256, 512)), {"donate_argnums": 0}),
    "big_gradient": (jax.grad(loss), (array(2, 2048, 2048), array(BIG, 2048)), {}),
    "big_product": (lambda x: jnp.sin(x @ x) @ x, (array(BIG, BIG),), {}),
}  # fmt: skip
if chosen.chip.platform == "tpu":
    host = SingleDeviceSharding(device, memory_kind="pinned_host")
    PROGRAMS["host_argument"] = (
        lambda x, y: jax.device_put(x, here) + y,
        (array(256, 256, sharding=host), array(256, 256)), {"out_shardings": here},
    )  # fmt: skip

for name, (function, arguments, options) in PROGRAMS.items():
    with tempfile.TemporaryDirectory() as dump:
        flags = {"xla_dump_to": dump, "xla_dump_hlo_as_proto": True}
        compiled = (
            jax.jit(function, **options)
            .lower(*arguments)
            .compile(compiler_options={**default_compile_options(chosen), **flags})
        )
        (proto,) = Path(dump).glob("*after_optimizations.hlo.pb")
        (folder / f"{name}.pb").write_bytes(proto.read_bytes())
        analysis = compiled.memory_analysis()
        sizes = {
            k: getattr(analysis, f"{k}_size_in_bytes")
            for k in ("argument", "output", "alias", "temp")
        }
        (folder / f"{name}.json").write_text(json.dumps(sizes))
