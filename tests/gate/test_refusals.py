"""Every configuration that a gate refuses, from the command line, before it compiles anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hloscope.cli import cli
from hloscope.errors import HloscopeError

GOOD = '[programs.p]\nprogram = "a.b:c"\ntarget = "cpu:1"\n'
WAIVER = "[[waivers]]\nprogram = 'p'\ncheck = 'flops'\nreason = 'x'\nexpires = {}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path / "cache"))


def refused(*arguments: str) -> HloscopeError:
    result = CliRunner().invoke(cli, ["gate", *arguments], standalone_mode=False)
    assert isinstance(result.exception, HloscopeError), (result.exception, result.output)
    return result.exception


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ("a = [", "hloscope.toml", "not TOML: "),
        ("[tool.hloscope]\n" + GOOD, "hloscope.toml", "unknown key 'tool'"),
        (GOOD + WAIVER.format("2027-02-30"), "hloscope.toml", "not TOML: "),
        (
            GOOD + WAIVER.format("2027-02-03T04:05:06"),
            "hloscope.toml: waivers[0].expires",
            "'2027-02-03 04:05:06' is no date",
        ),
        (
            GOOD + WAIVER.format("'2027-02-03'"),
            "hloscope.toml: waivers[0].expires",
            "'2027-02-03' is no date",
        ),
        ("waivers = 3\n" + GOOD, "hloscope.toml: waivers", "'3' is no list"),
        ("waivers = [3]\n" + GOOD, "hloscope.toml: waivers", "'3' is no table"),
        ("baselines = 3\n" + GOOD, "hloscope.toml: baselines", "'3' is no string"),
        ("budgets = 3\n" + GOOD, "hloscope.toml: budgets", "'3' is no table"),
        ("toolchain = 'no'\n" + GOOD, "hloscope.toml: toolchain", "unknown toolchain 'no'"),
        ("graph = 3\n" + GOOD, "hloscope.toml: graph", "'3' is no string"),
        (GOOD + "targets = 'cpu:1'", "hloscope.toml: programs.p.targets", "'cpu:1' is no list"),
        (GOOD + "xla_flags = 1", "hloscope.toml: programs.p.xla_flags", "'1' is no table"),
        (GOOD + "traget = 1", "hloscope.toml: programs.p", "unknown key 'traget'"),
        ("[programs]\np = 3", "hloscope.toml: programs.p", "'3' is no table"),
    ],
)
def test_a_configuration(text: str, where: str, problem: str) -> None:
    Path("hloscope.toml").write_text(text)
    error = refused()
    assert error.where == where
    assert error.problem.startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[programs."a b"]\nprogram = "m:f"\n[programs.a-b]\nprogram = "m:g"\n',
            "'a b' and 'a-b' would share the baseline folder 'a-b/cpu-1'",
        ),
        (
            '[programs.p]\nprogram = "m:f"\ntargets = ["cpu:1", "cpu:1"]\n',
            "'p' and 'p' would share the baseline folder 'p/cpu-1'",
        ),
        ('[programs.".."]\nprogram = "m:f"\n', "'..' names no folder"),
    ],
)
def test_names_that_make_no_folder_of_their_own(text: str, problem: str) -> None:
    Path("hloscope.toml").write_text('target = "cpu:1"\n' + text)
    error = refused()
    assert (error.where, error.problem) == ("hloscope.toml: programs", problem)
    assert error.remedy


def test_no_file() -> None:
    missing = refused("--config", "no.toml")
    assert missing.problem == "cannot read 'no.toml': no such file or directory"
    Path("folder.toml").mkdir()
    folder = refused("--config", "folder.toml")
    assert folder.problem == "cannot read 'folder.toml': is a directory"


@pytest.mark.parametrize("name", ["hloscope.toml", "pyproject.toml"])
def test_a_file_that_is_no_text(name: str) -> None:
    Path(name).write_bytes(b"\xff\xfe[tool.hloscope]")
    assert refused().problem.startswith(f"cannot read '{name}': ")


def test_a_pyproject_without_a_gate() -> None:
    Path("pyproject.toml").write_text("[tool.hloscope]\n")
    error = refused()
    assert (error.where, error.problem) == ("pyproject.toml: tool.hloscope", "no program is gated")
    assert refused("--config", "pyproject.toml").problem == "no program is gated"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--write", "gate.xml"], "'gate.xml' is not FORMAT=FILE"),
        (["--write", "xml=gate.xml"], "'xml=gate.xml' is not FORMAT=FILE"),
        (["--write", "json="], "'json=' is not FORMAT=FILE"),
        (["q"], "no program 'q'"),
    ],
)
def test_arguments(arguments: list[str], problem: str) -> None:
    Path("hloscope.toml").write_text(GOOD)
    assert refused(*arguments).problem == problem


def test_a_location_that_cannot_be_had() -> None:
    Path("hloscope.toml").write_text('baselines = "qs://bucket/folder"\n' + GOOD)
    result = CliRunner().invoke(cli, ["gate"], standalone_mode=False)
    assert (result.exception, result.return_value) == (None, 2)
    assert "no file system is known for 'qs://'" in " ".join(result.output.split())


def test_series_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    Path("hloscope.toml").write_text("series = true\n" + GOOD)
    monkeypatch.setattr(metadata, "version", missing)
    assert refused().problem == "jax is not installed, and baselines are kept by its series"


@pytest.mark.parametrize("arguments", [["--jobs", "0"], ["--timeout", "0"], ["--format", "xml"]])
def test_the_command_itself_ends_with_2(arguments: list[str]) -> None:
    Path("hloscope.toml").write_text(GOOD)
    done = subprocess.run(
        [sys.executable, "-m", "hloscope", "gate", *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert done.stderr
