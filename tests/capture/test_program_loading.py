from __future__ import annotations

import pytest

from hloscope.capture.program_loading import check_spec, is_reference, parse_options
from hloscope.cli.capture import default_name
from hloscope.cli.sides import parse_flags
from hloscope.errors import HloscopeError


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        ("a=1&b=-2", {"a": 1, "b": -2}),
        ("a=1.5&b=1e-3&c=.5", {"a": 1.5, "b": 1e-3, "c": 0.5}),
        ("a=true&b=False", {"a": True, "b": False}),
        ("a=text&b=v1.2&c=&d=1,2", {"a": "text", "b": "v1.2", "c": "", "d": "1,2"}),
        ("a=x%26y%3Dz", {"a": "x&y=z"}),
    ],
)
def test_options_are_typed_by_how_they_look(text: str, options: dict[str, object]) -> None:
    parsed = parse_options(text, "m:f")
    assert parsed == options
    assert [type(value) for value in parsed.values()] == [type(v) for v in options.values()]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("a", "option 'a' is not name=value"), ("=1", "'=1'"), ("a=1&a=2", "'a' is given twice")],
)
def test_wrong_options_are_named(text: str, problem: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        parse_options(text, "m:f")
    assert problem in caught.value.problem
    assert caught.value.where == "m:f"


@pytest.mark.parametrize(
    ("spec", "reference"),
    [
        ("gpt3-6b:nnx", True),
        ("gpt3-tiny:linen?layers=2", True),
        ("gpt3-tiny", True),
        ("gpt3-6:nnx", True),
        ("misspelt:nnx", True),
        ("json:nnx", False),
        ("my.package:build?layers=4", False),
        ("mine:Factory.build", False),
    ],
)
def test_reference_programs_are_told_from_factories(spec: str, reference: bool) -> None:
    assert is_reference(spec) == reference


def test_a_wrong_reference_is_refused_without_jax() -> None:
    with pytest.raises(HloscopeError, match="unknown program 'gpt4-6b'"):
        check_spec("gpt4-6b:nnx")
    check_spec("gpt3-tiny:nnx?layers=2")
    check_spec("my.package:build")


def test_flags_lose_their_dashes() -> None:
    assert parse_flags(("--xla_a=true", "xla_b=x=y")) == {"xla_a": "true", "xla_b": "x=y"}
    for wrong in (("xla_a",), ("=1",), ("xla_a=1", "xla_a=2")):
        with pytest.raises(HloscopeError):
            parse_flags(wrong)


def test_the_default_name_is_a_plain_file_name() -> None:
    name = default_name("gpt3-6b:nnx?layers=4&scan=false", "tpu:v5p:2x2x2")
    assert name == "gpt3-6b-nnx-layers-4-scan-false.tpu-v5p-2x2x2.hloscope"
