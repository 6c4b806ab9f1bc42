"""Both stacks compute the same: logits, gradients and a train step, with weights mapped across.

Float32 tolerances: stacks and reference round every sum in an order of their own, through three
layers. Seen: 4e-6 of a leaf's largest value at most between a stack and the reference, mostly 0
between the stacks; 2e-5 leaves room for other CPUs and is far below what a wrong operation gives.
Bfloat16 keeps 8 bits, so that a value that is rounded once at another place differs by up to 2**-8
of its size, and such roundings add up over the layers: seen 0.02, allowed 0.04.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from flax.training.train_state import TrainState

from hloscope.decoders import layout, mapping
from hloscope.decoders.config import Config, Setup, make_setup
from hloscope.decoders.linen import decoder as linen_decoder
from hloscope.decoders.linen import train as linen_train
from hloscope.decoders.nnx import decoder as nnx_decoder
from hloscope.decoders.nnx import train as nnx_train
from hloscope.decoders.options import Options
from hloscope.decoders.sizes import Size
from hloscope.decoders.training import cross_entropy, make_optimizer

pytestmark = pytest.mark.compile

SIZE = Size(
    family="gpt3",
    layers=3,
    embed=32,
    heads=4,
    kv_heads=4,
    head_dim=16,
    mlp=64,
    vocab=48,
    positions=24,
    seq=16,
    source="",
    note="",
)


def _setup(**options: Any) -> Setup:
    asked = Options(**{"remat": "none", "dtype": "float32", **options})
    return make_setup(SIZE, asked, 1, where="x")


CONFIG = _setup().config
BATCH, SEQ = 2, 16
F32_TOLERANCE = 2e-5
BF16_TOLERANCE = 0.04

# a tenth of the time to compile on the CPU; what is computed stays
QUICK_COMPILE: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_parallel_codegen_split_count": 1,
}
if jax.__version_info__ < (0, 11):  # later releases know no such option
    QUICK_COMPILE["xla_cpu_use_fusion_emitters"] = False

Tree = dict[str, Any]


@pytest.fixture(autouse=True)
def _one_device() -> Any:
    setup = _setup()
    mesh = layout.make_mesh(setup.mesh, jax.devices()[:1])
    with layout.tracing_under(mesh, layout.axis_rules(setup)):
        yield


def _tokens() -> dict[str, Any]:
    numbers = np.random.default_rng(0).integers(0, CONFIG.vocab, (BATCH, SEQ + 1))
    return {"inputs": numbers[:, :-1], "targets": numbers[:, 1:]}


def _weights(config: Config) -> Tree:
    """Linen weights that are nowhere 0 or 1, so that no bias, scale or axis order can hide."""
    shapes = jax.eval_shape(
        lambda: nnx.to_pure_dict(
            nnx.state(nnx_decoder.Decoder(config, rngs=nnx.Rngs(0)), nnx.Param)
        )
    )
    draw = np.random.default_rng(1)
    return mapping.to_linen(
        jax.tree.map(lambda leaf: draw.normal(0.1, 0.3, leaf.shape).astype("f4"), shapes)
    )


def _unrolled(params: Tree) -> Tree:
    named = {name: value for name, value in params.items() if name != "layers"}
    for layer in range(SIZE.layers):
        named[f"layers_{layer}"] = jax.tree.map(lambda leaf, at=layer: leaf[at], params["layers"])
    return named


def _stacked(params: Tree) -> Tree:
    layers = [params[f"layers_{layer}"] for layer in range(SIZE.layers)]
    named = {name: value for name, value in params.items() if not name.startswith("layers_")}
    return named | {"layers": jax.tree.map(lambda *leaves: np.stack(leaves), *layers)}


def _norm(x: jax.Array, weights: Tree) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return jnp.asarray(scaled * weights["scale"] + weights["bias"])


def _attend(x: jax.Array, weights: Tree) -> jax.Array:
    qkv = jnp.einsum("bte,eqhd->qbhtd", x, weights["qkv"]["kernel"])
    query, key, value = qkv + weights["qkv"]["bias"][:, None, :, None, :]
    scores = jnp.einsum("bhtd,bhsd->bhts", query, key) / np.sqrt(SIZE.head_dim)
    seen = np.tril(np.ones((SEQ, SEQ), bool))
    shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("bhts,bhsd,hde->bte", shares, value, weights["out"]["kernel"])
    return jnp.asarray(mixed + weights["out"]["bias"])


def _reference(params: Tree, tokens: jax.Array) -> jax.Array:
    """GPT-3 from plain array operations, float32, on unrolled Linen weights."""
    table = params["token_embed"]["embedding"]
    x = table[tokens] + params["position_embed"]["embedding"][:SEQ]
    for layer in range(SIZE.layers):
        block = params[f"layers_{layer}"]
        x = x + _attend(_norm(x, block["attention_norm"]), block["attention"])
        hidden = _norm(x, block["mlp_norm"]) @ block["mlp"]["up"]["kernel"]
        hidden = jax.nn.gelu(hidden + block["mlp"]["up"]["bias"], approximate=True)
        x = x + hidden @ block["mlp"]["down"]["kernel"] + block["mlp"]["down"]["bias"]
    x = _norm(x, params["final_norm"])
    return jnp.asarray(x @ (params["output"]["kernel"] if "output" in params else table.T))


def _run(function: Any, *args: Any) -> Any:
    return jax.jit(function, compiler_options=QUICK_COMPILE)(*args)


def _linen(config: Config, params: Tree) -> tuple[jax.Array, Tree]:
    batch = _tokens()
    model = linen_decoder.Decoder(config)

    def loss_fn(params: Tree) -> tuple[jax.Array, jax.Array]:
        logits = model.apply({"params": params}, batch["inputs"])
        return cross_entropy(logits, batch["targets"]), logits

    (_, logits), grads = _run(jax.value_and_grad(loss_fn, has_aux=True), params)
    return logits, grads


def _with_weights(model: nnx_decoder.Decoder, params: Tree) -> nnx_decoder.Decoder:
    state = nnx.state(model, nnx.Param)
    nnx.replace_by_pure_dict(state, mapping.to_nnx(params))
    nnx.update(model, state)
    return model


def _nnx(config: Config, params: Tree) -> tuple[jax.Array, Tree]:
    batch = _tokens()

    def loss_fn(model: nnx_decoder.Decoder) -> tuple[jax.Array, jax.Array]:
        logits = model(batch["inputs"])
        return cross_entropy(logits, batch["targets"]), logits

    def run(params: Tree) -> tuple[jax.Array, nnx.State]:
        model = _with_weights(nnx_decoder.Decoder(config, rngs=nnx.Rngs(0)), params)
        (_, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
        return logits, grads

    logits, grads = _run(run, params)
    return logits, mapping.to_linen(nnx.to_pure_dict(grads))


def _plain(params: Tree) -> tuple[jax.Array, Tree]:
    batch = _tokens()

    def loss_fn(params: Tree) -> tuple[jax.Array, jax.Array]:
        logits = _reference(params, batch["inputs"])
        return cross_entropy(logits, batch["targets"]), logits

    (_, logits), grads = _run(jax.value_and_grad(loss_fn, has_aux=True), params)
    return logits, grads


def _assert_close(got: Any, want: Any, tolerance: float) -> None:
    """Compares leaf by leaf, relative to the largest value of the leaf."""
    wants, gots = (jax.tree_util.tree_leaves_with_path(tree) for tree in (want, got))
    assert [path for path, _ in wants] == [path for path, _ in gots]
    for (path, right), (_, left) in zip(wants, gots, strict=True):
        wanted = np.asarray(right, "f8")
        size, worst = np.abs(wanted).max(), np.abs(np.asarray(left, "f8") - wanted).max()
        assert worst <= tolerance * size, f"{jax.tree_util.keystr(path)}: {worst} of {size}"


@pytest.mark.parametrize("remat", ["none", "minimal", "full"])
@pytest.mark.parametrize("scan", [True, False], ids=["scan", "unrolled"])
def test_logits_and_gradients_agree(scan: bool, remat: str) -> None:
    config = replace(CONFIG, scan=scan, remat=remat)
    params = _weights(config)
    linen, nnx_ = _linen(config, params), _nnx(config, params)
    _assert_close(nnx_, linen, F32_TOLERANCE)
    logits, grads = _plain(_unrolled(params) if scan else params)
    _assert_close(linen, (logits, _stacked(grads) if scan else grads), F32_TOLERANCE)


def test_untied_logits_and_gradients_agree() -> None:
    config = replace(CONFIG, tied=False)
    params = _weights(config)
    linen, nnx_ = _linen(config, params), _nnx(config, params)
    _assert_close(nnx_, linen, F32_TOLERANCE)
    logits, grads = _plain(_unrolled(params))
    _assert_close(linen, (logits, _stacked(grads)), F32_TOLERANCE)


@pytest.mark.parametrize("logits_dtype", ["bfloat16", "float32"])
def test_bfloat16_activations_agree(logits_dtype: str) -> None:
    config = replace(CONFIG, dtype="bfloat16", logits_dtype=logits_dtype, remat="full")
    params = _weights(config)
    linen, nnx_ = _linen(config, params), _nnx(config, params)
    assert linen[0].dtype == nnx_[0].dtype == logits_dtype
    assert {leaf.dtype for leaf in jax.tree.leaves((linen[1], nnx_[1]))} == {jnp.dtype("f4")}
    _assert_close(nnx_, linen, BF16_TOLERANCE)


def _nnx_start(setup: Setup, params: Tree) -> tuple[nnx.GraphDef, nnx.State]:
    """A split train state with these weights; all else is 0, as in a new one without dropout."""
    abstract = nnx.eval_shape(lambda: nnx_train.init_state(setup, jax.random.key(0)))
    train_state = jax.tree.map(_blank, abstract)
    _with_weights(train_state.model, params)
    graphdef, state = nnx.split(train_state)
    return graphdef, state


def _blank(leaf: jax.ShapeDtypeStruct) -> Any:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.zeros((*leaf.shape, 2), "u4"))
    return np.zeros(leaf.shape, leaf.dtype)


@pytest.mark.parametrize("scan", [True, False], ids=["scan", "unrolled"])
def test_train_steps_agree(scan: bool) -> None:
    setup = _setup(layers=2, scan=scan)
    params = _weights(setup.config)
    linen = TrainState.create(
        apply_fn=linen_decoder.Decoder(setup.config).apply, params=params, tx=make_optimizer()
    ).replace(step=jnp.int32(0))
    graphdef, state = _nnx_start(setup, params)
    nnx_step = jax.jit(nnx_train.make_train_step(graphdef, setup), compiler_options=QUICK_COMPILE)
    linen_step = jax.jit(linen_train.make_train_step(setup), compiler_options=QUICK_COMPILE)
    for _ in range(2):
        linen, linen_metrics = linen_step(linen, _tokens(), jax.random.key(1))
        state, nnx_metrics = nnx_step(state, _tokens())
    _assert_close(nnx_metrics, linen_metrics, F32_TOLERANCE)
    trained = nnx.to_pure_dict(nnx.filter_state(state, nnx.Param))["model"]
    _assert_close(mapping.to_linen(trained), linen.params, F32_TOLERANCE)
    optimizer = nnx.to_pure_dict(state)["optimizer"]
    adam = optimizer["opt_state"][0]
    moments = {name: mapping.to_linen(adam[name]) for name in ("mu", "nu")}
    linen_adam = linen.opt_state[0]
    _assert_close(moments, {"mu": linen_adam.mu, "nu": linen_adam.nu}, F32_TOLERANCE)
    assert int(adam["count"]) == int(linen_adam.count) == 2
    assert int(optimizer["step"]) == int(linen.step) == 2
