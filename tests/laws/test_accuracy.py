"""A slice of the accuracy benchmark, on programs compiled here."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.accuracy_edits import (
    edit_cases,
    edits_table,
    named_by_hloscope,
    score_edits,
    total_score,
)
from benchmarks.accuracy_noise import score_noise
from benchmarks.made import make_module
from benchmarks.programs import compiled_modules
from hloscope.hlo import read_proto
from hloscope.model.hlo import Module

PROGRAMS = ("mlp_train", "nested_loops", "conditional", "manual_collectives")


@pytest.fixture(scope="module")
def pool() -> dict[str, Module]:
    paths = compiled_modules(("cpu",), PROGRAMS)
    return {name: read_proto(path.read_bytes()) for name, path in paths.items()}


@pytest.fixture
def pool_made() -> dict[str, Module]:
    return {
        f"made {seed}": make_module(Random(seed), size=25)  # noqa: S311 - seeded on purpose
        for seed in range(4)
    }


@pytest.mark.compile
def test_noise_is_never_reported(pool: dict[str, Module]) -> None:
    score = score_noise(pool, 64, 1)
    assert (score.rewrites, score.false_differences, score.fingerprints) == (64, 0, 0)


@pytest.mark.compile
def test_edits_are_found_and_the_edited_instruction_is_named(pool: dict[str, Module]) -> None:
    cases = edit_cases(pool, 64, 1)
    total = total_score(score_edits(cases, named_by_hloscope))
    assert len(cases) > 50
    assert total.recall >= 0.99
    assert total.precision >= 0.95


def test_the_table_shows_a_row_for_each_kind_and_all(pool_made: dict[str, Module]) -> None:
    cases = edit_cases(pool_made, 20, 3)
    scores = score_edits(cases, named_by_hloscope)
    lines = edits_table("made", scores)
    assert lines[0].split() == ["made", "edits", "found", "recall", "named", "precision"]
    assert len(lines) == len(scores) + 2
    assert lines[-1].split()[:2] == ["all", str(sum(len(case.truths) for case in cases))]
