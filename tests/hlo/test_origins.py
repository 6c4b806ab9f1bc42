from __future__ import annotations

from dataclasses import replace

import pytest

from hloscope.hlo import frames, origin, parse_op_name, read_text, scopes
from hloscope.hlo.scopes import OpName
from hloscope.model.hlo import Instruction, Metadata, Module, Shape, StackFrame


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("", OpName((), (), "")),
        ("add", OpName((), (), "add")),
        (
            "jit(f)/jit(main)/transpose(jvp(Decoder))/layers/while/body/checkpoint/"
            "rematted_computation/dot_general",
            OpName(
                ("Decoder", "layers"),
                (
                    "jit(f)",
                    "jit(main)",
                    "transpose",
                    "jvp",
                    "while",
                    "body",
                    "checkpoint",
                    "rematted_computation",
                ),
                "dot_general",
            ),
        ),
        ("jit(f)/jvp(a/b)/c/mul", OpName(("a", "b", "c"), ("jit(f)", "jvp"), "mul")),
        ("jit(f)/jvp()/reduce_sum", OpName((), ("jit(f)", "jvp"), "reduce_sum")),
        (
            "jit(f)/bsd,de->bse/dot_general[x=(1/2)]",
            OpName(("bsd,de->bse",), ("jit(f)",), "dot_general[x=(1/2)]"),
        ),
        ("params['a']['b/c']", OpName((), (), "params['a']['b/c']")),
    ],
)
def test_op_names(op_name: str, expected: OpName) -> None:
    assert parse_op_name(op_name) == expected
    assert scopes(op_name) == expected.scopes


TABLE = (
    StackFrame("run.py", "<module>", 3, 1, 0),
    StackFrame("model.py", "Layer.__call__", 40, 9, 1),
    StackFrame("loop.py", "round", 1, 1, 3),
)


def instruction(metadata: Metadata) -> Instruction:
    return Instruction("x", 1, "add", Shape("f32"), metadata=metadata)


@pytest.fixture
def module() -> Module:
    return replace(read_text("ENTRY e {\n p = f32[] parameter(0)\n}")[0], stack_frames=TABLE)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (Metadata(), ()),
        (Metadata(stack_frame=2), (TABLE[1], TABLE[0])),
        (Metadata(stack_frame=9), ()),
        (Metadata(stack_frame=3), (TABLE[2],) * 3),  # a damaged table goes round
        (Metadata(source_file="a.py", source_line=7), (StackFrame("a.py", "", 7, 0, 0),)),
        (Metadata(source_file="a.py", source_line=7, stack_frame=1), (TABLE[0],)),
    ],
)
def test_frames(module: Module, metadata: Metadata, expected: tuple[StackFrame, ...]) -> None:
    assert frames(module, instruction(metadata)) == expected


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (["flax/nnx/nn/linear.py", "mine/model.py", "mine/train.py"], "mine/model.py"),
        (["/usr/lib/python3.12/site-packages/jax/_src/lax.py", "/src/flax/examples/a.py"],
         "/src/flax/examples/a.py"),
        (["optax/losses.py", "hloscope/capture/worker.py", "<string>"], "optax/losses.py"),
        ([], None),
    ],
)  # fmt: skip
def test_the_origin_is_the_innermost_line_of_the_users_own(
    files: list[str], shown: str | None
) -> None:
    table = tuple(
        StackFrame(file=file, function="f", line=n + 1, column=1, parent=n + 2)
        for n, file in enumerate(files)
    )
    instruction = Instruction(
        "add.1", 1, "add", Shape("f32"), metadata=Metadata(stack_frame=1 if files else 0)
    )
    module = Module(name="m", computations=(), entry=None, stack_frames=table)
    found = origin(module, instruction)
    assert (found.file if found else None) == shown
