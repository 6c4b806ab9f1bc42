from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hloscope.cli import cli
from hloscope.errors import HloscopeError

PROGRAM = """HloModule m, num_partitions=4
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = f32[] add(x, y) }
body { p = (s32[], f32[8,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[8,16]{1,0} get-tuple-element(p), index=1
 y = f32[8,16]{1,0} all-reduce(x), replica_groups=mesh['fsdp'=4] {'fsdp'}, to_apply=add, metadata={op_name="jit(f)/layers/mlp/psum" source_file="/home/someone/model.py" source_line=7}
 o = s32[] constant(1)
 j = s32[] add(i, o)
 ROOT t = (s32[], f32[8,16]{1,0}) tuple(j, y) }
cond { p = (s32[], f32[8,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] BOUND
 ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e { z = s32[] constant(0)
 a = f32[8,16]{1,0} parameter(0)
 s = (s32[], f32[8,16]{1,0}) tuple(z, a)
 w = (s32[], f32[8,16]{1,0}) while(s), body=body, condition=cond
 ROOT g = f32[8,16]{1,0} get-tuple-element(w), index=1 }
"""  # noqa: E501
KNOWN = PROGRAM.replace("BOUND", "constant(5)")
UNKNOWN = PROGRAM.replace("BOUND", 'custom-call(), custom_call_target="bound"')


@pytest.fixture
def known(tmp_path: Path) -> str:
    path = tmp_path / "known.hlo"
    path.write_text(KNOWN)
    return str(path)


@pytest.fixture
def unknown(tmp_path: Path) -> str:
    path = tmp_path / "unknown.hlo"
    path.write_text(UNKNOWN)
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(cli, list(arguments))


def read(*arguments: str) -> dict[str, object]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.output)
    return found


def test_cost_of_one_side(known: str) -> None:
    result = run("cost", known, "--top", "2", "--target", "tpu:v5e:2x2")
    assert result.exit_code == 0, result.output
    shown = result.output
    assert "one step on one device" in shown
    assert "estimates from the published peaks of tpu:v5e" in shown
    # five times 128 + 1 additions, six comparisons
    assert "651" in shown
    assert "XLA's rules, loop bodies once" in shown
    assert "all-reduce f32[8,16] at layers/mlp" in shown
    assert "more, together" in shown


def test_cost_json_has_everything(known: str) -> None:
    found = read("cost", known, "--by", "opcode")
    assert found["totals"]["flops"] == {"known": 651, "is_exact": True, "unknown": []}  # type: ignore[index]
    assert found["xla"]["body_once"]["flops"] == 130  # type: ignore[index]
    rows = {row["instruction"]: row for row in found["entries"]}  # type: ignore[attr-defined]
    assert rows["y"]["executions"] == 5
    assert rows["y"]["flops_per_step"] == 640
    assert rows["y"]["source"] == "model.py:7"
    assert rows["y"]["module"] == "layers/mlp"
    assert rows["y"]["seconds"] is None
    assert [group["key"] for group in found["by_opcode"]] == [  # type: ignore[attr-defined]
        "all-reduce", "add", "compare",
    ]  # fmt: skip


def test_an_unknown_loop_is_said_until_it_is_given(unknown: str) -> None:
    shown = run("cost", unknown).output
    assert "loop 'w' runs an unknown number of times" in shown
    assert "at least" in shown or "unknown" in shown
    found = read("cost", unknown, "--trips", "w=5")
    assert found["totals"]["flops"]["known"] == 645 + 6  # type: ignore[index]


@pytest.mark.parametrize(
    ("trips", "problem"),
    [("nothing=3", "no loop is called 'nothing'"), ("w", "'w' is not a loop with a number")],
)
def test_wrong_trips(known: str, trips: str, problem: str) -> None:
    result = run("cost", known, "--trips", trips)
    assert isinstance(result.exception, HloscopeError)
    assert result.exception.problem == problem
    assert result.exception.remedy is not None


def test_cost_between_two_sides(known: str, unknown: str) -> None:
    result = run("cost", known, unknown)
    assert result.exit_code == 0, result.output
    assert "rhs, not counted" in result.output
    same = run("cost", known, known)
    assert "no instruction differs in cost" in same.output
    found = read("cost", known, known)
    assert found["delta"]["flops"]["known"] == 0  # type: ignore[index]
    assert found["delta"]["entries"] == []  # type: ignore[index]


def test_comms_of_one_side(known: str) -> None:
    result = run("comms", known)
    assert result.exit_code == 0, result.output
    shown = result.output
    assert "mesh: fsdp=4" in shown
    # five times 2 * 3/4 * 512 bytes
    assert "3.75 KiB" in shown
    found = read("comms", known, "--by", "module")
    assert found["wire_bytes"] == 5 * 768
    assert found["by_module"] == [
        {"key": "layers/mlp", "collectives": 1, "executions": 5, "wire_bytes": 3840}
    ]


def test_comms_between_two_sides(known: str, tmp_path: Path) -> None:
    other = tmp_path / "other.hlo"
    other.write_text(KNOWN.replace("constant(5)", "constant(7)"))
    shown = run("comms", known, str(other)).output
    assert "runs more often" in shown
    found = read("comms", known, str(other))
    assert found["delta"]["wire_bytes"] == 2 * 768  # type: ignore[index]
    assert "the same collectives run on both sides" in run("comms", known, known).output


def test_output_is_the_same_every_time(known: str) -> None:
    assert run("cost", known).output == run("cost", known).output
    assert run("comms", known, "--json").output == run("comms", known, "--json").output


def test_no_collectives(tmp_path: Path) -> None:
    path = tmp_path / "alone.hlo"
    path.write_text("HloModule m\nENTRY e { ROOT a = f32[8]{0} parameter(0) }\n")
    assert "no device sends anything" in run("comms", str(path)).output
    assert run("cost", str(path)).exit_code == 0
