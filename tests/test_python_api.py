"""What `import hloscope` offers, and the tables that everything turns into."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import hloscope
from hloscope.attribute import memory_ledger
from hloscope.hlo import read_text
from hloscope.model.buffers import BufferAssignment
from hloscope.model.canonical import Ref
from hloscope.model.capture import Capture, CostFigures, Depth, Leaf, MemoryFigures, Provenance
from hloscope.model.changes import (
    Change,
    ChangeClass,
    FieldChange,
    HeaderChange,
    Instance,
    ModuleDiff,
    Place,
    Region,
    Role,
    ScheduleChange,
    Verdict,
)
from hloscope.model.comparison import Comparison, LeafChange, LeavesDelta
from hloscope.model.hlo import StackFrame
from hloscope.model.ledger import LedgerDelta
from hloscope.model.source import Source, SourceKind
from hloscope.model.units import Bytes, Maybe, Measured, Missing

LHS = """HloModule m, is_scheduled=true
ENTRY e {
  a = f32[64,64] parameter(0), metadata={op_name="params['w']"}
  b = f32[64,64] parameter(1), metadata={op_name="params['v']"}
  d = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    metadata={op_name="jit(f)/Decoder/mlp/dot_general"}
  ROOT r = f32[64,64] add(d, b), metadata={op_name="jit(f)/Decoder/add"}
}
"""
RHS = LHS.replace("add(d, b)", "multiply(d, b)")
NO_BUFFERS = BufferAssignment(logical_buffers=(), allocations=(), heap_traces=())


def source(text: str, label: str = "side") -> Source:
    (module,) = read_text(text)
    return Source(label=label, kind=SourceKind.TEXT, module=module)


def leaf(path: str, parameter: int | None = 0, **fields: object) -> Leaf:
    plain = Leaf(
        path=path,
        shape=(8, 128),
        dtype="bfloat16",
        weak_type=False,
        sharding="PartitionSpec('fsdp', None)",
        mesh={"data": 1, "fsdp": 8},
        memory_kind=None,
        layout=None,
        donated=True,
        parameter=parameter,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return hloscope.compare(source(LHS, "one"), source(RHS, "two"))


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_public_name_is_there() -> None:
    for name in (*hloscope.__all__, "open"):
        assert getattr(hloscope, name) is not None
        assert name in dir(hloscope)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = hloscope.no_such_name


def test_a_star_import_leaves_pythons_open_alone() -> None:
    assert "open" not in hloscope.__all__


@pytest.mark.parametrize(
    "order",
    [
        "import hloscope; print(callable(hloscope.capture))",
        "from hloscope import capture; print(callable(capture))",
    ],
)
def test_capture_can_be_called_however_it_was_imported(order: str) -> None:
    assert run(order) == "True"


def test_rooms_do_not_take_the_place_of_functions() -> None:
    names = "compare, open, memory, cost, communication, save"
    code = (
        "import hloscope.diff, hloscope.cli.memory, hloscope.cli.cost, hloscope.pipeline.python\n"
        f"from hloscope import {names}\n"
        f"print({{type(name).__name__ for name in ({names})}})"
    )
    assert run(code) == "{'function'}"


def test_reading_and_comparing_load_no_jax(tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_text(LHS)
    code = (
        f"import hloscope, sys; c = hloscope.compare({str(tmp_path / 'a.hlo')!r}, "
        f"{str(tmp_path / 'a.hlo')!r}); c.frame(); print('jax' in sys.modules)"
    )
    assert run(code) == "False"


def test_sides_may_be_paths_or_sources(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text(LHS)
    for side in (path, str(path), hloscope.open(path)):
        found = hloscope.compare(side, source(RHS))
        assert found.lhs.module.name == "m"
        assert found.lhs.label == str(path)
        assert not found.changes.empty


@pytest.mark.parametrize(
    ("side", "message"),
    [
        (3, "a int is no side: 3"),
        (lambda: 0, "a function is no side"),
        ("nowhere.hlo", "'nowhere.hlo' is neither a file nor a program"),
        (hloscope.Program(function=len), "needs a target"),
    ],
)
def test_what_is_no_side_is_refused(side: object, message: str) -> None:
    with pytest.raises(hloscope.HloscopeError, match=message):
        hloscope.open(side)  # type: ignore[arg-type]


def test_memory_without_buffers_is_refused() -> None:
    with pytest.raises(hloscope.HloscopeError, match="no buffer assignment"):
        hloscope.memory(source(LHS))


def test_cost_and_communication_are_of_one_side() -> None:
    frame = hloscope.cost(source(LHS)).frame()
    assert int(frame["flops"].sum()) == 2 * 64**3 + 64**2
    assert hloscope.communication(source(LHS)).frame().empty


def test_a_target_gives_a_file_times() -> None:
    assert hloscope.cost(source(LHS)).seconds.known == 0
    assert hloscope.cost(source(LHS), target="tpu:v5p:2x2x2").seconds.known > 0


def test_unknown_memory_figures_are_na() -> None:
    figures = MemoryFigures(
        argument=Measured(Bytes(1 << 40)),
        output=Measured(Bytes(0)),
        alias=Measured(Bytes(5)),
        temp=Missing("no trace"),
        code=Missing("depth hlo"),
        source="buffer assignment",
    )
    frame = figures.frame()
    assert frame["part"].tolist() == ["argument", "output", "alias", "temp", "code"]
    assert frame["bytes"].isna().tolist() == [False, False, False, True, True]
    assert frame["bytes"].dropna().tolist() == [1 << 40, 0, 5]
    assert frame["unknown"].tolist() == ["", "", "", "no trace", "depth hlo"]


def test_unknown_cost_figures_are_na() -> None:
    figures = CostFigures(
        flops=Measured(0.0),
        bytes_accessed=Measured(8.0),
        transcendentals=Missing("none given"),
        optimal_seconds=Missing("negative"),
        source="cost_analysis",
    )
    frame = figures.frame()
    assert frame["value"].isna().tolist() == [False, False, True, True]
    assert frame["value"].dropna().tolist() == [0, 8]
    assert frame["unit"].tolist() == ["FLOP", "B", "", "s"]
    assert frame["unknown"].tolist() == ["", "", "none given", "negative"]


def test_leaves_that_differ_have_a_row_each() -> None:
    same = leaf("params['w']", 0)
    wider = leaf("params['w']", 1, dtype="float32", donated=False)
    delta = LeavesDelta(
        paired=2,
        renamed=0,
        changed=(
            LeafChange(lhs=same, rhs=wider, fields=(("dtype", "bfloat16", "float32"),), moved=None),
            LeafChange(lhs=same, rhs=same, fields=(), moved=(0, 4)),
        ),
        removed=(leaf("rng", None, shape=()),),
        added=(leaf("rngs['key']", 7),),
    )
    frame = delta.frame()
    assert frame["change"].tolist() == ["changed", "moved", "removed", "added"]
    assert frame["fields"].tolist() == ["dtype", "", "", ""]
    assert frame["path_lhs"].fillna("-").tolist() == ["params['w']", "params['w']", "rng", "-"]
    assert frame["shape_lhs"].fillna("-").tolist() == ["8x128", "8x128", "", "-"]
    assert frame["dtype_rhs"].fillna("-").tolist() == ["float32", "bfloat16", "-", "bfloat16"]
    assert frame["parameter_rhs"].fillna(-1).tolist() == [1, 0, -1, 7]
    assert frame["donated_rhs"].dropna().tolist() == [False, True, True]


def place(name: str, executions: Maybe[int]) -> Place:
    return Place(
        ref=Ref(0, 1),
        name=name,
        computation="body",
        opcode="add",
        text="f32[8] add(a, b)",
        shape="f32[8]",
        path=("Decoder", "mlp"),
        state_paths=("mlp/kernel", "mlp/bias"),
        frame=StackFrame("model.py", "call", 12, 1, 0),
        executions=executions,
        operands=("a", "b"),
        users=(),
    )


def change(lhs: Place | None, rhs: Place | None, role: Role = Role.HEAD) -> Change:
    return Change(
        role=role,
        classes=(ChangeClass.DTYPE, ChangeClass.LAYOUT),
        lhs=lhs,
        rhs=rhs,
        fields=(FieldChange(ChangeClass.DTYPE, "dtype", "bf16", None),),
        instances=(Instance(Ref(0, 1), Ref(0, 1)), Instance(Ref(0, 2), Ref(0, 2))),
        confidence=0.5,
    )


def module_diff() -> ModuleDiff:
    first = Region(
        heads=(change(place("a.1", Measured(4)), place("b.1", Missing("no trip count"))),),
        followers=(change(None, place("c", Measured(1)), Role.FOLLOWER),),
        count=3,
        classes=(ChangeClass.DTYPE,),
        lhs_bytes=Bytes(10),
        rhs_bytes=Bytes(30),
        lhs_flops=7,
        rhs_flops=2,
        uncounted_loops=True,
    )
    second = replace(first, followers=(), count=1)
    return ModuleDiff(
        verdict=Verdict.DIFFERENT,
        regions=(first, second),
        header=(
            HeaderChange(change_class=ChangeClass.DONATION, name="alias", lhs=None, rhs="{0}"),
        ),
        schedule=(ScheduleChange("main", "main.2", 6, ("x", "y")),),
        lhs_instructions=9,
        rhs_instructions=9,
        paired=8,
        lhs_only=1,
        rhs_only=1,
        notes=(),
    )


def test_every_change_has_a_row() -> None:
    frame = module_diff().frame()
    first = frame.iloc[0].to_dict()
    assert pd.isna(first.pop("executions_rhs"))
    assert first == {
        "part": "graph",
        "region": 1,
        "times": 3,
        "role": "cause",
        "classes": "dtype, layout",
        "lhs": "a.1",
        "rhs": "b.1",
        "opcode": "add",
        "shape_lhs": "f32[8]",
        "shape_rhs": "f32[8]",
        "fields": "dtype: bf16 -> none",
        "places": 2,
        "confidence": 0.5,
        "executions_lhs": 4,
        "module": "Decoder/mlp",
        "state": "mlp/kernel, mlp/bias",
        "source": "model.py:12",
        "lhs_bytes": 10,
        "rhs_bytes": 30,
        "bytes": 20,
        "lhs_flops": 7,
        "rhs_flops": 2,
        "flops": -5,
    }
    assert frame["part"].tolist() == ["graph", "graph", "graph", "module attribute", "schedule"]
    assert frame["role"].tolist()[:3] == ["cause", "consequence", "cause"]
    assert frame["rhs"].tolist() == ["b.1", "c", "b.1", "alias", "main.2"]
    assert frame["fields"].tolist()[3:] == ["alias: none -> {0}", "first: x -> y"]
    assert frame["places"].fillna(-1).tolist() == [2, 2, 2, -1, 6]


def test_a_regions_figures_stand_in_one_row() -> None:
    frame = module_diff().frame()
    assert frame["region"].fillna(-1).tolist() == [1, 1, 2, -1, -1]
    assert frame["bytes"].isna().tolist() == [False, True, False, True, True]
    assert int(frame["bytes"].sum()) == 40


def test_no_change_is_an_empty_table() -> None:
    frame = replace(module_diff(), regions=(), header=(), schedule=()).frame()
    assert frame.empty
    assert frame.columns.tolist() == module_diff().frame().columns.tolist()


def documented(heading: str) -> list[str]:
    """The columns that the documentation of one table names, in order."""
    text = (Path(__file__).parents[1] / "docs" / "python.md").read_text()
    section = text.partition(f"### {heading}")[2].partition("\n### ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| ")][2:]
    return [name for row in rows for name in row.split("|")[1].strip().split(", ")]


def capture_without_payloads() -> Capture:
    missing = Missing("not compiled")
    return Capture(
        schema=1,
        program="p",
        target="cpu:1",
        depth=Depth.HLO,
        inputs=(leaf("x"),),
        outputs=(leaf("y", None, mesh=None, shape=()),),
        memory=MemoryFigures(
            argument=missing, output=missing, alias=missing, temp=missing, code=missing, source=""
        ),
        cost=CostFigures(
            flops=missing,
            bytes_accessed=missing,
            transcendentals=missing,
            optimal_seconds=missing,
            source="",
        ),
        provenance=Provenance(
            versions={},
            compile_options={},
            environment={},
            jax_config={},
            ambient_mesh=None,
            axis_rules=(),
            warnings=(),
            git_revision=None,
            git_dirty=None,
            options={},
            seconds={},
            peak_memory=missing,
        ),
        out_of_memory=None,
        payloads={},
    )


def test_a_capture_has_a_row_for_each_leaf() -> None:
    frame = capture_without_payloads().frame()
    assert frame["tree"].tolist() == ["input", "output"]
    assert frame["path"].tolist() == ["x", "y"]
    assert frame["shape"].tolist() == ["8x128", ""]
    assert frame["mesh"].fillna("none").tolist() == ["data=1, fsdp=8", "none"]
    assert frame["parameter"].fillna(-1).tolist() == [0, -1]


def test_every_table_has_the_columns_that_are_documented(comparison: Comparison) -> None:
    taken, side = capture_without_payloads(), source(LHS)
    leaves = LeavesDelta(paired=0, renamed=0, changed=(), removed=(), added=())
    ledger = memory_ledger(side.module, NO_BUFFERS)
    delta = LedgerDelta(lhs=ledger, rhs=ledger, entries=(), unchanged=0)
    frames = {
        "diff.frame()": comparison.frame(),
        "diff.verdict_frame()": comparison.verdict_frame(),
        "diff.inputs.frame(), diff.outputs.frame()": leaves.frame(),
        "diff.changes.frame()": comparison.changes.frame(),
        "hloscope.memory(side).frame()": ledger.frame(),
        "hloscope.cost(side).frame()": hloscope.cost(side).frame(),
        "diff.cost.frame()": comparison.cost.frame(),
        "hloscope.communication(side).frame()": hloscope.communication(side).frame(),
        "diff.communication.frame()": comparison.communication.frame(),
        "capture.frame()": taken.frame(),
        "capture.memory.frame()": taken.memory.frame(),
        "capture.cost.frame()": taken.cost.frame(),
    }
    assert {name: documented(name) for name in frames} == {
        name: frame.columns.tolist() for name, frame in frames.items()
    }
    columns = ledger.frame().columns
    sides = [f"{prefix}_{column}" for prefix in ("lhs", "rhs") for column in columns]
    assert delta.frame().columns.tolist() == documented("diff.memory.frame()")[:-2] + sides


def test_the_totals_have_a_row_each(comparison: Comparison) -> None:
    frame = comparison.frame().set_index("quantity")
    assert frame.index.tolist() == [
        "memory", "flops", "transcendentals", "bytes", "seconds", "sent",
    ]  # fmt: skip
    flops, sent = (frame[["lhs", "rhs", "delta"]].T[name] for name in ("flops", "sent"))
    assert list(flops) == [528384, 528384, 0]
    assert list(sent) == [0, 0, 0]
    missing = frame[["lhs", "rhs", "delta"]].isna().all(axis=1)
    assert missing[missing].index.tolist() == ["memory", "seconds"]
    assert frame.loc["seconds", "unknown_lhs"]
    assert frame.loc["memory", "unknown_rhs"] == "no buffer assignment"


def test_verdicts_have_a_row_each(comparison: Comparison) -> None:
    frame = comparison.verdict_frame().set_index("stage")
    assert frame.index.tolist() == [
        "inputs", "HLO before optimization", "optimized HLO", "buffers",
    ]  # fmt: skip
    assert frame.loc["inputs", "verdict"] == "identical"
    assert frame.loc["optimized HLO", "verdict"] == "different"
    assert frame["verdict"].isna()["buffers"]
    assert frame.loc["buffers", "unknown"]


@pytest.mark.compile
def test_from_a_function_to_tables(tmp_path: Path) -> None:
    import jax
    import jax.numpy as jnp

    def step(x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ x.T) @ x

    small, large = (
        jax.ShapeDtypeStruct((size, 64), jnp.float32)  # type: ignore[no-untyped-call]
        for size in (128, 256)
    )
    taken = hloscope.capture(step, small, target="cpu:1", cache=False)
    assert isinstance(taken, Capture)
    program = hloscope.Program(function=step, args=(large,), name="larger")
    hloscope.save(taken, tmp_path / "small.hloscope")

    found = hloscope.compare(tmp_path / "small.hloscope", program, target="cpu:1", cache=False)
    assert found.rhs.label == "larger"
    assert found.memory is not None
    frame = found.memory.frame()
    assert frame["bytes"].sum() == found.memory.total > 0
    assert str(frame["lhs_bytes"].dtype) == str(frame["rhs_allocation"].dtype) == "Int64"
    ledger = hloscope.memory(taken)
    assert ledger.frame()["bytes"].sum() == ledger.total == found.memory.lhs.total
    assert taken.memory.frame().set_index("part").loc["argument", "bytes"] == 128 * 64 * 4
    leaves = taken.frame()
    assert leaves["tree"].tolist() == ["input", "output"]
    assert leaves["shape"].tolist() == ["128x64", "128x64"]
    assert found.inputs is not None
    assert found.inputs.frame()["shape_rhs"].tolist() == ["256x64"]
