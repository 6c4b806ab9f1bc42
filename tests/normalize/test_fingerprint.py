"""What is noise leaves the fingerprint alone, and nothing else does."""

# ruff: noqa: E501 - HLO is written in long lines

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hloscope.errors import HloscopeError
from hloscope.hlo import read_text
from hloscope.normalize import PASSES, NormalizeOptions, fingerprint, normalize

BASE = """HloModule m, is_scheduled=true, input_output_alias={ {1}: (1, {}, may-alias) }

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%body (c: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %c = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %x = f32[8]{0} get-tuple-element(%c), index=1
  %w = f32[8]{0} get-tuple-element(%c), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %step = f32[8]{0} subtract(%x, %w), metadata={op_name="jit(f)/sub" source_file="f.py" source_line=3}
  ROOT %t = (s32[], f32[8]{0}, f32[8]{0}) tuple(%next, %step, %w)
}

%cond (k: (s32[], f32[8], f32[8])) -> pred[] {
  %k = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)
  %n = s32[] get-tuple-element(%k), index=0
  %ten = s32[] constant(10)
  ROOT %lt = pred[] compare(%n, %ten), direction=LT
}

ENTRY %main (p: f32[8], q: f32[8]) -> (f32[], f32[8]) {
  %p = f32[8]{0} parameter(0), metadata={op_name="params['x']"}
  %q = f32[8]{0} parameter(1), metadata={op_name="params['y']"}
  %zero = s32[] constant(0)
  %init = (s32[], f32[8]{0}, f32[8]{0}) tuple(%zero, %p, %q)
  %loop = (s32[], f32[8]{0}, f32[8]{0}) while(%init), condition=%cond, body=%body
  %out = f32[8]{0} get-tuple-element(%loop), index=1
  %all = f32[8]{0} all-reduce(%out), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=%sum
  %z = f32[] constant(0)
  %total = f32[] reduce(%all, %z), dimensions={0}, to_apply=%sum
  ROOT %r = (f32[], f32[8]{0}) tuple(%total, %q)
}
"""

CARRY = (
    ("(s32[], f32[8]{0}, f32[8]{0})", "(f32[8]{0}, s32[], f32[8]{0})"),
    ("%i = s32[] get-tuple-element(%c), index=0", "%i = s32[] get-tuple-element(%c), index=1"),
    ("%x = f32[8]{0} get-tuple-element(%c), index=1", "%x = f32[8]{0} get-tuple-element(%c), index=2"),
    ("%w = f32[8]{0} get-tuple-element(%c), index=2", "%w = f32[8]{0} get-tuple-element(%c), index=0"),
    ("tuple(%next, %step, %w)", "tuple(%w, %next, %step)"),
    ("%n = s32[] get-tuple-element(%k), index=0", "%n = s32[] get-tuple-element(%k), index=1"),
    ("tuple(%zero, %p, %q)", "tuple(%q, %zero, %p)"),
    ("get-tuple-element(%loop), index=1", "get-tuple-element(%loop), index=2"),
)  # fmt: skip
PARAMETERS = (
    ("%p = f32[8]{0} parameter(0)", "%p = f32[8]{0} parameter(1)"),
    ("%q = f32[8]{0} parameter(1)", "%q = f32[8]{0} parameter(0)"),
    ("(1, {}, may-alias)", "(0, {}, may-alias)"),
)
NOISE = {
    "names": (("%step", "%fusion.17"), ("HloModule m", "HloModule other"), ("%sum", "%region_0.4")),
    "metadata": (('op_name="jit(f)/sub" source_file="f.py" source_line=3', 'op_name="elsewhere"'),),
    "instruction order": (
        (
            "  %one = s32[] constant(1)\n  %next = s32[] add(%i, %one)\n",
            "",
        ),
        (
            "  ROOT %t = ",
            "  %one = s32[] constant(1)\n  %next = s32[] add(%i, %one)\n  ROOT %t = ",
        ),
    ),
    "parameter order": PARAMETERS,
    "carry positions": CARRY,
    "result positions": (
        ("tuple(%total, %q)", "tuple(%q, %total)"),
        ("ROOT %r = (f32[], f32[8]{0})", "ROOT %r = (f32[8]{0}, f32[])"),
        ("{ {1}: (1", "{ {0}: (1"),
    ),
    "channel ids": (("channel_id=1", "channel_id=44"),),
    "iota groups": (("{{0,1},{2,3}}", "[2,2]<=[4]"),),
    "commuted": (("add(%a, %b)", "add(%b, %a)"), ("add(%i, %one)", "add(%one, %i)")),
    "schedule dropped": ((", is_scheduled=true", ""),),
    "layout": (("%all = f32[8]{0}", "%all = f32[8]{0:T(256)}"),),
    "dead elements": (
        ("  %one =", "  %unread = f32[8]{0} get-tuple-element(%c), index=1\n  %one ="),
        ("  %total =", "  %unused = s32[] get-tuple-element(%loop), index=0\n  %total ="),
    ),
}
DIFFERENT = {
    "constant": (("constant(10)", "constant(11)"),),
    "swapped operands": (("subtract(%x, %w)", "subtract(%w, %x)"),),
    "swapped parameters": (("tuple(%zero, %p, %q)", "tuple(%zero, %q, %p)"),),
    "replica group": (("{{0,1},{2,3}}", "{{0,2},{1,3}}"),),
    "order inside a group": (("{{0,1},{2,3}}", "{{1,0},{2,3}}"),),
    "no channel": (("channel_id=1, ", ""),),
    "donation": ((", input_output_alias={ {1}: (1, {}, may-alias) }", ""),),
    "must alias": (("may-alias", "must-alias"),),
    "opcode": (("subtract", "divide"),),
    "reducer": (("add(%a, %b)", "maximum(%a, %b)"),),
    "dead code": (("  ROOT %lt", "  %dead = s32[] constant(7)\n  ROOT %lt"),),
    "other result": (("tuple(%total, %q)", "tuple(%total, %p)"),),
    "replicas": (("HloModule m", "HloModule m, replica_count=2"),),
    "wait": (("%zero = s32[] constant(0)", "%zero = s32[] constant(0), control-predecessors={%p}"),),
    "shared or twice": (
        ("subtract(%x, %w)", "subtract(%x, %w2)"),
        ("  %one =", "  %w2 = f32[8]{0} copy(%w)\n  %one ="),
    ),
}  # fmt: skip


def written(*edits: tuple[str, str]) -> str:
    text = BASE
    for old, new in edits:
        text = text.replace(old, new)
    return text


def print_of(text: str, options: NormalizeOptions = NormalizeOptions()) -> str:  # noqa: B008
    (module,) = read_text(text)
    return fingerprint(normalize(module, options=options))


@pytest.mark.parametrize("name", NOISE)
def test_noise_is_not_seen(name: str) -> None:
    text = written(*NOISE[name])
    assert text != BASE
    assert print_of(text) == print_of(BASE)


def test_all_noise_at_once_is_not_seen() -> None:
    edits = [
        edit for name in NOISE if name not in ("names", "result positions") for edit in NOISE[name]
    ]
    assert print_of(written(*edits)) == print_of(BASE)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_seen(name: str) -> None:
    text = written(*DIFFERENT[name])
    assert text != BASE
    assert print_of(text) != print_of(BASE)


@pytest.mark.parametrize("name", ["schedule dropped", "layout", "instruction order"])
def test_strict_keeps_layouts_and_the_schedule(name: str) -> None:
    strict = NormalizeOptions(strict=True)
    assert print_of(written(*NOISE[name]), strict) != print_of(BASE, strict)


@pytest.mark.parametrize(
    "name", ["names", "metadata", "parameter order", "carry positions", "dead elements"]
)
def test_strict_sees_no_other_noise(name: str) -> None:
    strict = NormalizeOptions(strict=True)
    assert print_of(written(*NOISE[name]), strict) == print_of(BASE, strict)


SWITCHES = {
    "names": "names",
    "metadata": "metadata",
    "instruction-order": "instruction order",
    "parameter-order": "parameter order",
    "tuple-positions": "carry positions",
    "channel-ids": "channel ids",
    "replica-groups": "iota groups",
    "dead-elements": "dead elements",
    "commutative-operands": "commuted",
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_pass_can_be_switched_off(name: str) -> None:
    off = NormalizeOptions(off=frozenset({name}))
    assert print_of(written(*NOISE[SWITCHES[name]]), off) != print_of(BASE, off)


def test_an_unknown_pass_is_refused() -> None:
    with pytest.raises(HloscopeError, match="unknown normalization pass 'nix'"):
        print_of(BASE, NormalizeOptions(off=frozenset({"nix"})))


def test_normalizing_the_printed_module_again_changes_nothing() -> None:
    from hloscope.hlo import print_module

    (module,) = read_text(BASE)
    (again,) = read_text(print_module(module))
    assert normalize(again) == normalize(module)


def test_the_fingerprint_is_the_same_in_every_process(tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(BASE)
    script = (
        "import sys; from hloscope.hlo import read_text; from hloscope.normalize import normalize;"
        "print(normalize(read_text(open(sys.argv[1]).read())[0]).full_fingerprint)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script, str(file)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_every_pass_is_documented_with_its_example() -> None:
    page = (Path(__file__).parents[2] / "docs" / "normalization.md").read_text()
    for one in PASSES:
        assert f"| `{one.name}` | {one.removes} |" in page
        assert one.before in page
        assert one.after in page
