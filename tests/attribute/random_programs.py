"""Compiles random small programs on cpu; program n of a folder depends on n alone.

Arguments: folder, count. Each program leaves N.pb, an HloProto.
"""

import os
import random
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp

warnings.simplefilter("ignore")
folder, count = Path(sys.argv[1]), int(sys.argv[2])
MESH = jax.sharding.Mesh(jax.devices(), ("x",))
# over rows, over columns, and whole on both devices
SHARDINGS = tuple(
    jax.NamedSharding(MESH, jax.P(*axes)) for axes in (("x", None), (None, "x"), (None, None))
)
DTYPES = (jnp.float32, jnp.bfloat16, jnp.int32)


def program(choose):
    steps = [choose.choice(("dot", "sort", "scan", "loop", "sum", "concat", "constant", "branch"))
             for _ in range(choose.randint(1, 5))]  # fmt: skip
    keep = choose.random() < 0.5
    constant = jnp.full((16, 16), choose.randint(1, 9), jnp.float32)

    def turn(carry, _):
        return jnp.tanh(carry) + 1, carry

    steps_by_name = {
        "dot": lambda x: jnp.sin(x @ x.T) @ x,
        "sort": lambda x: jnp.sort(x, axis=choose_axis),
        "scan": lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c) + 1, c), x, None, length=3)[1].sum(
            0
        ),
        "loop": lambda x: jax.lax.fori_loop(0, 4, lambda i, c: jnp.cos(c) * i, x),
        "concat": lambda x: jnp.concatenate([x, x * 2])[: x.shape[0]],
        "constant": lambda x: x.at[:1, :1].add(constant[:1, :1].sum()),
        "branch": lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, lambda x: x @ x.T @ x, x),
        "sum": lambda x: x - x.sum(0),
    }
    choose_axis = choose.randint(0, 1)

    def run(*arrays):
        results = []
        for number, x in enumerate(arrays):
            y = x.astype(jnp.float32)
            for kind in steps[number:]:
                y = steps_by_name[kind](y)
            results.append(y.astype(x.dtype))
            if keep:
                results.append(y.mean())
        return results

    spread = SHARDINGS if choose.random() < 0.5 else (None,)
    arrays = tuple(
        jax.ShapeDtypeStruct(
            (choose.choice((8, 40)), choose.choice((8, 24))),
            choose.choice(DTYPES),
            sharding=choose.choice(spread),
        )
        for _ in range(choose.randint(1, 3))
    )
    donated = tuple(n for n in range(len(arrays)) if choose.random() < 0.5)
    return jax.jit(run, donate_argnums=donated).lower(*arrays)


for number in range(count):
    with tempfile.TemporaryDirectory() as dump:
        options = {"xla_dump_to": dump, "xla_dump_hlo_as_proto": True}
        program(random.Random(number)).compile(compiler_options=options)  # noqa: S311
        (proto,) = Path(dump).glob("*after_optimizations.hlo.pb")
        (folder / f"{number}.pb").write_bytes(proto.read_bytes())
