"""The benchmark's truth, checked by running programs: rewrites keep the result, edits change it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.draft import Draft, freeze, thaw
from benchmarks.edits import edit
from benchmarks.programs import compiled_modules
from benchmarks.rewrites import REWRITES, disturb
from hloscope.hlo import print_module, read_proto
from hloscope.model.hlo import Metadata, Module

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("mlp_train", "nested_loops")


@pytest.fixture(scope="module")
def programs() -> dict[str, Module]:
    paths = compiled_modules(("cpu",), PROGRAMS)
    return {
        name: read_proto(path.read_bytes())
        for name, path in paths.items()
        if name.endswith(".before")
    }


def outputs(modules: Sequence[Module], folder: Path) -> list[list[list[float]]]:
    paths = []
    for number, module in enumerate(modules):
        paths.append(folder / f"{number}.hlo")
        paths[-1].write_text(print_module(module))
    run = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "execute_worker.py"), *map(str, paths)],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def named(draft: Draft, paths: dict[int, str]) -> Draft:
    """Gives parameters their paths back after metadata is stripped; the inputs hang on them."""
    assert draft.entry is not None
    for node in draft.entry.parameters():
        path = node.metadata.op_name or paths[node.parameter]
        node.metadata = Metadata(op_name=path)
    return draft


def rewritten(module: Module, kind: str | None, seed: int) -> Module:
    draft, _ = thaw(module)
    assert draft.entry is not None
    paths = {node.parameter: node.metadata.op_name for node in draft.entry.parameters()}
    source = Random(seed)  # noqa: S311 - seeded on purpose
    if kind is None:
        disturb(draft, source)
    else:
        REWRITES[kind](draft, source)
    return replace(freeze(named(draft, paths))[0], name="m")


@pytest.mark.compile
def test_rewrites_keep_what_programs_return(programs: dict[str, Module], tmp_path: Path) -> None:
    for name, module in programs.items():
        kinds = [*REWRITES] if name.startswith("nested_loops") else [None, None]
        modules = [rewritten(module, kind, number) for number, kind in enumerate(kinds)]
        expected, *found = outputs([module, *modules], tmp_path)
        for figures in found:
            assert len(figures) == len(expected), name
            for left, right in zip(expected, figures, strict=True):
                assert right == pytest.approx(left, rel=1e-3, abs=1e-6), name


@pytest.mark.compile
def test_an_edit_is_a_program_that_runs_and_returns_something_else(
    programs: dict[str, Module], tmp_path: Path
) -> None:
    original = programs["mlp_train.cpu.before"]
    draft, _ = thaw(original)
    assert edit(draft, Random(0), "swap two operands") is not None  # noqa: S311 - seeded on purpose
    before, after = outputs([original, freeze(draft)[0]], tmp_path)
    assert before != after
