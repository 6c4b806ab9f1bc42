"""What counts as another environment, and what as another toolchain alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hloscope.errors import HloscopeError
from hloscope.gate import (
    MACHINE,
    environment_changes,
    is_toolchain,
    judge,
    judge_tools,
    judge_unparted,
)
from hloscope.model.gate import (
    Allowance,
    Baseline,
    Gated,
    GateReport,
    GraphBudget,
    Status,
    ToolchainBudget,
)
from hloscope.pipeline import OpenOptions, open_source
from hloscope.pipeline.gating import remember
from hloscope.pipeline.machine import instruction_set

MakeBaseline = Callable[..., Baseline]
MakeGated = Callable[..., Gated]

HERE = {"target": "cpu:1", "version jax": "0.10.2", MACHINE: "x86_64 avx2"}
JAX = {"version jax": "0.10.3"}
FLAX = {"version flax": "0.12.4"}
OTHER = {MACHINE: "x86_64 avx512_bf16"}
FLAG = {"compile option xla_x": "true"}


@pytest.mark.parametrize(
    ("change", "other_program", "names", "toolchain"),
    [
        ({}, False, [], False),
        (JAX, False, ["version jax"], True),
        (JAX | FLAG, False, ["compile option xla_x", "version jax"], False),
        # a library that the program now imports is part of the program
        (FLAX, True, [], False),
        (OTHER, False, [], False),
        (OTHER, True, [MACHINE], True),
        (OTHER | FLAG, True, ["compile option xla_x", MACHINE], False),
        ({"version libtpu": "0.0.48"}, False, ["version libtpu"], True),
    ],
)
def test_what_differs_around_a_program(
    baseline: MakeBaseline,
    change: dict[str, str],
    other_program: bool,
    names: list[str],
    toolchain: bool,
) -> None:
    before = baseline(environment=HERE)
    now = baseline(environment=HERE | change, full_fingerprint="x" if other_program else "f")
    for lhs, rhs in ((before, now), (now, before)):
        found = environment_changes(lhs, rhs)
        assert ([each.name for each in found], is_toolchain(found)) == (names, toolchain)


def test_a_figure_of_another_environment_is_shown_and_never_judged(
    baseline: MakeBaseline, gated: MakeGated
) -> None:
    program = gated({"flops": Allowance()}, graph=GraphBudget.SAME_GRAPH, forbid=("DON*",))
    now = baseline({"flops": 9}, environment=HERE | JAX | FLAG, graph_fingerprint="x")
    judged = judge(program, baseline({"flops": 1}, environment=HERE), now, None)
    assert [(check.name, check.status) for check in judged.checks] == [
        ("environment", Status.UNDECIDED),
        ("flops", Status.SHOWN),
    ]
    assert GateReport(judgements=(judged,)).exit_code == 2


@pytest.mark.parametrize(
    ("budget", "after", "status", "cause"),
    [
        (
            ToolchainBudget.JUDGED,
            9,
            Status.REGRESSED,
            "the toolchain changed: version jax 0.10.2 -> 0.10.3",
        ),
        (ToolchainBudget.JUDGED, 8, Status.PASSED, ""),
        (ToolchainBudget.JUDGED, None, Status.UNDECIDED, ""),
        (ToolchainBudget.SHOWN, 9, Status.SHOWN, ""),
    ],
)
def test_what_the_toolchain_does_has_a_budget(
    baseline: MakeBaseline,
    gated: MakeGated,
    budget: ToolchainBudget,
    after: int | None,
    status: Status,
    cause: str,
) -> None:
    before = baseline({"flops": 8, "bytes": 1}, environment=HERE)
    again = baseline({} if after is None else {"flops": after}, environment=HERE | JAX)
    program = gated({"flops": Allowance()}, toolchain=budget)
    judged = judge_tools(program, before, again, environment_changes(before, again))
    assert [(c.name, c.status) for c in judged.checks] == [("toolchain: flops", status)]
    assert judged.cause == cause


def test_code_that_is_not_at_hand_leaves_it_undecided(
    baseline: MakeBaseline, gated: MakeGated
) -> None:
    before = baseline({"flops": 8}, environment=HERE)
    now = baseline({"flops": 9}, environment=HERE | JAX)
    gone = HloscopeError("no revision 'abc' in /w", where="pkg:step@abc")
    changes = environment_changes(before, now)
    judged = judge_unparted(gated({"flops": Allowance()}), before, now, changes, gone)
    assert (judged.status, judged.toolchain) == (Status.UNDECIDED, changes)
    assert judged.checks[0].reason == (
        "the baseline is of another environment: version jax 0.10.2 -> 0.10.3; "
        "code and tools cannot be told apart: no revision 'abc' in /w (pkg:step@abc)"
    )
    assert judged.checks[0].remedy == (
        "make the revision available (git fetch --unshallow), or go back to that environment, "
        "or hloscope gate --update step"
    )


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ("flags\t\t: fpu avx avx2 fma avx512f avx512_bf16\n", " avx512_bf16"),
        ("processor: 0\nflags : fpu avx avx2\n", " avx2"),
        ("flags : fpu\n", ""),
        ("Features : fp asimd\n", ""),
        (None, ""),
    ],
)
def test_what_a_machine_can_compute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str | None, found: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "arch")
    if flags is not None:
        (tmp_path / "cpuinfo").write_text(flags)
    assert instruction_set(tmp_path / "cpuinfo") == f"arch{found}"


@pytest.mark.compile
def test_a_cached_capture_is_remembered_as_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file keeps a mesh's axes in another order than the program has them."""
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path))
    options = OpenOptions(target="cpu:2")
    fresh, cached = (
        remember(open_source("llama2-tiny:nnx?step=decode", options)) for _ in range(2)
    )
    assert cached.same_program(fresh)
    assert replace(cached, figures={}) == replace(fresh, figures={})
