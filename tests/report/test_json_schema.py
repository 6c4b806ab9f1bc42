"""The published schema is the code's own, and real results keep to it."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import hloscope
from hloscope.cli import cli
from hloscope.report.json_schema import diff_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "diff.json"
LHS = """HloModule step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY %main (w: f32[8,8], x: f32[8,8]) -> (f32[8,8]) {
  %w = f32[8,8]{1,0} parameter(0), metadata={op_name="params['w']"}
  %x = f32[8,8]{1,0} parameter(1), metadata={op_name="x"}
  %sum = f32[8,8]{1,0} add(%w, %x), metadata={source_file="a.py" source_line=3}
  ROOT %result = (f32[8,8]{1,0}) tuple(%sum)
}
"""
RHS = LHS.replace("add(", "multiply(").replace(
    ", input_output_alias={ {0}: (0, {}, may-alias) }", ""
)


@pytest.fixture
def validator() -> Draft202012Validator:
    schema = diff_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    cli(list(arguments), standalone_mode=False)
    return capsys.readouterr().out


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    for name, text in (("lhs", LHS), ("rhs", RHS)):
        (tmp_path / f"{name}.hlo").write_text(text)
    return [str(tmp_path / f"{name}.hlo") for name in ("lhs", "rhs")]


def test_the_schema_is_published(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    text = _printed(capsys, "schema", "diff")
    if request.config.getoption("--update-goldens"):
        PUBLISHED.write_text(text)
    assert text == PUBLISHED.read_text()


def test_a_result_keeps_to_it(
    validator: Draft202012Validator, sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for rhs in sides:
        found = json.loads(_printed(capsys, "diff", sides[0], rhs, "--format", "json"))
        validator.validate(found)
        assert found == json.loads(_printed(capsys, "diff", sides[0], rhs, "--json"))


@pytest.mark.parametrize(
    "break_it",
    [
        lambda found: found.pop("explanation"),
        lambda found: found.update(verdict="alike"),
        lambda found: found["changes"]["regions"][0].pop("lhs_bytes"),
        lambda found: found["changes"]["regions"][0].update(more=1),
        lambda found: found["cost"].update(equal=None),
    ],
)
def test_what_is_not_a_result_does_not(
    break_it: object,
    validator: Draft202012Validator,
    sides: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = json.loads(_printed(capsys, "diff", *sides, "--format", "json"))
    broken = copy.deepcopy(found)
    assert callable(break_it)
    break_it(broken)
    assert not validator.is_valid(broken)


@pytest.mark.compile
def test_results_of_real_programs_keep_to_it(validator: Draft202012Validator) -> None:
    from hloscope.report.comparison_json import comparison_json

    sides = ("gpt3-tiny:linen", "gpt3-tiny:nnx")
    comparison = hloscope.compare(*sides, target="cpu:1")
    validator.validate(json.loads(json.dumps(comparison_json(comparison), allow_nan=False)))
    assert comparison.explanation.analyzers
