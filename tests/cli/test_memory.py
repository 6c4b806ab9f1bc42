"""`hloscope memory` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hloscope.cli import cli
from hloscope.errors import HloscopeError


def _pair(corpus: Path) -> list[str]:
    folders = [corpus / "maxtext_aot" / f"gpt3-52k.{stack}" for stack in ("linen", "nnx")]
    return [str(next(f.glob("*after_optimizations.hlo.pb"))) for f in folders]


def run(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["memory", *arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0
    return result.output


def test_one_side_fits_eighty_columns(corpus: Path) -> None:
    text = run(_pair(corpus)[0], "--top", "4")
    assert max(map(len, text.splitlines())) <= 80
    assert "bf16[4,2,2048,2048]{2,3,1,0:T(8,128)(2,1)}" in text
    assert "unattributed 0 B" in " ".join(text.split())


@pytest.mark.parametrize("by", ["buffer", "module", "category", "source"])
def test_two_sides_name_the_gap(corpus: Path, by: str) -> None:
    text = run(*_pair(corpus), "--by", by)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert "holds 15.00 KiB more of hbm" in words
    assert "argument added +15.00 KiB 30" in words
    assert "unattributed: 0 B" in words


def test_json_has_every_entry(corpus: Path) -> None:
    found = json.loads(run(*_pair(corpus), "--json"))
    delta = found["delta"]
    assert (delta["bytes"], delta["unattributed_bytes"]) == (15_360, 0)
    assert sum(entry["bytes"] for entry in delta["entries"]) == 15_360
    for side in ("lhs", "rhs"):
        assert sum(e["bytes"] for e in found[side]["entries"]) == found[side]["bytes"]
        assert sum(found[side]["by_category"].values()) == found[side]["bytes"]


def test_json_is_the_same_every_time(corpus: Path) -> None:
    arguments = (*_pair(corpus), "--json")
    assert run(*arguments) == run(*arguments)


def test_other_spaces_and_instants(corpus: Path) -> None:
    path = _pair(corpus)[1]
    vmem = json.loads(run(path, "--space", "vmem", "--json"))
    assert vmem == json.loads(run(path, "--space", "1", "--json"))
    assert vmem["by_category"]["argument"] == 0 < vmem["by_category"]["temporary"]
    instant = json.loads(run(path, "--at", "fusion.88", "--json"))
    assert instant["at"] == {"peak": False, "computation": "", "instruction": "fusion.88"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--space", "attic"), "unknown memory space 'attic'"),
        (("--at", "nobody"), "no scheduled instruction 'nobody'"),
    ],
)
def test_wrong_options_say_what_would_be_right(
    corpus: Path, arguments: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(HloscopeError, match=problem) as error:
        run(_pair(corpus)[0], *arguments)
    assert error.value.remedy


def test_text_without_buffers_is_refused(corpus: Path) -> None:
    with pytest.raises(HloscopeError, match="has no buffer assignment"):
        run(str(corpus / "hlo_diff_pairs" / "similarity__ConstantPropertySimilarity.L.hlo"))
