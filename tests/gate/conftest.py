"""Baselines made up for one check at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from hloscope.model.gate import (
    BASELINE_SCHEMA,
    Allowance,
    Baseline,
    Figure,
    Gated,
    GraphBudget,
)
from hloscope.model.units import Measured

MakeBaseline = Callable[..., Baseline]
MakeGated = Callable[..., Gated]


@pytest.fixture
def baseline() -> MakeBaseline:
    """Makes a baseline of figures in bytes (`hbm_total=8`) and other fields."""
    plain = Baseline(
        schema=BASELINE_SCHEMA,
        program="pkg:step",
        target="cpu:1",
        figures={},
        graph_fingerprint="g",
        full_fingerprint="f",
        interface="i",
        environment={"target": "cpu:1", "version jax": "0.10.2"},
        git_revision=None,
        top_buffers=(),
    )

    def make(figures: Mapping[str, int] | None = None, **fields: object) -> Baseline:
        known = {
            name: Figure(value=Measured(size), unit="B") for name, size in (figures or {}).items()
        }
        return replace(plain, **{"figures": known, **fields})  # type: ignore[arg-type]

    return make


@pytest.fixture
def gated() -> MakeGated:
    """Makes a program with budgets."""

    def make(budgets: Mapping[str, Allowance] | None = None, **fields: object) -> Gated:
        plain = Gated(
            name="step",
            program="pkg:step",
            target="cpu:1",
            budgets=budgets or {},
            graph=GraphBudget.ANY,
        )
        return replace(plain, **fields)  # type: ignore[arg-type]

    return make
