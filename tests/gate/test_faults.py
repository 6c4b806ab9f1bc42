"""Some of the faults and harmless edits that benchmarks/gate_faults.py seeds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.gate_edits import FAULTS, HARMLESS
from benchmarks.gate_project import Edit, Project

CHOSEN = (
    "optimizer state in f32",
    "gradients returned for a look",
    "residual stream in f32",
    "sharding of results lost",
    "a function moved to another file",
)
pytestmark = pytest.mark.compile


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project with its baselines."""
    folder = tmp_path_factory.mktemp("faults")
    project = Project(folder / "base", folder / "cache")
    project.write("cpu:8")
    assert project.gate("--update") == (0, "PASSED: 2 programs")
    return project


@pytest.mark.parametrize(
    "made", [e for e in FAULTS + HARMLESS if e.name in CHOSEN], ids=lambda e: e.name
)
def test_names_faults_and_passes_the_rest(judged: Project, made: Edit, tmp_path: Path) -> None:
    copy = judged.copy(tmp_path / "copy")
    copy.change(made)
    code, line = copy.gate("train")
    assert made.is_judged_well(code, line), (code, line)


@pytest.mark.parametrize(
    ("code", "line", "good"),
    [
        (1, "REGRESSED: rhs takes more (INP001) at a.py:3; also INP003", True),
        (1, "REGRESSED: rhs computes in f32 (PRE001); INP001 may never appear", False),
        (2, "CANNOT DECIDE: rhs takes more (INP001)", False),
        (0, "PASSED: 2 programs", False),
    ],
)
def test_the_first_code_of_a_failed_gate_counts(code: int, line: str, good: bool) -> None:
    assert Edit("leaf", (), ("INP001",)).is_judged_well(code, line) is good
