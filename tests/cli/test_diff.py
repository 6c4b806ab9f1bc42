"""`hloscope diff` from the command line: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden import Goldens

from hloscope import cli
from hloscope.explain.loading import Installed

LHS = """HloModule step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }

%body (carry.1: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {
  %carry.1 = (s32[], f32[8,8]{1,0}) parameter(0)
  %step.2 = s32[] get-tuple-element(%carry.1), index=0
  %one.3 = s32[] constant(1)
  %next.4 = s32[] add(%step.2, %one.3)
  %state.5 = f32[8,8]{1,0} get-tuple-element(%carry.1), index=1
  %dot.6 = f32[8,8]{1,0} dot(%state.5, %state.5), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %tuple.7 = (s32[], f32[8,8]{1,0}) tuple(%next.4, %dot.6)
}

%condition (carry.8: (s32[], f32[8,8])) -> pred[] {
  %carry.8 = (s32[], f32[8,8]{1,0}) parameter(0)
  %step.9 = s32[] get-tuple-element(%carry.8), index=0
  %limit.10 = s32[] constant(12)
  ROOT %less.11 = pred[] compare(%step.9, %limit.10), direction=LT
}

ENTRY %main (w.12: f32[8,8], x.13: f32[8,8]) -> (f32[8,8]) {
  %w.12 = f32[8,8]{1,0} parameter(0), metadata={op_name="params['w']"}
  %x.13 = f32[8,8]{1,0} parameter(1), metadata={op_name="x"}
  %sum.14 = f32[8,8]{1,0} add(%w.12, %x.13)
  %zero.15 = s32[] constant(0)
  %init.16 = (s32[], f32[8,8]{1,0}) tuple(%zero.15, %sum.14)
  %loop.17 = (s32[], f32[8,8]{1,0}) while(%init.16), condition=%condition, body=%body
  %out.18 = f32[8,8]{1,0} get-tuple-element(%loop.17), index=1
  ROOT %result.19 = (f32[8,8]{1,0}) tuple(%out.18)
}
"""
# the same program under other names
RENAMED = LHS.replace("HloModule step", "HloModule other").replace("%dot.6", "%product.6")
# a copy in the loop, the donation gone, another parameter
CHANGED = (
    LHS.replace(", input_output_alias={ {0}: (0, {}, may-alias) }", "")
    .replace(
        "  ROOT %tuple.7 = (s32[], f32[8,8]{1,0}) tuple(%next.4, %dot.6)",
        "  %copy.20 = f32[8,8]{1,0} copy(%dot.6)\n"
        "  ROOT %tuple.7 = (s32[], f32[8,8]{1,0}) tuple(%next.4, %copy.20)",
    )
    .replace(
        "  %sum.14",
        "  %key.21 = u32[2]{0} parameter(2), metadata={op_name=\"rngs['key']\"}\n  %sum.14",
    )
    .replace("x.13: f32[8,8])", "x.13: f32[8,8], key.21: u32[2])")
)


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name, text in {"lhs": LHS, "renamed": RENAMED, "changed": CHANGED}.items():
        Path(f"{name}.hlo").write_text(text)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["hloscope", "diff", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def no_analyzers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is the analyzers' own tests' business, and changes with every new one."""
    monkeypatch.setattr(
        "hloscope.pipeline.explaining.installed",
        lambda: Installed(analyzers={}, owners={}, crashes=()),
    )


@pytest.mark.usefixtures("sides", "no_analyzers")
@pytest.mark.parametrize("rhs", ["lhs", "renamed", "changed"])
def test_what_is_printed(
    rhs: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    goldens: Goldens,
) -> None:
    assert run(monkeypatch, "lhs.hlo", f"{rhs}.hlo") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    goldens.check(f"diff_{rhs}.txt", out)


@pytest.mark.usefixtures("sides", "no_analyzers")
def test_every_change_with_its_neighbours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], goldens: Goldens
) -> None:
    assert run(monkeypatch, "lhs.hlo", "changed.hlo", "--all") == 0
    goldens.check("diff_changed_all.txt", capsys.readouterr().out)


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize(("rhs", "code"), [("lhs", 0), ("renamed", 0), ("changed", 1)])
def test_exit_code_tells_whether_the_sides_differ(
    rhs: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "lhs.hlo", f"{rhs}.hlo", "--exit-code") == code


@pytest.mark.usefixtures("sides", "no_analyzers")
@pytest.mark.parametrize("rhs", ["lhs", "changed"])
def test_a_comment_for_a_pull_request(
    rhs: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    goldens: Goldens,
) -> None:
    assert run(monkeypatch, "lhs.hlo", f"{rhs}.hlo", "--format", "markdown") == 0
    goldens.check(f"diff_{rhs}.md", capsys.readouterr().out)


@pytest.mark.usefixtures("sides", "no_analyzers")
def test_numbers_in_full(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "lhs.hlo", "changed.hlo", "--exact") == 0
    out = capsys.readouterr().out
    assert "bytes moved a step        10,245 B     16,389 B  +6,144 B  +60.0%" in out
    assert "KiB" not in out
    assert "12,377 FLOP" in out


@pytest.mark.usefixtures("sides", "no_analyzers")
def test_other_names_of_inputs_need_no_explanation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("names.hlo").write_text(LHS.replace("params['w']", "weights"))
    assert run(monkeypatch, "lhs.hlo", "names.hlo") == 0
    out = capsys.readouterr().out
    assert out.startswith("SAME PROGRAM, OTHER INPUTS: lhs.hlo against names.hlo\n")
    assert "WHY" not in out


@pytest.mark.usefixtures("sides")
def test_the_first_reason_stands_on_the_first_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "lhs.hlo", "changed.hlo") == 0
    lines = capsys.readouterr().out.splitlines()
    why = lines.index("WHY")
    assert why < 12
    answer = lines[why + 1 : lines.index("", why)]
    assert len(answer) <= 5
    assert answer[-1].startswith("next: hloscope ")


@pytest.mark.usefixtures("sides")
def test_json_says_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "lhs.hlo", "changed.hlo", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["differs"]) == ("different", True)
    assert [leaf["path"] for leaf in found["inputs"]["added"]] == ["rngs['key']"]
    assert [change["change_class"] for change in found["changes"]["header"]] == [
        "donation or aliasing"
    ]
    # 12 turns of a copy of 256 bytes that reads and writes
    assert [region["rhs_bytes"] for region in found["changes"]["regions"]] == [12 * 512, 0]
    assert found["memory"] is None
    assert found["lhs"]["kind"] == "hlo text"


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("lhs.hlo", "gone.hlo"), "'gone.hlo' is neither a file nor a program"),
        (("lhs.hlo", "gpt3-tiny:nnx"), "program 'gpt3-tiny:nnx' needs a target"),
        (("lhs.hlo", "gpt3-tiny:nnx", "-t", "tpu:v5p:9x9"), "'v5p:9x9'"),
        (("lhs.hlo", "gpt3-tny:nnx", "-t", "cpu:1"), "gpt3-tny"),
        (("lhs.hlo", "lhs.hlo", "--xla-flag", "broken"), "'broken' is not NAME=VALUE"),
        (("lhs.hlo", "lhs.hlo", "--depth", "deep"), "'deep' is not one of"),
        (("lhs.hlo", "lhs.hlo", "--json", "--format", "markdown"), "exclude each other"),
        (("lhs.hlo", "empty.hlo"), "empty.hlo"),
    ],
)
def test_trouble_ends_with_2_and_one_message(
    arguments: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty.hlo").touch()
    assert run(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err


PROGRAM = """
import jax, jax.numpy as jnp
from hloscope import Program

def make(devices, donate=True, f32=False):
    def step(params, x):
        y = (x @ params["w"]).astype(jnp.float32 if f32 else jnp.bfloat16)
        return {"w": params["w"] * 2}, y
    w = jax.ShapeDtypeStruct((64, 64), jnp.bfloat16)
    return Program(function=step, args=({"w": w}, w),
                   jit_options={"donate_argnums": (0,) if donate else ()})
"""


@pytest.mark.compile
@pytest.mark.usefixtures("sides")
def test_programs_are_compiled_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Path("mine.py").write_text(PROGRAM)
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    arguments = ("mine:make", "mine:make?donate=false", "-t", "cpu:1", "--json")
    assert run(monkeypatch, *arguments, "--exit-code") == 1
    found = json.loads(capsys.readouterr().out)
    assert {c["part"]: (c["name"], c["lhs"], c["rhs"]) for c in found["environment"]} == {
        "program option": ("donate", None, "False")
    }
    assert [change["fields"] for change in found["inputs"]["changed"]] == [
        [["donated", "True", "False"]]
    ]
    lost = [e for e in found["memory"]["entries"] if e["kind"] == "donation or aliasing lost"]
    assert sum(entry["size"] for entry in lost) == 64 * 64 * 2
    left, right = found["lhs"]["memory"], found["rhs"]["memory"]
    assert left["alias"] - right["alias"] == 64 * 64 * 2
    # a compiler may do without a copy where nothing is overwritten
    assert sum(e["size"] for e in found["memory"]["entries"]) == right["total"] - left["total"]
