"""Names, sizes and options, read without JAX."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from hloscope import decoders
from hloscope.decoders.config import make_setup
from hloscope.decoders.counting import parameter_count
from hloscope.decoders.families import FAMILIES
from hloscope.decoders.options import Options, option_help, parse
from hloscope.decoders.sizes import sizes
from hloscope.errors import HloscopeError


def test_names_are_listed_by_family_smallest_first() -> None:
    families = [size.family for size in sizes().values()]
    assert list(dict.fromkeys(families)) == [
        *("gpt3", "llama2", "llama3", "deepseek", "gemma3", "llama4")
    ]
    for family in set(families):
        counts = [each.parameters for each in decoders.describe() if each.size.family == family]
        assert counts == sorted(counts)


def test_names_need_no_jax() -> None:
    script = (
        "import sys; from hloscope import decoders; decoders.describe(); decoders.option_help();"
        "decoders.parse_spec('gpt3-6b:nnx?layers=4');"
        "print({'jax', 'flax', 'optax', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("name", "published", "tolerance"),
    [
        ("gpt3-125m", 125e6, 0.01),
        ("gpt3-22b", 22e9, 0.01),
        ("gpt3-175b", 175e9, 0.01),
        # as counted from the released weights, to the last one
        ("llama2-7b", 6_738_415_616, 0),
        ("llama2-13b", 13_015_864_320, 0),
        ("llama2-70b", 68_976_648_192, 0),
        ("llama3.1-8b", 8_030_261_248, 0),
        ("llama3.1-70b", 70_553_706_496, 0),
        # Llama Team 2024, table 3: 405B
        ("llama3.1-405b", 405e9, 0.003),
        # DeepSeek-AI 2024, abstract: 671B
        ("deepseek-v3", 671e9, 0.0001),
        # Gemma Team 2025, table 1: embedding and non-embedding parameters together
        ("gemma3-1b", 302e6 + 698e6, 0.001),
        ("gemma3-4b", 675e6 + 3209e6, 0.002),
        ("gemma3-12b", 1012e6 + 10759e6, 0.001),
        ("gemma3-27b", 1416e6 + 25600e6, 0.001),
        # Meta 2025, the models' cards: 109B and 400B, the vision encoder of 1B included
        ("llama4-scout", 109e9, 0.015),
        ("llama4-maverick", 400e9, 0.005),
    ],
)
def test_parameter_count_is_the_published_one(
    name: str, published: float, tolerance: float
) -> None:
    (described,) = (each for each in decoders.describe(name) if each.name == name)
    assert described.parameters == pytest.approx(published, rel=tolerance)


def test_untied_output_adds_one_table() -> None:
    tiny = sizes()["gpt3-tiny"]
    family = FAMILIES["gpt3"]
    layers = tuple(family.layer(tiny, number) for number in range(tiny.layers))
    tied, untied = (
        parameter_count(tiny, family.traits, layers, tied=choice, vocab=tiny.vocab)
        for choice in (True, False)
    )
    assert untied - tied == tiny.vocab * tiny.embed


def test_every_option_is_read() -> None:
    text = (
        "step=forward&layers=4&scan=false&remat=minimal&dropout=0.1&tied=false&dtype=f32"
        "&weights_dtype=bf16&logits_dtype=bfloat16&attention=plain&moe=dropless"
        "&capacity_factor=1.5&loss=dpo&accumulate=2&lora=4&cache=128&vocab=512&batch=16&seq=64"
        "&data=2&fsdp=2&expert=2&context=2&tensor=2&donate=false"
    )
    assert parse(text, where="x") == Options(
        step="forward",
        layers=4,
        scan=False,
        remat="minimal",
        dropout=0.1,
        tied=False,
        dtype="float32",
        weights_dtype="bfloat16",
        logits_dtype="bfloat16",
        attention="plain",
        moe="dropless",
        capacity_factor=1.5,
        loss="dpo",
        accumulate=2,
        lora=4,
        cache=128,
        vocab=512,
        batch=16,
        seq=64,
        data=2,
        fsdp=2,
        expert=2,
        context=2,
        tensor=2,
        donate=False,
    )
    assert [item.partition("=")[0] for item in text.split("&")] == list(option_help())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "gpt3-6x:nnx",
            "unknown program 'gpt3-6x'\n  at: gpt3-6x:nnx\n  try: gpt3-6b:nnx",
        ),
        (
            "bert:nnx",
            "unknown program 'bert'\n  at: bert:nnx\n  try: hloscope programs; there are "
            + ", ".join(decoders.NAMES),
        ),
        (
            "gpt3-6b",
            "program 'gpt3-6b' names no stack\n  at: gpt3-6b\n  try: gpt3-6b:linen or gpt3-6b:nnx",
        ),
        (
            "gpt3-6b:haiku",
            "unknown stack 'haiku'\n  at: gpt3-6b:haiku\n  try: gpt3-6b:linen or gpt3-6b:nnx",
        ),
        (
            "gpt3-6b:nnx?layers=0",
            "option 'layers' cannot be '0'\n  at: gpt3-6b:nnx?layers=0\n"
            "  try: layers is a whole number from 1",
        ),
        (
            "gpt3-6b:nnx?scan=maybe",
            "option 'scan' cannot be 'maybe'\n  at: gpt3-6b:nnx?scan=maybe\n"
            "  try: scan is true or false",
        ),
        (
            "gpt3-6b:nnx?remat",
            "option 'remat' cannot be ''\n  at: gpt3-6b:nnx?remat\n"
            "  try: remat is none or minimal or full",
        ),
        (
            "gpt3-6b:nnx?dropout=1",
            "option 'dropout' cannot be '1'\n  at: gpt3-6b:nnx?dropout=1\n"
            "  try: dropout is a number from 0, below 1",
        ),
        (
            "gpt3-6b:nnx?dropout=nan",
            "option 'dropout' cannot be 'nan'\n  at: gpt3-6b:nnx?dropout=nan\n"
            "  try: dropout is a number from 0, below 1",
        ),
        (
            "gpt3-6b:nnx?scan=true&scan=false",
            "option 'scan' is given twice\n  at: gpt3-6b:nnx?scan=true&scan=false",
        ),
    ],
)
def test_wrong_specs_say_what_is_right(spec: str, message: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        decoders.parse_spec(spec)
    assert str(caught.value) == message


def test_unknown_option_lists_all_with_their_values() -> None:
    with pytest.raises(HloscopeError) as caught:
        decoders.parse_spec("gpt3-6b:nnx?layer=4")
    assert caught.value.problem == "unknown option 'layer'"
    remedy = str(caught.value.remedy)
    assert remedy.startswith(
        "layers=...; options are step: train or prefill or decode or forward; layers: a whole"
    )
    assert all(f"{name}: {help_.values}" in remedy for name, help_ in option_help().items())


def _mesh(data: int, fsdp: int, tensor: int) -> dict[str, int]:
    return {"data": data, "fsdp": fsdp, "context": 1, "tensor": tensor}


@pytest.mark.parametrize(
    ("options", "devices", "mesh"),
    [
        (Options(), 1, _mesh(1, 1, 1)),
        (Options(), 8, _mesh(1, 8, 1)),
        # a width of 256 cannot be split 512 or 3 ways
        (Options(), 512, _mesh(2, 256, 1)),
        (Options(), 3, _mesh(3, 1, 1)),
        (Options(tensor=2), 8, _mesh(1, 4, 2)),
        (Options(data=2, tensor=2), 8, _mesh(2, 2, 2)),
        (Options(fsdp=2), 8, _mesh(4, 2, 1)),
    ],
)
def test_mesh_covers_all_devices(options: Options, devices: int, mesh: dict[str, int]) -> None:
    setup = make_setup(sizes()["gpt3-tiny"], options, devices, where="x")
    assert setup.mesh == mesh
    assert setup.batch == mesh["data"] * mesh["fsdp"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            Options(data=3),
            "mesh of data=3, fsdp=2, context=1, tensor=1 does not cover 8 devices",
        ),
        (
            Options(tensor=16),
            "mesh of data=1, fsdp=1, context=1, tensor=16 does not cover 8 devices",
        ),
        (Options(batch=4), "batch of 4 does not split evenly over data * fsdp of 8"),
        (Options(tensor=8), "heads of 4 does not split evenly over tensor of 8"),
        (Options(vocab=511, tensor=2), "vocab of 511 does not split evenly over tensor of 2"),
        (Options(seq=512), "option 'seq' cannot be '512': there are 256 positions"),
    ],
)
def test_what_does_not_fit_is_refused(options: Options, problem: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        make_setup(sizes()["gpt3-tiny"], options, 8, where="x")
    assert caught.value.problem == problem


def test_width_that_fsdp_does_not_split_is_refused() -> None:
    size = replace(sizes()["gpt3-tiny"], embed=100)
    with pytest.raises(HloscopeError) as caught:
        make_setup(size, Options(data=1), 8, where="x")
    assert caught.value.problem == "embed of 100 does not split evenly over fsdp of 8"
