"""A gate whose toolchain changed: the baseline's code captured again, code and tools apart."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from user_repository import Desk, make_desk

pytestmark = pytest.mark.compile

CONFIG = """
target = "cpu:1"
{toolchain}

[programs.step]
program = "pkg.train:step?n=1024"
"""

PROGRAM = """
import jax
import jax.numpy as jnp

import hloscope

DONATE = (0,)


def update(w, x):
    return w * 0.9 + jnp.tanh(x @ x.T).sum()


def step(devices, n=64):
    w = jax.ShapeDtypeStruct((n, n), jnp.float32)
    x = jax.ShapeDtypeStruct((8, n), jnp.float32)
    return hloscope.Program(function=update, args=(w, x), jit_options={"donate_argnums": DONATE})
"""

HARMLESS = PROGRAM.replace("update", "renamed").replace("DONATE", "GIVEN")
REGRESSED = PROGRAM.replace("DONATE = (0,)", "DONATE = ()")
RECORD = "baselines/step/cpu-1/baseline.json"


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A repository whose program has a baseline of its only commit, to be copied."""
    desk = make_desk(tmp_path_factory.mktemp("gated"))
    (desk.folder / "hloscope.toml").write_text(CONFIG.format(toolchain=""))
    desk.commit("a gate", train=PROGRAM)
    done = desk.run("gate", "--update")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "PASSED: 1 program")
    desk.commit("a baseline")
    return desk


@pytest.fixture
def copy(gated: Desk, tmp_path: Path) -> Desk:
    shutil.copytree(gated.folder, tmp_path / "work")
    folder = tmp_path / "work"
    return replace(gated, folder=folder, package=folder / "pkg")


def edit(desk: Desk, change: Callable[[dict[str, Any]], object]) -> None:
    record = desk.folder / RECORD
    found = json.loads(record.read_text())
    change(found)
    record.write_text(json.dumps(found))


def another_jax(found: dict[str, Any]) -> None:
    found["environment"]["version jax"] = "0.9.9"


def smaller(found: dict[str, Any]) -> None:
    """As if the other toolchain had moved fewer bytes."""
    another_jax(found)
    figure = found["figures"]["bytes"]["value"]
    figure["value"] = int(figure["value"] / 2)


def judge(desk: Desk) -> tuple[int, str, dict[str, Any]]:
    """Exit code, the first line, and the judgement of the one program."""
    before = desk.git("worktree", "list")
    done = desk.run("gate", "--write", "json=gate.json")
    assert done.stderr == ""
    assert desk.git("worktree", "list") == before
    (found,) = json.loads((desk.folder / "gate.json").read_text())["programs"]
    return done.returncode, done.stdout.splitlines()[0], found


def statuses(found: dict[str, Any], *wanted: str) -> dict[str, str]:
    return {c["name"]: c["status"] for c in found["checks"] if c["status"] in wanted}


def changed(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["name"], each["lhs"]) for each in found["toolchain"]]


def test_code_that_only_looks_otherwise_passes(copy: Desk) -> None:
    edit(copy, another_jax)
    copy.commit("refactored", train=HARMLESS)
    code, first, found = judge(copy)
    assert (code, first) == (0, "PASSED: 1 program")
    assert changed(found) == [("version jax", "0.9.9")]
    assert statuses(found, "passed")["toolchain: hbm-total"] == "passed"


def test_code_that_regressed_is_the_code(copy: Desk) -> None:
    edit(copy, another_jax)
    copy.write(train=REGRESSED)
    code, first, found = judge(copy)
    assert code == 1
    assert first.startswith("REGRESSED step on cpu:1: rhs does not donate w, as lhs does (DON001)")
    assert statuses(found, "regressed") == {"hbm-total": "regressed"}
    assert changed(found) == [("version jax", "0.9.9")]


def test_other_sources_are_no_cause(copy: Desk) -> None:
    """What is donated is too small for a finding, and the revisions are there to be compared."""
    edit(copy, another_jax)
    small = CONFIG.format(toolchain='toolchain = "shown"').replace("n=1024", "n=96")
    (copy.folder / "hloscope.toml").write_text(small)
    copy.write(train=REGRESSED)
    code, first, found = judge(copy)
    assert code == 1
    assert "ENV005" not in first
    assert "ENV005" not in found["cause"]


def test_tools_that_regressed_are_the_tools(copy: Desk) -> None:
    edit(copy, smaller)
    code, first, found = judge(copy)
    assert code == 1
    assert first.startswith("REGRESSED step on cpu:1: the toolchain changed: version jax 0.9.9 -> ")
    assert statuses(found, "regressed") == {"toolchain: bytes": "regressed"}


def test_tools_may_be_shown_and_code_judged(copy: Desk) -> None:
    edit(copy, smaller)
    (copy.folder / "hloscope.toml").write_text(CONFIG.format(toolchain='toolchain = "shown"'))
    code, first, found = judge(copy)
    assert (code, first) == (0, "PASSED: 1 program")
    assert "toolchain: bytes" in statuses(found, "shown")
    copy.write(train=REGRESSED)
    code, first, found = judge(copy)
    assert code == 1
    assert statuses(found, "regressed") == {"hbm-total": "regressed"}


def test_a_revision_that_is_not_at_hand(copy: Desk) -> None:
    edit(copy, lambda found: (another_jax(found), found.update(git_revision="f" * 40)))
    copy.write(train=REGRESSED)
    code, first, found = judge(copy)
    assert code == 2
    assert first.startswith("CANNOT DECIDE step on cpu:1: environment: the baseline is of another")
    assert changed(found) == [("version jax", "0.9.9")]
    (check,) = (c for c in found["checks"] if c["status"] == "undecided")
    assert f"code and tools cannot be told apart: no revision '{'f' * 40}'" in check["reason"]
    assert check["remedy"].startswith("make the revision available (git fetch --unshallow), or ")


def test_a_baseline_of_no_revision(copy: Desk) -> None:
    edit(copy, lambda found: (another_jax(found), found.update(git_revision=None)))
    copy.write(train=REGRESSED)
    code, first, found = judge(copy)
    assert code == 2
    assert first.startswith("CANNOT DECIDE step on cpu:1: environment: the baseline is of another")
    assert statuses(found, "undecided") == {"environment": "undecided"}


def test_a_flag_is_no_toolchain(copy: Desk) -> None:
    edit(copy, another_jax)
    edit(copy, lambda found: found["environment"].update({"jax config jax_enable_x64": "True"}))
    code, _, found = judge(copy)
    assert (code, found["toolchain"]) == (2, [])
    assert statuses(found, "undecided") == {"environment": "undecided"}
