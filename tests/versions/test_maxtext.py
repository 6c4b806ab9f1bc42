"""`maxtext:MODEL`: specs anywhere, the real thing where MaxText is importable."""

from __future__ import annotations

import importlib.util
import json
from importlib import metadata

import pytest
from user_repository import Desk

from hloscope.decoders.maxtext import MaxTextSpec, parse_maxtext
from hloscope.errors import HloscopeError

HAS_MAXTEXT = importlib.util.find_spec("maxtext") is not None
needs_maxtext = pytest.mark.skipif(not HAS_MAXTEXT, reason="MaxText is not installed")
SMALL = "per_device_batch_size=1&max_target_length=128"


def test_options_of_ours_and_of_maxtext() -> None:
    spec = "maxtext:gpt3-52k?stack=linen&step=prefill&attention=dot_product&run_name=a%26b"
    assert parse_maxtext(spec) == MaxTextSpec(
        text=spec,
        model="gpt3-52k",
        stack="linen",
        step="prefill",
        mesh_context="with",
        overrides={"attention": "dot_product", "run_name": "a&b"},
    )
    assert parse_maxtext("maxtext:llama2-7b").mesh_context == "set_mesh"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("maxtext:", "the spec names no model"),
        ("maxtext:a?stack=haiku", "option 'stack' cannot be 'haiku'"),
        ("maxtext:a?step=decode", "option 'step' cannot be 'decode'"),
        ("maxtext:a?x", "option 'x' is not name=value"),
        ("maxtext:a?x=1&x=2", "option 'x' is given twice"),
    ],
)
def test_specs_that_do_not_exist(spec: str, problem: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        parse_maxtext(spec)
    assert caught.value.problem == problem


def test_a_spec_may_be_longer_than_a_file_name(shared: Desk) -> None:
    spec = f"maxtext:gpt3-52k?step=none&{'x' * 300}=1"
    for words in (("show", spec), ("capture", spec)):
        done = shared.run(*words, "-t", "cpu:1")
        assert done.stderr.startswith("error: option 'step' cannot be 'none'\n")


@pytest.mark.compile
@pytest.mark.skipif(HAS_MAXTEXT, reason="MaxText is installed")
def test_without_maxtext(desk: Desk) -> None:
    done = desk.run("capture", "maxtext:gpt3-52k", "-t", "cpu:1", "-o", "a.hloscope")
    assert done.returncode == 2
    assert done.stderr.startswith("error: MaxText is not installed in this environment\n")


def both(desk: Desk, options: str, target: str) -> dict[str, object]:
    sides = [f"maxtext:gpt3-52k?stack={stack}&{options}" for stack in ("linen", "nnx")]
    done = desk.run("diff", *sides, "-t", target, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def part(found: dict[str, object], name: str) -> int:
    lhs, rhs = (found[side]["memory"][name] for side in ("lhs", "rhs"))  # type: ignore[index]
    assert isinstance(lhs, int)
    assert isinstance(rhs, int)
    return rhs - lhs


@needs_maxtext
@pytest.mark.compile
@pytest.mark.tpu
@pytest.mark.parametrize("target", ["tpu:v5p:2x2x1", "tpu:v5e:2x2"])
def test_the_stacks_differ_in_rng_state_alone(shared: Desk, target: str) -> None:
    if metadata.version("maxtext") != "0.2.4":
        pytest.skip("the figures are those of 0.2.4")
    found = both(shared, SMALL, target)
    # 30 rng keys and counts, 512 bytes each
    assert (part(found, "argument"), part(found, "temp")) == (30 * 512, 0)
    inputs = found["inputs"]
    assert isinstance(inputs, dict)
    assert len(inputs["added"]) == 30
    assert all("rngs" in leaf["path"] for leaf in inputs["added"])
    # the train step's own key, which nothing reads without dropout
    assert [(leaf["path"], leaf["parameter"]) for leaf in inputs["removed"]] == [
        ("dropout_rng", None)
    ]


@needs_maxtext
@pytest.mark.compile
@pytest.mark.tpu
@pytest.mark.parametrize("step", ["prefill", "generate"])
def test_the_engine_under_its_own_mesh(shared: Desk, step: str) -> None:
    if metadata.version("maxtext") != "0.2.4":
        pytest.skip("the figures are those of 0.2.4")
    options = f"step={step}&{SMALL}&ici_fsdp_parallelism=1&ici_tensor_parallelism=4"
    found = both(shared, f"{options}&base_num_query_heads=4&base_num_kv_heads=4", "tpu:v5e:2x2")
    assert [part(found, name) for name in ("argument", "output", "temp")] == [0, 0, 0]


@needs_maxtext
@pytest.mark.compile
@pytest.mark.tpu
def test_the_engine_under_jax_set_mesh(shared: Desk) -> None:
    if metadata.version("maxtext") != "0.2.4":
        pytest.skip("the figures are those of 0.2.4")
    heads = "base_num_query_heads=4&base_num_kv_heads=4&head_dim=16&base_num_decoder_layers=2"
    mesh = "mesh_context=set_mesh&ici_fsdp_parallelism=1&ici_tensor_parallelism=4"
    options = f"step=prefill&{SMALL}&max_prefill_predict_length=64&{heads}&{mesh}"
    found = both(shared, options, "tpu:v5e:2x2")
    # the autoregressive cache is whole instead of one head of four: two constraints are missing
    assert [part(found, name) for name in ("argument", "output", "temp")] == [0, 49_152, 0]


@needs_maxtext
@pytest.mark.compile
@pytest.mark.tpu
def test_parameters_stacked_by_the_scan_come_first(shared: Desk) -> None:
    if metadata.version("maxtext") != "0.2.3":
        pytest.skip("0.2.3 alone stacks what its scan only reads")
    if not metadata.entry_points(group="hloscope.analyzers"):
        pytest.skip("hloscope is not installed, and so has no analyzers")
    size = "base_emb_dim=512&base_mlp_dim=2048&base_num_decoder_layers=4"
    found = both(shared, f"step=forward&{SMALL}&{size}", "tpu:v5e:2x2")
    explanation = found["explanation"]
    assert isinstance(explanation, dict)
    assert explanation["findings"][0]["code"] == "LOOP002"


@needs_maxtext
@pytest.mark.compile
def test_a_stack_that_a_release_lacks(shared: Desk) -> None:
    if metadata.version("maxtext") != "0.2.5":
        pytest.skip("0.2.5 alone has no Linen")
    done = shared.run("capture", "maxtext:gpt3-52k?stack=linen", "-t", "cpu:1", "-o", "a.hloscope")
    assert done.stderr.startswith("error: MaxText 0.2.5 has no Linen stack\n")
