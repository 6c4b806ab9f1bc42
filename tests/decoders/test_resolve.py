"""Programs as resolved: abstract arguments, the same in both stacks."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import Any

import jax
import pytest
from flax import nnx
from flax.core.spmd import get_logical_axis_rules

from hloscope import decoders
from hloscope.decoders import mapping
from hloscope.model.program import Program

Leaves = dict[str, tuple[tuple[int, ...], str, tuple[Any, ...]]]


def _resolve(spec: str) -> Program:
    return decoders.resolve(spec, jax.devices()[:1])


def _leaves(tree: Any) -> Leaves:
    return {
        jax.tree_util.keystr(path): (leaf.shape, str(leaf.dtype), tuple(leaf.sharding.spec))
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }


def _nnx_weights(state: nnx.State) -> dict[str, Any]:
    """The model's weights with AdamW's moments, named as Linen names them."""
    pure = nnx.to_pure_dict(state)
    adam = pure["optimizer"]["opt_state"][0]
    weights = nnx.to_pure_dict(nnx.filter_state(state, nnx.Param))["model"]
    trees = {"params": weights, "mu": adam["mu"], "nu": adam["nu"]}
    return {name: mapping.to_linen(tree) for name, tree in trees.items()}


def _linen_weights(state: Any) -> dict[str, Any]:
    adam = state.opt_state[0]
    return {"params": state.params, "mu": adam.mu, "nu": adam.nu}


TINY = tuple(name for name in decoders.NAMES if name.endswith("-tiny"))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, "") for name in TINY),
        ("gpt3-tiny", "?tied=false"),
        ("gpt3-tiny", "?dropout=0.1&scan=false"),
        ("deepseek-tiny", "?scan=false"),
        ("llama2-tiny", "?weights_dtype=bf16"),
    ],
)
def test_weights_have_the_same_shape_and_sharding_in_both_stacks(name: str, options: str) -> None:
    linen = _resolve(f"{name}:linen{options}").args
    nnx_ = _resolve(f"{name}:nnx{options}").args
    assert _leaves(_linen_weights(linen[0])) == _leaves(_nnx_weights(nnx_[0]))
    assert _leaves(linen[1]) == _leaves(nnx_[1])


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("step", ["prefill", "decode"])
def test_caches_have_the_same_shape_and_sharding_in_both_stacks(name: str, step: str) -> None:
    linen = _resolve(f"{name}:linen?step={step}&seq=32&cache=64").args
    params, cache, *rest = _resolve(f"{name}:nnx?step={step}&seq=32&cache=64").args
    in_linen = [mapping.to_linen(nnx.to_pure_dict(cache))]
    assert _leaves(linen[1]) == _leaves(*in_linen)
    assert _leaves(linen[2:]) == _leaves(tuple(rest))
    weights = nnx.to_pure_dict(nnx.filter_state(params, nnx.Param))
    assert _leaves(linen[0]) == _leaves(mapping.to_linen(weights))


@pytest.mark.parametrize("name", ["gpt3-tiny", "deepseek-tiny", "gemma3-tiny"])
def test_adapters_have_the_same_shape_and_sharding_in_both_stacks(name: str) -> None:
    linen = _resolve(f"{name}:linen?lora=4")
    state = _resolve(f"{name}:nnx?lora=4").args[0]
    adapters = nnx.to_pure_dict(nnx.filter_state(state, nnx.LoRAParam))["model"]
    adam = nnx.to_pure_dict(state)["optimizer"]["opt_state"][0]
    assert _leaves(linen.args[0].params) == _leaves(mapping.to_linen(adapters))
    assert _leaves(linen.args[0].opt_state[0].mu) == _leaves(mapping.to_linen(adam["mu"]))
    frozen = nnx.All(nnx.Param, nnx.Not(nnx.LoRAParam))
    base = nnx.to_pure_dict(nnx.filter_state(state, frozen))["model"]
    assert _leaves(linen.kwargs["params"]) == _leaves(mapping.to_linen(base))


def test_logical_axes_are_split_over_the_mesh() -> None:
    layers = _linen_weights(_resolve("gpt3-tiny:linen").args[0])["params"]["layers"]
    specs = {name: spec for name, (_, _, spec) in _leaves(layers).items()}
    assert specs == {
        "['attention']['out']['bias']": (None, "fsdp"),
        "['attention']['out']['kernel']": (None, "tensor", None, "fsdp"),
        "['attention']['qkv']['bias']": (None, None, "tensor", None),
        "['attention']['qkv']['kernel']": (None, "fsdp", None, "tensor", None),
        "['attention_norm']['bias']": (None, None),
        "['attention_norm']['scale']": (None, None),
        "['mlp']['down']['bias']": (None, "fsdp"),
        "['mlp']['down']['kernel']": (None, "tensor", "fsdp"),
        "['mlp']['up']['bias']": (None, "tensor"),
        "['mlp']['up']['kernel']": (None, "fsdp", "tensor"),
        "['mlp_norm']['bias']": (None, None),
        "['mlp_norm']['scale']": (None, None),
    }


# one of each kind of layer; a pattern's other layers are counted alike
COUNTED = tuple(each for each in decoders.describe() if "tiny" in each.name or "v3" in each.name)


@pytest.mark.parametrize("description", COUNTED, ids=lambda each: each.name)
def test_state_has_as_many_weights_as_the_dimensions_say(
    description: decoders.Description,
) -> None:
    linen = _resolve(f"{description.name}:linen?step=forward").args[0]
    nnx_ = _resolve(f"{description.name}:nnx?step=forward").args[0]
    for tree in (linen, nnx.filter_state(nnx_, nnx.Param)):
        count = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))
        assert count == description.parameters


@pytest.mark.parametrize("stack", decoders.STACKS)
def test_arguments_are_abstract(stack: str) -> None:
    for step in ("train", "forward"):
        args = _resolve(f"gpt3-175b:{stack}?step={step}").args
        assert {type(leaf) for leaf in jax.tree.leaves(args)} == {jax.ShapeDtypeStruct}


@pytest.mark.parametrize("stack", decoders.STACKS)
def test_options_reach_the_program(stack: str) -> None:
    spec = f"gpt3-tiny:{stack}?layers=3&seq=64&batch=2&donate=false"
    program = _resolve(spec)
    assert program.name == spec
    assert program.jit_options["donate_argnums"] == ()
    assert _resolve(f"gpt3-tiny:{stack}").jit_options["donate_argnums"] == (0,)
    assert program.args[1]["inputs"].shape == (2, 64)
    settled = (
        "accumulate=1 attention=dot_product batch=2 capacity_factor=1.25 context=1 data=1 "
        "donate=false dropout=0.0 dtype=bfloat16 embed=256 family=gpt3 fsdp=1 head_dim=64 heads=4 "
        "kv_heads=4 layers=3 logits_dtype=float32 lora=0 loss=cross_entropy mlp=1024 moe=capacity "
        "positions=256 qk_norm=none query_scale=0 reach=0 remat=full rope_factor=1.0 scan=true "
        "seq=64 step=train tensor=1 tied=true vocab=512 weights_dtype=float32"
    )
    assert " ".join(f"{name}={value}" for name, value in program.options.items()) == settled


@pytest.mark.parametrize("stack", decoders.STACKS)
def test_context_makes_mesh_and_rules_current(stack: str) -> None:
    with _resolve(f"gpt3-tiny:{stack}").context():
        axes = ("data", "fsdp", "context", "tensor")
        assert dict(jax.sharding.get_abstract_mesh().shape) == dict.fromkeys(axes, 1)
        assert ("embed", "fsdp") in get_logical_axis_rules()
    assert jax.sharding.get_abstract_mesh().empty
    assert not get_logical_axis_rules()


@pytest.mark.parametrize(
    ("remat", "dots", "gelus"),
    [
        # 6 in a block and the logits, each with its 2 gradients
        ("none", 21, 1),
        # attention's two products have batch dimensions
        ("minimal", 23, 2),
        # all of a block but the last, which no gradient needs
        ("full", 26, 2),
    ],
)
@pytest.mark.parametrize("stack", decoders.STACKS)
def test_remat_recomputes_what_it_says(stack: str, remat: str, dots: int, gelus: int) -> None:
    program = _resolve(f"gpt3-tiny:{stack}?remat={remat}")
    with program.context():
        jaxpr = str(jax.make_jaxpr(program.function)(*program.args))
    assert (jaxpr.count(" dot_general["), jaxpr.count(" tanh ")) == (dots, gelus)


SHARDED = """
import sys
import jax, numpy as np
from hloscope import decoders

def fill(leaf):
    if jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jax.numpy.zeros((*leaf.shape, 2), "u4"))
    spread = np.random.default_rng(leaf.size).normal(0.0, 0.1, leaf.shape)
    return (spread + (leaf.dtype == int)).astype(leaf.dtype)

results = []
for spec, count in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    program = decoders.resolve(f"{spec}&step=forward&dtype=float32&batch=8", jax.devices()[:count])
    state, tokens = program.args
    args = jax.tree.map(fill, state), np.arange(8 * 16, dtype="i4").reshape(8, 16) % 100
    args = jax.tree.map(lambda x, leaf: jax.device_put(x, leaf.sharding), args, program.args)
    with program.context():
        quick = {"xla_backend_optimization_level": 0}
        step = jax.jit(program.function, compiler_options=quick, **program.jit_options)
        results.append(np.asarray(step(*args)))
sizes = [np.abs(result - results[0]).max() / np.abs(results[0]).max() for result in results]
print(results[0].shape, max(sizes) < 5e-5 or sizes, results[0].std() > 0.01)
"""


@pytest.mark.compile
@pytest.mark.parametrize(
    ("model", "meshes"),
    [
        ("gpt3-tiny:{}?layers=1", ["data=2&fsdp=2&tensor=2"]),
        ("llama3.1-tiny:{}?layers=1", ["data=2&context=4"]),
        ("llama4-tiny:{}?layers=2&scan=false", ["fsdp=2&expert=2&tensor=2"]),
        (
            "deepseek-tiny:{}?layers=2&moe=dropless",
            ["fsdp=2&expert=2&tensor=2", "expert=2&context=2&data=2"],
        ),
    ],
)
def test_sharded_programs_compute_what_one_device_does(model: str, meshes: list[str]) -> None:
    sides = [(f"{model.format('linen')}&seq=16", "1")]
    for stack in decoders.STACKS:
        sides += [(f"{model.format(stack)}&seq=16&{mesh}", "8") for mesh in meshes]
    done = subprocess.run(
        [sys.executable, "-c", SHARDED, *(word for side in sides for word in side)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(8, 16, 512) True True\n"
