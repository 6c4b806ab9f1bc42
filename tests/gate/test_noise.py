"""What compiling the same program again shows to vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import pytest

import hloscope
from hloscope.gate import judge
from hloscope.model.gate import Allowance, Baseline, Gated, Noise, Spread
from hloscope.pipeline import OpenOptions, noise
from hloscope.report.document import Tone
from hloscope.report.noise import noise_document

MakeBaseline = Callable[..., Baseline]
MakeGated = Callable[..., Gated]


def _program(width: int) -> hloscope.Program:
    import jax
    import jax.numpy as jnp

    def step(x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ jnp.ones((x.shape[1], width)))

    return hloscope.Program(function=step, args=(jax.ShapeDtypeStruct((8, 16), jnp.float32),))


@pytest.mark.compile
def test_what_varies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [hloscope.open(_program(width), target="cpu:1", cache=False) for width in (8, 32)]
    turns = cycle(sides)
    monkeypatch.setattr(noise, "open_source", lambda *_: next(turns))
    found = noise.measure_noise("step", OpenOptions(target="cpu:1"), 4)
    assert (found.runs, found.graphs) == (4, 2)
    assert found.parts
    memory = [hloscope.memory(side).total for side in sides]
    assert found.figures["hbm-total"] == Spread(least=min(memory), most=max(memory))
    assert "compile-seconds" not in found.figures
    assert noise_document(found, "step").headline.tone is Tone.BAD


@pytest.mark.compile
def test_the_same_twice_varies_in_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    side = hloscope.open(_program(8), target="cpu:1", cache=False)
    monkeypatch.setattr(noise, "open_source", lambda *_: side)
    found = noise.measure_noise("step", OpenOptions(target="cpu:1"), 3)
    assert found == Noise(runs=3, figures={}, graphs=1, parts=())
    assert noise_document(found, "step").headline.text == (
        "NOTHING VARIES: 3 compiles of step gave the same module and figures"
    )


@pytest.mark.parametrize(("now", "said"), [(12, True), (10, False)])
def test_a_gate_names_a_metric_that_varies(
    baseline: MakeBaseline, gated: MakeGated, now: int, said: bool
) -> None:
    known = Noise(runs=5, figures={"bytes": Spread(least=9, most=12)}, graphs=2, parts=())
    before = replace(baseline({"bytes": 10}), noise=known)
    judged = judge(gated({"bytes": Allowance(1)}), before, baseline({"bytes": now}), None)
    (check,) = (c for c in judged.checks if c.name == "bytes")
    expected = "; 5 compiles of the baseline came to between 9 and 12"
    assert check.reason == (f"beyond its allowance{expected}" if said else "")
