"""The GitHub action's shell steps, run as the runner runs them, with stand-ins for the tools."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
STEPS: dict[str, Any] = {
    step["name"]: step
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
}

HLOSCOPE = """#!/bin/sh
printf '%s\\n' "$@" > "$RUNNER_TEMP/arguments"
for argument in "$@"; do
  case "$argument" in
    markdown=*) [ "$CODE" = 3 ] || echo "### REGRESSED" > "${argument#markdown=}";;
  esac
done
exit "$CODE"
"""
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$RUNNER_TEMP/calls"
case "$*" in *--paginate*) printf '%s' "$FOUND";; esac
"""


@pytest.fixture
def run(tmp_path: Path) -> Any:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("hloscope", HLOSCOPE), ("gh", GH)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def step(name: str, **variables: str) -> int:
        environment = {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            **variables,
        }
        # as the runner starts `shell: bash`
        command = [
            "bash",
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            STEPS[name]["run"],
        ]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=False).returncode

    return step


def _read(path: Path, name: str) -> str:
    return (path / name).read_text()


@pytest.mark.parametrize("code", ["0", "1", "2"])
def test_the_gates_verdict_is_the_actions(run: Any, tmp_path: Path, code: str) -> None:
    assert run("Gate", CODE=code, NAMES="train decode", CONFIG="x.toml") == 0
    assert _read(tmp_path, "output") == f"exit-code={code}\n"
    assert _read(tmp_path, "summary") == "### REGRESSED\n"
    arguments = _read(tmp_path, "arguments").split("\n")
    assert arguments[:5] == ["gate", "train", "decode", "--config", "x.toml"]
    assert run("Verdict", CODE=code) == int(code)


def test_a_gate_that_never_judged_says_so(run: Any, tmp_path: Path) -> None:
    assert run("Gate", CODE="3", NAMES="", CONFIG="") == 0
    assert "ended with 3" in _read(tmp_path, "summary")
    assert _read(tmp_path, "arguments").split("\n")[:2] == ["gate", "--format"]


@pytest.mark.parametrize(("found", "method"), [("", "POST"), ("77", "PATCH")])
def test_there_is_one_comment(run: Any, tmp_path: Path, found: str, method: str) -> None:
    (tmp_path / "hloscope.md").write_text("### PASSED\n")
    assert run("Comment", FOUND=found, REPOSITORY="o/r", NUMBER="5") == 0
    last = _read(tmp_path, "calls").splitlines()[-1]
    place = f"issues/comments/{found}" if found else "issues/5/comments"
    assert last.startswith(f"api --method {method} repos/o/r/{place} ")
    assert _read(tmp_path, "comment.md") == "<!-- hloscope gate -->\n### PASSED\n"
