"""Dropout: the same places and the same rate in both stacks, a mask of its own for every layer.

The two stacks draw different random numbers, so what is compared is how often a value is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hloscope import decoders
from hloscope.decoders import layout, mapping
from hloscope.decoders.config import Config, Setup, make_setup
from hloscope.decoders.linen import decoder as linen_decoder
from hloscope.decoders.nnx import decoder as nnx_decoder
from hloscope.decoders.options import Options
from hloscope.decoders.sizes import Size

RATE = 0.25
TOLERANCE = 0.02  # six standard deviations of a share of 16,384 elements
WIDTH = 64
BATCH, SEQ = 4, 64

Tree = dict[str, Any]


SIZE = Size(
    family="gpt3",
    layers=2,
    embed=WIDTH,
    heads=2,
    kv_heads=2,
    head_dim=4,
    mlp=8,
    vocab=WIDTH,
    positions=64,
    seq=64,
    source="",
    note="",
)


def _setup(*, scan: bool) -> Setup:
    options = Options(scan=scan, dropout=RATE, tied=False, dtype="float32")
    return make_setup(SIZE, options, 1, where="x")


def _linen(config: Config) -> Callable[[Tree], jax.Array]:
    def run(params: Tree) -> jax.Array:
        rngs = {"dropout": jax.random.key(0)}
        tokens = jnp.zeros((BATCH, SEQ), int)
        logits = linen_decoder.Decoder(config).apply({"params": params}, tokens, rngs=rngs)
        return jnp.asarray(logits)

    return run


def _nnx(config: Config) -> Callable[[Tree], jax.Array]:
    def run(params: Tree) -> jax.Array:
        model = nnx_decoder.Decoder(config, rngs=nnx.Rngs(0))
        state = nnx.state(model, nnx.Param)
        nnx.replace_by_pure_dict(state, mapping.to_nnx(params))
        nnx.update(model, state)
        return jnp.asarray(model(jnp.zeros((BATCH, SEQ), int)))

    return run


def _weights(config: Config, one: str) -> Tree:
    """Weights that send the leaves whose path ends in `one` as ones, alone, to the logits."""
    model = nnx.eval_shape(lambda: nnx_decoder.Decoder(config, rngs=nnx.Rngs(0)))
    shapes = mapping.to_linen(nnx.to_pure_dict(nnx.state(model, nnx.Param)))

    def fill(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        if name == "output.kernel":
            return np.eye(WIDTH, dtype="f4")
        return np.full(leaf.shape, float(name.endswith((one, "final_norm.scale"))), "f4")

    weights: Tree = jax.tree_util.tree_map_with_path(fill, shapes)
    return weights


def _shares(logits: jax.Array) -> list[float]:
    """Of each row's elements, how many have its lowest value, its second lowest, and so on.

    The last layer norm shifts and scales rows, which leaves the order of the values.
    """
    counts = np.zeros(4)
    for row in np.asarray(logits).reshape(-1, WIDTH).round(3):
        values, times = np.unique(row, return_counts=True)
        counts[: len(values)] += times
    return list(counts / logits.size)


@pytest.mark.compile
@pytest.mark.parametrize("scan", [True, False], ids=["scan", "unrolled"])
@pytest.mark.parametrize("stack", [_linen, _nnx], ids=["linen", "nnx"])
def test_rate_and_places(stack: Callable[[Config], Any], scan: bool) -> None:
    setup = _setup(scan=scan)
    config = setup.config
    mesh = layout.make_mesh(setup.mesh, jax.devices()[:1])
    with layout.tracing_under(mesh, layout.axis_rules(setup)):
        run = jax.jit(stack(config), compiler_options={"xla_backend_optimization_level": 0})
        embeddings = _shares(run(_weights(config, "token_embed.embedding")))
        attention = _shares(run(_weights(config, "attention.out.bias")))
        mlp = _shares(run(_weights(config, "mlp.down.bias")))
    once = [RATE, 1 - RATE, 0, 0]
    # one mask for both layers would give `once` here too
    twice = [RATE**2, 2 * RATE * (1 - RATE), (1 - RATE) ** 2, 0]
    assert embeddings == pytest.approx(once, abs=TOLERANCE)
    assert attention == pytest.approx(twice, abs=TOLERANCE)
    assert mlp == pytest.approx(twice, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("options", "draws"),
    [
        ("dropout=0.1", True),
        ("dropout=0.0", False),
        ("dropout=0.1&step=forward", False),
    ],
)
@pytest.mark.parametrize("stack", decoders.STACKS)
def test_random_numbers_are_drawn_for_dropout_alone(stack: str, options: str, draws: bool) -> None:
    program = decoders.resolve(f"gpt3-tiny:{stack}?{options}", jax.devices()[:1])
    with program.context():
        jaxpr = str(jax.make_jaxpr(program.function)(*program.args))
    assert ("random_bits" in jaxpr) == draws
