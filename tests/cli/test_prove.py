"""`hloscope prove` and `hloscope bisect-passes` from the command line, with real compiles."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import terminal_signals

from hloscope import cli
from hloscope.capture.targets import toolchain

PROGRAM = '''"""Steps that differ in one respect each."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import hloscope

N = 512


def build(devices, donate=True, dtype="float32", constrained=True, rows=True):
    mesh = Mesh(np.array(devices[:2]), ("x",))
    spec = P("x") if rows else P()
    state, batch = (
        jax.ShapeDtypeStruct((N, N), jnp.float32, sharding=NamedSharding(mesh, s))
        for s in (spec, P("x"))
    )

    def step(state, batch):
        scores = (batch @ state).astype(dtype)
        gram = jnp.sin(state) @ jnp.cos(state)
        if constrained:
            gram = jax.lax.with_sharding_constraint(gram, NamedSharding(mesh, P("x")))
        new = {"w": state + (jnp.exp(scores) * 2).astype(jnp.float32)}
        return {**new, "norm": jnp.tanh(gram).sum()}

    return hloscope.Program(
        function=step,
        args=(state, batch),
        jit_options={
            "donate_argnums": 0 if donate else (),
            "out_shardings": {"w": NamedSharding(mesh, spec), "norm": NamedSharding(mesh, P())},
        },
    )
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("proof")
    (made / "steps.py").write_text(PROGRAM)
    return made


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("COLUMNS", "80")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["hloscope", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def _prove(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> dict[str, Any]:
    code = run(monkeypatch, "prove", *arguments, "--json")
    out, err = capsys.readouterr()
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.compile
@pytest.mark.parametrize("target", ["cpu:2", pytest.param("tpu:v5e:2x2", marks=pytest.mark.tpu)])
def test_a_lost_donation_comes_back_to_the_byte(
    target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if target.startswith("tpu") and toolchain("tpu").problem:
        pytest.skip("libtpu is not installed")
    proof = _prove(
        monkeypatch, capsys, "steps:build", "steps:build?donate=false", "-t", target,
        "--probe", "donate",
    )  # fmt: skip
    (result,) = proof["alone"]
    size = 512 * 512 * 4 // 2
    assert result["done"] == ["state donated to output 1"]
    assert proof["rhs_figures"]["alias"] == 0
    assert result["figures"]["alias"] == proof["lhs_figures"]["alias"] == size
    assert result["metrics"]["bytes"]["gap"] == result["metrics"]["bytes"]["closed"]
    closed = sum(share["closed"] for share in result["entries"]) + result["elsewhere"]
    assert closed == result["metrics"]["bytes"]["closed"]
    (finding,) = (f for f in proof["findings"] if f["code"] == "DON001")
    assert finding["confidence"] == "proven"


@pytest.mark.compile
def test_every_probe_alone_and_all_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = _prove(
        monkeypatch, capsys, "steps:build?dtype=bfloat16",
        "steps:build?donate=false&constrained=false&rows=false", "-t", "cpu:2",
    )  # fmt: skip
    edited = {r["probes"][0]: len(r["done"]) for r in proof["alone"] if r["done"]}
    assert sorted(edited) == [
        "argument-shardings", "constraints", "donate", "dtypes", "output-shardings",
    ]  # fmt: skip
    assert all(not r["failure"] for r in proof["alone"])
    together = proof["together"]
    assert together["probes"] == list(edited)
    assert proof["shares"]["+".join(edited)]["bytes"] == 1.0
    assert together["metrics"]["flops"]["closed"] == together["metrics"]["flops"]["gap"]
    alone = sum(r["metrics"]["bytes"]["closed"] for r in proof["alone"] if r["done"])
    assert proof["overlap"]["bytes"] == alone - together["metrics"]["bytes"]["closed"]


@pytest.mark.compile
def test_flags_are_probed_and_a_compile_that_fails_is_a_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = ("--xla-flag", "xla_cpu_enable_fast_math=true")
    for name, more in (("fast", flag), ("plain", ())):
        assert run(monkeypatch, "capture", "steps:build", "-t", "cpu:2", "-o", name, *more) == 0
    capsys.readouterr()
    proof = _prove(monkeypatch, capsys, "fast", "plain", "--probe", "flags")
    (result,) = proof["alone"]
    assert result["done"] == ["xla_cpu_enable_fast_math: not set -> True"]
    assert result["failure"] == ""
    monkeypatch.setattr(
        "hloscope.pipeline.proving.recapture", _refusing("did not compile: INTERNAL: no")
    )
    proof = _prove(monkeypatch, capsys, "fast", "plain", "--probe", "flags")
    (result,) = proof["alone"]
    assert (result["failure"], result["figures"]) == ("did not compile: INTERNAL: no", None)


def _refusing(problem: str) -> Any:
    from hloscope.capture.recapturing import recapture
    from hloscope.errors import HloscopeError

    def refuse(capture: Any, **options: Any) -> Any:
        if options.get("compile_options") is not None:
            raise HloscopeError(problem)
        return recapture(capture, **options)

    return refuse


@pytest.mark.compile
def test_passes_part_where_a_flag_takes_effect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    depth = ("-t", "cpu:2", "--depth", "passes")
    flag = ("--xla-flag", "xla_disable_hlo_passes=fusion")
    for name, more in (("fused", ()), ("split", flag)):
        assert run(monkeypatch, "capture", "steps:build", "-o", name, *depth, *more) == 0
    capsys.readouterr()
    assert run(monkeypatch, "bisect-passes", "fused", "split", "--metric", "bytes", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] is None
    parted = found["steps"][found["graph"]]
    assert [p["name"] for p in parted["lhs_passes"]] == ["fusion"]
    assert parted["rhs_passes"] == []
    assert found["parts"]["step"] == found["graph"]
    assert found["shown"] is not None
    assert any(r["classes"] for r in found["change"]["changes"]["regions"])


@pytest.mark.compile
def test_inputs_that_differ_are_said_to_with_operation_and_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "steps:build?dtype=bfloat16"
    assert run(monkeypatch, "bisect-passes", "steps:build", other, "-t", "cpu:2") == 0
    out = capsys.readouterr().out
    line = 1 + PROGRAM.splitlines().index("        scores = (batch @ state).astype(dtype)")
    assert out.startswith("THE COMPILERS' INPUTS DIFFER ALREADY: steps:build against")
    assert "FIRST DIFFERENCE IN THE STABLEHLO" in out
    assert f"steps.py:{line}" in out


@pytest.mark.compile
def test_a_program_is_the_same_after_every_pass_as_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    same = ("steps:build", "steps:build", "-t", "cpu:2", "--metric", "peak")
    assert run(monkeypatch, "bisect-passes", *same) == 0
    out = capsys.readouterr().out
    assert out.startswith("THE SAME AFTER EVERY PASS: steps:build against steps:build")
    assert "the estimated peak: the same on both sides throughout" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prove", "a.hlo", "a.hlo", "--probe", "donat"), "unknown probe 'donat'"),
        (("prove", "a.hlo", "a.hlo"), "'a.hlo' is no capture, so it cannot be compiled again"),
        (("bisect-passes", "a.hlo", "a.hlo"), "does not hold the module after every pass"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.hlo").write_text(
        "HloModule m\n\nENTRY %e (p.1: f32[8]) -> f32[8] {\n"
        "  %p.1 = f32[8]{0} parameter(0)\n  ROOT %n.2 = f32[8]{0} negate(%p.1)\n}\n"
    )
    assert run(monkeypatch, *arguments) == cli.TROUBLE
    assert said in capsys.readouterr().err


def test_probes_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "prove", "--probes") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "donate", "argument-shardings", "output-shardings", "constraints", "barriers", "dtypes",
        "drop-outputs", "flags",
    ]  # fmt: skip


@pytest.mark.compile
def test_an_interrupt_leaves_no_process(folder: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "hloscope", "prove", "steps:build", "steps:build?donate=false",
               "-t", "cpu:2", "--no-cache"]  # fmt: skip
    process = subprocess.Popen(
        terminal_signals.restored(command),
        env={**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob("hloscope-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == cli.INTERRUPTED
    assert list(folder.glob("hloscope-*")) == []
