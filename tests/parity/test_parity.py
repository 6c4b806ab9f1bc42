"""`hloscope parity`, from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hloscope import decoders
from hloscope.model.parity import ParityVerdict, Part
from hloscope.model.units import Measured
from hloscope.parity import ParityOptions, compare_values

pytestmark = pytest.mark.compile

PROGRAMS = """
import jax
import jax.numpy as jnp
from hloscope import Program

S = jax.ShapeDtypeStruct

def flat(devices, scale=1.0, width=8):
    def step(params, x):
        return jnp.tanh(x @ params["dense"]["kernel"] * scale), x.sum()
    kernel = S((width, 4), "float32")
    return Program(function=step, args=({"dense": {"kernel": kernel}}, S((3, width), "float32")))

def nested(devices, bias=False):
    def step(model, x):
        return jnp.tanh(jnp.einsum("bi,ij->bj", x, model["dense"]["kernel"]["value"])), x.sum()
    dense = {"kernel": {"value": S((8, 4), "float32")}}
    if bias:
        dense["bias"] = {"value": S((4,), "float32")}
    return Program(function=step, args=({"dense": dense}, S((3, 8), "float32")))

def broken(devices):
    return Program(function=lambda x: x @ x, args=(S((3, 4), "float32"),))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "programs_of_mine.py").write_text(PROGRAMS)
    return tmp_path


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    packages = str(Path(__file__).resolve().parents[2])
    return subprocess.run(
        [sys.executable, "-m", "hloscope", "parity", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": packages, "COLUMNS": "100", "JAX_PLATFORMS": "cpu"},
    )


def _json(folder: Path, *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_run(folder, *arguments, "--json").stdout)
    return document


def test_own_programs_whose_trees_map_are_run(folder: Path) -> None:
    mine = "programs_of_mine"
    document = _json(folder, f"{mine}:flat", f"{mine}:nested")
    assert document["verdict"] == "equal, bit for bit"
    values = {(each["part"], tuple(each["path"])) for each in document["values"]}
    assert values == {
        ("output", ("0",)),
        ("output", ("1",)),
        ("gradient", ("dense", "kernel")),
        ("gradient", ("x",)),
    }
    assert all(each["scale"] > 0.01 for each in document["values"])
    # the same again, and other inputs by another seed
    assert _json(folder, f"{mine}:flat", f"{mine}:nested") == document
    other = _json(folder, f"{mine}:flat", f"{mine}:nested", "--seed", "1")
    assert other["values"][0]["scale"] != document["values"][0]["scale"]


def test_wrong_values_and_wrong_trees_are_told(folder: Path) -> None:
    scaled = _run(folder, "programs_of_mine:flat", "programs_of_mine:flat?scale=1.001")
    assert scaled.returncode == 1
    assert scaled.stdout.startswith("different values\n")
    allowed = ("--tolerance-ulps", "100000")
    assert not _run(
        folder, "programs_of_mine:flat", "programs_of_mine:flat?scale=1.001", *allowed
    ).returncode
    more = _run(folder, "programs_of_mine:flat", "programs_of_mine:nested?bias=true")
    assert more.returncode == 1
    assert more.stdout.startswith("different trees\n")
    assert "no values: 1 inputs are not mapped: dense.bias" in more.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("programs_of_mine:flat", "programs_of_mine:broken"), "error: tracing the program raised"),
        (("programs_of_mine:flat", "gpt3-tiny:nnx", "-t", "tpu:v5e:2x2"), "cannot run"),
        ((".", "."), "error: both sides are checkpoints"),
        ((".", "programs_of_mine:flat"), "holds no Orbax checkpoint: there is no _METADATA"),
        (("programs_of_mine:flat", "gpt3-tinny:nnx"), "error: unknown program 'gpt3-tinny'"),
    ],
)
def test_trouble_is_one_error(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = _run(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


SAVE = """
import jax, numpy as np, sys
import orbax.checkpoint as ocp
from hloscope import decoders

program = decoders.resolve("llama2-tiny:linen?step=forward&fsdp=2", jax.devices())
zeros = lambda leaf: jax.device_put(np.zeros(leaf.shape, leaf.dtype), leaf.sharding)
with ocp.StandardCheckpointer() as checkpointer:
    checkpointer.save(sys.argv[1], {"params": jax.tree.map(zeros, program.args[0])})
"""


def test_a_checkpoint_stands_in_for_a_program(folder: Path) -> None:
    saved = folder / "1000"
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run(
        [sys.executable, "-c", SAVE, str(saved)],
        check=True,
        capture_output=True,
        env={**environment, "JAX_PLATFORMS": "cpu"},
    )
    forward = "llama2-tiny:nnx?step=forward"
    same = _json(folder, "1000", forward, "-t", "cpu:2")
    assert same["verdict"] == "same trees; values were not compared"
    pairs = {".".join(each["path"]): each for each in same["inputs"]}
    kernel = pairs["layers.mlp.up.kernel"]
    assert kernel["lhs"]["shape"] == kernel["rhs"]["shape"] == [2, 256, 512]
    assert kernel["lhs"]["sharding"] == "PartitionSpec(None, 'fsdp', 'tensor')"
    assert kernel["differences"] == []
    replicated = _json(folder, f"{forward}&data=2", "1000", "-t", "cpu:2")
    assert {tuple(each["differences"]) for each in replicated["inputs"] if each["rhs"]} == {
        ("sharding",)
    }
    assert _run(folder, "1000", f"{forward}&layers=3").returncode == 1
    assert _run(folder, "1000", "programs_of_mine:flat").returncode == 1


TINY = tuple(name for name in decoders.NAMES if name.endswith("-tiny"))
# float32 and few tokens: what is looked at is the mathematics; benchmarks/parity.py has the rest
STEPS = (
    *((name, "step=forward") for name in TINY),
    ("llama2-tiny", "step=decode&cache=48"),
    ("deepseek-tiny", "step=decode&cache=48"),
    ("gemma3-tiny", "step=decode&cache=48"),
    ("llama4-tiny", "step=prefill&moe=dropless&scan=false"),
    ("gpt3-tiny", "step=train&attention=plain&remat=minimal"),
    ("llama2-tiny", "step=train&lora=4&loss=dpo&accumulate=2"),
)


@pytest.mark.parametrize(("name", "query"), STEPS)
def test_linen_and_nnx_have_parity(name: str, query: str) -> None:
    specs = (f"{name}:{stack}?{query}&dtype=f32&seq=32" for stack in decoders.STACKS)
    parity = compare_values(*specs, ParityOptions(tolerance=4.0))
    assert parity.verdict in (ParityVerdict.EQUAL, ParityVerdict.WITHIN)
    assert isinstance(parity.values, Measured)
    parts = {pair.part for pair in parity.values.value}
    # a train step's gradients are the first moments that it leaves
    assert parts == ({Part.OUTPUT} if "train" in query else {Part.OUTPUT, Part.GRADIENT})
    moved = [
        pair for pair in parity.values.value if pair.part is Part.GRADIENT or "mu" in pair.path
    ]
    assert sum(pair.scale > 0 for pair in moved) > len(moved) / 2
