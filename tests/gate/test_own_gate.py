"""This repository's own gate: whole, small, and of every series of jax that is supported."""

from __future__ import annotations

from pathlib import Path

import pytest

from hloscope.cli.gate import load_policy
from hloscope.model.gate import ToolchainBudget
from hloscope.store import Baselines

ROOT = Path(__file__).parents[2]
SERIES = ("0.10", "0.11", "0.12")
SMALL = 150_000


def test_it_asks_what_is_documented() -> None:
    policy = load_policy(ROOT / "hloscope.toml")
    families = {gated.program.partition("-")[0] for gated in policy.programs}
    assert families == {"deepseek", "gemma3", "gpt3", "llama2", "llama3.1", "llama4"}
    assert {gated.target for gated in policy.programs} == {"cpu:8", "tpu:v5e:2x2"}
    assert {gated.toolchain for gated in policy.programs} == {ToolchainBudget.SHOWN}
    assert policy.waivers == ()


@pytest.mark.parametrize("series", SERIES)
def test_every_program_has_a_whole_baseline(series: str) -> None:
    policy = load_policy(ROOT / "hloscope.toml")
    store = Baselines(root=str(ROOT / policy.baselines), series=f"jax-{series}")
    for gated in policy.programs:
        remembered = store.read(gated.name, gated.target)
        assert (remembered.program, remembered.target) == (gated.program, gated.target)
        assert remembered.git_revision is not None
        assert set(gated.budgets) <= set(remembered.figures)
        assert remembered.environment["version jax"].startswith(f"{series}.")
        kept = store.read_module(gated.name, gated.target)
        assert (kept.program, kept.target) == (gated.program, gated.target)


def test_no_baseline_is_left_over_or_large() -> None:
    policy = load_policy(ROOT / "hloscope.toml")
    root = ROOT / policy.baselines
    records = {path.parent for path in root.rglob("baseline.json")}
    assert len(records) == len(policy.programs) * len(SERIES)
    for folder in sorted(records):
        assert sum(path.stat().st_size for path in folder.iterdir()) < SMALL
