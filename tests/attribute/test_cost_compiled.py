"""The ledgers against XLA's cost analysis of compiled programs, on CPU and TPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from hloscope.attribute import CostContext, account
from hloscope.attribute.cost_account import Account
from hloscope.attribute.cost_totals import total_of
from hloscope.attribute.cost_xla_rules import rules_for
from hloscope.hlo import read_proto, trip_count
from hloscope.model.cost import Quantity, times
from hloscope.model.units import Measured

# XLA adds its figures up in float32
ROUNDING = 2.0**-20

COMPILE = """
import json, os, sys
import jax, jax.numpy as jnp, jaxlib
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np

folder, platform = sys.argv[1], sys.argv[2]
if platform == "tpu":
    from jax.experimental import topologies
    devices = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices
else:
    devices = jax.devices("cpu")
mesh = Mesh(np.array(devices[:4]).reshape(2, 2), ("data", "model"))
alone = Mesh(np.array(devices[:1]).reshape(1, 1), ("data", "model"))

LAYERS, WIDTH, HIDDEN, BATCH, SEQ, HEADS = 6, 128, 256, 4, 32, 4

def layer(x, w):
    h = x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    q, k, v = (jnp.einsum("bsd,dhe->bshe", h, m) for m in w["qkv"])
    s = jnp.einsum("bqhe,bkhe->bhqk", q, k)
    s = jnp.where(jnp.tril(jnp.ones((SEQ, SEQ), bool)), s, -1e9)
    a = jnp.einsum("bhqk,bkhe->bqhe", jax.nn.softmax(s, axis=-1), v)
    x = x + jnp.einsum("bqhe,hed->bqd", a, w["out"])
    return x + jax.nn.gelu(x @ w["up"]) @ w["down"]

def scanned(w, x):
    return lax.scan(lambda x, w: (layer(x, w), None), x, w)[0]

def unrolled(w, x):
    for n in range(LAYERS):
        x = layer(x, jax.tree.map(lambda a: a[n], w))
    return x

def loss(forward, w, x):
    return jnp.mean(forward(w, x) ** 2)

def train(forward):
    def step(w, x):
        value, (grads, back) = jax.value_and_grad(lambda *a: loss(forward, *a), argnums=(0, 1))(w, x)
        return jax.tree.map(lambda a, g: a - 0.1 * g, w, grads), value, back
    return step

def sharded(shape, *spec, on=mesh, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(on, P(*spec)))

def weights(on, *axes):
    head, ff = (axes + (None, None))[:2]
    make = lambda shape, *spec: sharded((LAYERS, *shape), None, *spec, on=on)
    return {
        "qkv": [make((WIDTH, HEADS, WIDTH // HEADS), None, head) for _ in range(3)],
        "out": make((HEADS, WIDTH // HEADS, WIDTH), head),
        "up": make((WIDTH, HIDDEN), None, ff),
        "down": make((HIDDEN, WIDTH), ff),
    }

def ops(x, i):
    image = x.reshape(4, 16, 16, 16)
    kernel = jnp.ones((3, 3, 16, 32))
    y = lax.conv_general_dilated(image, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    pooled = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    z = jnp.sort(x[:64], axis=0).at[i].add(1.0)
    g = jnp.take(x, i, axis=0)
    n = lax.cond(x[0, 0] > 0, lambda a: jnp.sin(a) @ a.T, lambda a: a @ a.T, g)
    return pooled.sum() + z.sum() + jnp.cumsum(g, axis=0).sum() + n.sum()

def data_dependent(x):
    return lax.while_loop(lambda s: s[1] < jnp.sum(s[0]), lambda s: (s[0] * 0.5, s[1] + 1.0), (x, 0.0))

plain = sharded((BATCH, SEQ, WIDTH), on=alone)
programs = {
    "scanned": (train(scanned), (weights(alone), plain)),
    "unrolled": (train(unrolled), (weights(alone), plain)),
    "tensor parallel": (train(scanned), (weights(mesh, "model", "model"), sharded((BATCH, SEQ, WIDTH), "data"))),
    "ops": (ops, (sharded((64, 256), on=alone), sharded((8,), on=alone, dtype=jnp.int32))),
    "data dependent loop": (data_dependent, (sharded((64,), on=alone),)),
}
answers = {"": jaxlib.__version__}
for name, (function, arguments) in programs.items():
    dump = os.path.join(folder, name)
    options = {"xla_dump_to": dump, "xla_dump_hlo_as_proto": True}
    compiled = jax.jit(function).lower(*arguments).compile(compiler_options=options)
    cost = compiled.cost_analysis()
    answers[name] = [cost.get(key, 0.0) for key in ("flops", "transcendentals", "bytes accessed")]
json.dump(answers, sys.stdout)
"""  # noqa: E501
NAMES = ("scanned", "unrolled", "tensor parallel", "ops", "data dependent loop")


class Compiled(NamedTuple):
    """What XLA says of each program, and the ledgers that hloscope makes of its dump."""

    xla: dict[str, list[float]]
    accounts: dict[str, Account]


def compiled(folder: Path, platform: str) -> Compiled:
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, str(folder), platform],
        capture_output=True,
        text=True,
        check=True,
        env={
            "PATH": os.environ.get("PATH", ""),
            "JAX_PLATFORMS": "cpu",
            "TPU_SKIP_MDS_QUERY": "1",
            "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        },
    )
    xla = json.loads(done.stdout.splitlines()[-1])
    rules = rules_for(platform, xla.pop(""))
    accounts = {}
    for name in xla:
        (proto,) = (folder / name).glob("*after_optimizations.hlo.pb")
        context = CostContext(mesh={"data": 2, "model": 2}, rules=rules)
        accounts[name] = account(read_proto(proto.read_bytes()), trip_count, context)
    return Compiled(xla, accounts)


@pytest.fixture(scope="module", params=["cpu", pytest.param("tpu", marks=pytest.mark.tpu)])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    if request.param == "tpu":
        pytest.importorskip("libtpu")
    return compiled(tmp_path_factory.mktemp(request.param), request.param)


@pytest.mark.compile
@pytest.mark.parametrize("name", NAMES)
def test_body_once_figures_equal_cost_analysis(name: str, programs: Compiled) -> None:
    found = programs.accounts[name].cost.reconciliation.body_once
    close = partial(pytest.approx, rel=ROUNDING, abs=1)
    assert list(found[1:]) == [close(figure) for figure in programs.xla[name]]


@pytest.mark.compile
@pytest.mark.parametrize("name", NAMES)
def test_steps_lead_from_cost_analysis_to_the_totals(name: str, programs: Compiled) -> None:
    ledger = programs.accounts[name].cost
    found = ledger.reconciliation
    walked = [
        sum(figures)
        for figures in zip(*(step[1:] for step in (found.body_once, *found.steps)), strict=True)
    ]
    moved = (ledger.totals[q].known for q in (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN))
    counted = (ledger.totals[q].known for q in (Quantity.FLOPS, Quantity.TRANSCENDENTALS))
    assert walked == list(found.total[1:]) == [*counted, sum(moved)]


# Scanning adds loop counters and slices of stacked weights, and compilers fuse the two forms
# differently; products of matrices, which are nearly all FLOPs, are the same.
SCAN_BOUND = 0.02


@pytest.mark.compile
def test_scanned_and_unrolled_layers_cost_the_same(programs: Compiled) -> None:
    scanned, unrolled = (programs.accounts[name].cost for name in ("scanned", "unrolled"))
    one, other = (ledger.totals[Quantity.FLOPS] for ledger in (scanned, unrolled))
    assert one.is_exact
    assert other.is_exact
    assert one.known == pytest.approx(other.known, rel=SCAN_BOUND)
    # counted as XLA counts, they differ by far
    assert programs.xla["scanned"][0] < 0.5 * programs.xla["unrolled"][0]
    products = [
        total_of(
            times(entry.executions, entry.flops)
            for entry in ledger.entries
            if entry.opcode in ("dot", "convolution")
        )
        for ledger in (scanned, unrolled)
    ]
    assert products[0] == products[1]


@pytest.mark.compile
def test_collectives_of_a_sharded_step_name_their_axes(programs: Compiled) -> None:
    ledger = programs.accounts["tensor parallel"].communication
    assert {item.axes_text for item in ledger.collectives} <= {"data", "model", "data,model"}
    assert {"data", "model"} <= {item.axes_text for item in ledger.collectives}
    assert ledger.wire_bytes.is_exact
    in_loops = [item for item in ledger.collectives if item.loops]
    assert {item.executions for item in in_loops} == {Measured(6)}


@pytest.mark.compile
def test_a_loop_that_depends_on_data_is_said_to_be_unknown(programs: Compiled) -> None:
    ledger = programs.accounts["data dependent loop"].cost
    assert not ledger.totals[Quantity.FLOPS].is_exact
    assert any("runs an unknown number of times" in note for note in ledger.notes)
