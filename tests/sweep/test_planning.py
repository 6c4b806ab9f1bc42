"""What a sweep's file may say."""

from __future__ import annotations

import pytest

from hloscope.errors import HloscopeError
from hloscope.model.sweep import Cell, Contrast, Plan
from hloscope.sweep import read_plan

FULL = """
output = "out/rows.parquet"
[matrix]
programs = ["gpt3-tiny?layers=4", "pkg.train:step"]
stacks = ["linen", "nnx"]
targets = ["cpu:8"]
revisions = ["main"]
toolchains = [["jax==0.11.2"]]
options.scan = [true]
[contrast]
axis = "stacks"
lhs = "linen"
rhs = "nnx"
"""


def _cell(program: str, stack: str, spec: str) -> Cell:
    axes = {"program": program, "stack": stack, "scan": "true", "target": "cpu:8",
            "revision": "main", "toolchain": "jax==0.11.2"}  # fmt: skip
    return Cell(spec=spec, target="cpu:8", axes=axes, packages=("jax==0.11.2",))


def test_the_product_of_everything() -> None:
    gpt3 = [
        _cell("gpt3-tiny?layers=4", stack, f"gpt3-tiny:{stack}?layers=4&scan=true@main")
        for stack in ("linen", "nnx")
    ]
    own = [
        _cell("pkg.train:step", stack, f"pkg.train:step?stack={stack}&scan=true@main")
        for stack in ("linen", "nnx")
    ]
    contrasts = [
        Contrast(lhs=lhs, rhs=rhs, axes={k: v for k, v in lhs.axes.items() if k != "stack"})
        for lhs, rhs in (gpt3, own)
    ]
    assert read_plan(FULL, "folder/sweep.toml") == Plan(
        file="folder/sweep.toml",
        output="folder/out/rows.parquet",
        cells=(*gpt3, *own),
        contrasts=tuple(contrasts),
    )


def test_the_least_that_can_be_said() -> None:
    plan = read_plan('[matrix]\nprograms = ["a.b:c"]\ntargets = ["cpu:1"]', "s.toml")
    (cell,) = plan.cells
    assert (cell.name, plan.output, plan.contrasts) == ("a.b:c on cpu:1", "s.parquet", ())


BASE = '[matrix]\nprograms = ["a.b:c"]\ntargets = ["cpu:1"]\n'


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ("a = [", "s.toml", "not TOML"),
        ("", "s.toml: matrix", "a sweep needs programs and targets"),
        ("speed = 1\n" + BASE, "s.toml", "unknown key 'speed'"),
        (BASE + "speed = 1", "s.toml: matrix", "unknown key 'speed'"),
        (BASE + "stacks = 'nnx'", "s.toml: matrix.stacks", "'nnx' is not a list of strings"),
        (BASE + "toolchains = [3]", "s.toml: matrix.toolchains", "3 is no toolchain"),
        (BASE + "options = 3", "s.toml: matrix.options", "3 is no table"),
        (
            BASE + "options.stack = ['x']",
            "s.toml: matrix.options",
            "option 'stack' has the name of an axis",
        ),
        (BASE + "[contrast]\naxis = 'a'", "s.toml: contrast", "a contrast is of an axis"),
        (
            BASE + "[contrast]\naxis='target'\nlhs='cpu:1'\nrhs='cpu:2'",
            "s.toml: contrast",
            "no cell has target 'cpu:2'",
        ),
    ],
)
def test_what_is_not_understood_is_refused(text: str, where: str, problem: str) -> None:
    with pytest.raises(HloscopeError) as refused:
        read_plan(text, "s.toml")
    assert refused.value.where == where
    assert refused.value.problem.startswith(problem)
