from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from hloscope.cli import cli
from hloscope.hlo.schema import hlo_pb2 as pb

MakeText = Callable[..., str]
MakeProto = Callable[..., pb.HloProto]

LOOP = """HloModule jit_f, entry_computation_layout={(f32[8]{0})->(s32[], f32[8]{0})}

%cond {
  %c = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %k = s32[] constant(4)
  ROOT %l = pred[] compare(%i, %k), direction=LT
}

%body {
  %c = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %x = f32[8]{0} get-tuple-element(%c), index=1
  %one = s32[] constant(1)
  %n = s32[] add(%i, %one)
  ROOT %t = (s32[], f32[8]{0}) tuple(%n, %x)
}

ENTRY %main {
  %p = f32[8]{0} parameter(0), metadata={op_name="state['w']"}
  %zero = s32[] constant(0)
  %init = (s32[], f32[8]{0}) tuple(%zero, %p)
  ROOT %w = (s32[], f32[8]{0}) while(%init), condition=%cond, body=%body, metadata={op_name="jit(f)/Model/while"}
}
"""  # noqa: E501


def show(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["show", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_json_says_everything(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text(LOOP)
    assert json.loads(show(str(path), "--json")) == {
        "label": str(path),
        "kind": "hlo text",
        "module": "jit_f",
        "scheduled": False,
        "computations": 3,
        "instructions": 14,
        "entry": "main",
        "opcodes": {
            "constant": 3,
            "get-tuple-element": 3,
            "parameter": 3,
            "tuple": 2,
            "add": 1,
            "compare": 1,
            "while": 1,
        },
        "parameters": [
            {
                "number": 0,
                "name": "p",
                "shape": "f32[8]{0}",
                "bytes": 32,
                "op_name": "state['w']",
                "sharding": None,
            }
        ],
        "results": {"shape": "(s32[], f32[8]{0})", "bytes": 36},
        "loops": [
            {
                "name": "w",
                "in": "main",
                "trips": 4,
                "reason": None,
                "body_instructions": 6,
                "carried": 2,
                "scope": "Model",
            }
        ],
        "memory": None,
        "measured_instructions": 0,
        "measured_seconds": None,
        "has_module_before_optimization": False,
        "header": {"entry_computation_layout": "{(f32[8]{0})->(s32[], f32[8]{0})}"},
        "notes": [],
    }


def test_the_summary_for_people(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text(LOOP)
    lines = [line.rstrip() for line in show(str(path)).splitlines()]
    assert lines[:3] == [
        "jit_f (hlo text)",
        "14 instructions in 3 computations, entry 'main', not scheduled",
        "memory: the source has no buffer assignment",
    ]
    assert "w         4     6        2  Model" in lines
    assert "state['w']  f32[8]{0}   32 B" in lines


def test_memory_figures_of_a_proto(tmp_path: Path, make_proto: MakeProto) -> None:
    path = tmp_path / "a.hlo.pb"
    path.write_bytes(make_proto().SerializeToString())
    memory = json.loads(show(str(path), "--json"))["memory"]
    assert (memory["temp"], memory["source"]) == (8, "buffer assignment")
    assert memory["code"] == {"missing": "generated code is known at depth full alone"}


def test_unknown_sizes_are_not_zero(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("HloModule m\nENTRY e {\n  p = f32[?] parameter(0)\n}\n")
    assert json.loads(show(str(path), "--json"))["parameters"][0]["bytes"] is None
    assert "1 parameters, 0 B without padding, and 1 of unknown size" in show(str(path))


def test_the_same_file_gives_the_same_bytes(tmp_path: Path, make_text: MakeText) -> None:
    path = tmp_path / "a.hlo"
    path.write_text(make_text("f") + make_text("g"))
    assert show(str(path), "--module", "g") == show(str(path), "--module", "g")
