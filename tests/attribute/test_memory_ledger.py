"""The memory ledger of one side, on corpus programs and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from hloscope import hlo
from hloscope.attribute import memory_ledger, shortfall, source_memory
from hloscope.attribute.memory_parts import growth_parts
from hloscope.attribute.module_path import ModulePaths, owner
from hloscope.errors import HloscopeError
from hloscope.model.buffers import (
    Allocation,
    Assigned,
    BufferAssignment,
    HeapEvent,
    HeapEventKind,
    HeapTrace,
    LogicalBuffer,
)
from hloscope.model.canonical import Ref
from hloscope.model.capture import Leaf
from hloscope.model.hlo import Computation, Instruction, Layout, Metadata, Module, Shape
from hloscope.model.ledger import Category, LedgerEntry, MemoryLedger, Part, PathSource, Value
from hloscope.model.source import Source, SourceKind
from hloscope.model.units import Bytes, Measured, Missing

ALLOC, FREE = HeapEventKind.ALLOC, HeapEventKind.FREE
F32 = Shape("f32", (4, 2))


def program() -> Module:
    """`p -> a -> b`, where a and b are temporaries and r is returned."""
    source = Metadata(op_name="jit(f)/decoder/mlp/dot_general", source_file="m.py", source_line=7)
    return Module(
        name="m",
        entry=0,
        computations=(
            Computation(
                "main",
                (
                    Instruction("p", 0, "parameter", F32, parameter=0,
                                metadata=Metadata(op_name="state['model']['w'].value")),
                    Instruction("a", 1, "negate", F32, (0,), metadata=source),
                    Instruction("b", 2, "sine", F32, (1,)),
                    Instruction("r", 3, "add", F32, (2, 1)),
                ),
                3,
            ),
        ),
    )  # fmt: skip


def buffers() -> BufferAssignment:
    def single(number: int, **flags: bool) -> Allocation:
        chosen = {"parameter": False, "out": False} | flags
        return Allocation(
            number, 64, 0, False, False, False, chosen["parameter"], 0, (), chosen["out"],
            (Assigned(number, 0, 32),),
        )  # fmt: skip

    temporaries = Allocation(
        1, 100, 0, False, False, False, False, 0, (), False,
        (Assigned(1, 0, 32), Assigned(2, 32, 40)),
    )  # fmt: skip
    events = [(ALLOC, 1, "a"), (ALLOC, 2, "b"), (FREE, 1, "a"), (FREE, 2, "b")]
    return BufferAssignment(
        logical_buffers=(
            LogicalBuffer(0, 64, 0, (), 0), LogicalBuffer(1, 32, 1, (), 0),
            LogicalBuffer(2, 40, 2, (), 0), LogicalBuffer(3, 64, 3, (), 0),
        ),
        allocations=(single(0, parameter=True), temporaries, single(3, out=True)),
        heap_traces=(HeapTrace(1, tuple(HeapEvent(k, b, "main", i, -1) for k, b, i in events)),),
    )  # fmt: skip


def summary(ledger: MemoryLedger) -> list[tuple[str, str, int, int]]:
    return [(str(e.category), e.name, e.size, e.padding) for e in ledger.entries]


def test_every_byte_at_the_peak() -> None:
    ledger = memory_ledger(program(), buffers())
    assert summary(ledger) == [
        ("argument", "p", 64, 32),
        ("output", "r", 64, 32),
        ("temporary", "b", 40, 8),
        ("temporary", "a", 32, 0),
        ("fragmentation", "holes between live buffers", 28, 0),
    ]
    assert ledger.total == 64 + 100 + 64
    assert ledger.instant == ("main", "b")
    assert [point.size for point in ledger.timeline] == [160, 200, 168, 128]


def test_an_entry_says_where_it_comes_from_and_how_long_it_lives() -> None:
    entries = {entry.name: entry for entry in memory_ledger(program(), buffers()).entries}
    a, p = entries["a"], entries["p"]
    assert (a.first, a.last, a.path, a.path_source) == (
        "a",
        "r",
        ("decoder", "mlp"),
        PathSource.SCOPE,
    )
    assert (a.source, a.opcode, a.shape_text) == ("m.py:7", "negate", "f32[4,2]")
    assert (p.first, p.last, p.state, p.parameter) == ("p", "a", ("w",), 0)
    assert entries["r"].outputs == (0,)


def test_another_instant() -> None:
    ledger = memory_ledger(program(), buffers(), at="%a")
    assert [e.name for e in ledger.entries if e.category is Category.TEMPORARY] == ["a"]
    assert (ledger.total, ledger.at_peak, ledger.instant.instruction) == (228, False, "%a")


def test_an_unknown_instant_is_refused() -> None:
    with pytest.raises(HloscopeError, match="no scheduled instruction 'nobody'"):
        memory_ledger(program(), buffers(), at="nobody")


def test_without_buffers_memory_is_unknown() -> None:
    source = Source(label="x.hlo", kind=SourceKind.TEXT, module=program())
    with pytest.raises(HloscopeError, match=r"'x\.hlo' has no buffer assignment"):
        source_memory(source)


def test_a_buffer_of_no_known_instruction_is_unattributed() -> None:
    known = buffers()
    lost = known.logical_buffers[0]._replace(instruction_id=99)
    ledger = memory_ledger(
        program(), replace(known, logical_buffers=(lost, *known.logical_buffers[1:]))
    )
    assert ledger.of(Category.UNATTRIBUTED) == 64
    assert ledger.total == 228


def test_the_frame_has_every_entry() -> None:
    ledger = memory_ledger(program(), buffers())
    frame = ledger.frame()
    assert int(frame["bytes"].sum()) == ledger.total
    assert list(frame["module_path"][:4]) == ["w", "decoder/mlp", "decoder/mlp", "decoder/mlp"]


@pytest.mark.parametrize(
    ("available", "names"),
    [
        (Measured(Bytes(227)), ["p"]),
        (Measured(Bytes(150)), ["p", "r"]),
        (Measured(Bytes(0)), ["p", "r", "b", "a"]),
    ],
)
def test_what_must_go_comes_largest_first(available: Measured[Bytes], names: list[str]) -> None:
    short = shortfall(memory_ledger(program(), buffers()), available)
    assert short is not None
    assert [entry.name for entry in short.candidates] == names
    assert short.over == 228 - available.value


@pytest.mark.parametrize("available", [Measured(Bytes(228)), Missing("nobody said")])
def test_what_fits_or_is_unknown_needs_nothing(available: Measured[Bytes] | Missing) -> None:
    assert shortfall(memory_ledger(program(), buffers()), available) is None


def _entry(dtype: str, dims: tuple[int, ...], size: int, leaf: Leaf | None = None) -> LedgerEntry:
    shape = Shape(dtype, dims, Layout((1, 0)))
    value = Value(Ref(0, 0), ())
    return LedgerEntry(
        category=Category.ARGUMENT, name="p", size=Bytes(size), unpadded=Bytes(size),
        value=value, shape=shape, leaf=leaf,
    )  # fmt: skip


def _leaf(shape: tuple[int, ...], sharding: str) -> Leaf:
    return Leaf(
        path="w", shape=shape, dtype="float32", weak_type=False, sharding=sharding, mesh=None,
        memory_kind=None, layout=None, donated=False, parameter=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lhs", "rhs", "parts"),
    [
        (_entry("f32", (8, 8), 256), _entry("f32", (16, 8), 512), {Part.SHAPE: 256}),
        (_entry("bf16", (8, 8), 128), _entry("f32", (8, 8), 256), {Part.DTYPE: 128}),
        (_entry("f32", (8, 8), 256), _entry("f32", (8, 8), 4096), {Part.LAYOUT: 3840}),
        (
            _entry("bf16", (8, 8), 512),
            _entry("f32", (16, 8), 1024),
            {Part.SHAPE: 128, Part.DTYPE: 256, Part.LAYOUT: 128},
        ),
        (
            _entry("f32", (8, 8), 256, _leaf((32, 8), "P('x')")),
            _entry("f32", (32, 8), 1024, _leaf((32, 8), "P()")),
            {Part.SHARDING: 768},
        ),
        (
            _entry("f32", (8, 8), 256, _leaf((32, 8), "P('x')")),
            _entry("f32", (64, 8), 2048, _leaf((64, 8), "P()")),
            {Part.SHARDING: 1536, Part.SHAPE: 256},
        ),
    ],
)
def test_growth_is_split_to_the_byte(
    lhs: LedgerEntry, rhs: LedgerEntry, parts: dict[Part, int]
) -> None:
    found = dict(growth_parts(lhs, rhs))
    assert found == parts
    assert sum(found.values()) == rhs.size - lhs.size


@pytest.mark.parametrize(
    ("state", "module"),
    [
        (("decoder", "mlp", "wi", "kernel"), ("decoder", "mlp", "wi")),
        (("opt_state", "0", "mu", "decoder", "wi", "kernel"), ("decoder", "wi")),
        (("step",), ("step",)),
    ],
)
def test_a_state_belongs_to_its_module(state: tuple[str, ...], module: tuple[str, ...]) -> None:
    assert owner(state) == module


def test_states_flow_through_loops() -> None:
    """Body parameter, element 1, sliced: the layers' kernel; its user belongs to that module."""
    array = Shape("f32", (4, 8))
    carry = Shape("tuple", elements=(Shape("s32"), array))
    body = Computation(
        "body",
        (
            Instruction("carry", 10, "parameter", carry, parameter=0),
            Instruction("w", 11, "get-tuple-element", array, (0,), attrs=(("index", "1"),)),
            Instruction("slice", 12, "dynamic-slice", Shape("f32", (1, 8)), (1,)),
            Instruction("dot", 13, "fusion", Shape("f32", (8,)), (2,)),
            Instruction("next", 14, "tuple", carry, (0, 1)),
        ),
        4,
    )
    entry = Computation(
        "main",
        (
            Instruction("n", 1, "parameter", Shape("s32"), parameter=0),
            Instruction("k", 2, "parameter", array, parameter=1,
                        metadata=Metadata(op_name="params['layers']['up']['kernel']")),
            Instruction("init", 3, "tuple", carry, (0, 1)),
            Instruction("while", 4, "while", carry, (2,), called=(("body", 0),)),
        ),
        3,
    )  # fmt: skip
    paths = ModulePaths(Module(name="m", computations=(body, entry), entry=1))
    assert paths.state(Ref(0, 2)) == ("layers", "up", "kernel")
    assert paths.path(Ref(0, 3)) == (("layers", "up"), PathSource.FLOW)


def test_nnx_buffers_have_module_paths_too(corpus: Path) -> None:
    """NNX's op_names carry no module scopes; nearly everything is placed all the same."""
    (path,) = corpus.glob("maxtext_aot/gpt3-6b-L4.nnx/*after_optimizations.hlo.pb")
    data = path.read_bytes()
    found = hlo.read_buffers(data)
    assert found is not None
    ledger = memory_ledger(hlo.read_proto(data), found)
    held = [e for e in ledger.entries if e.value is not None]
    placed = sum(e.size for e in held if e.path)
    assert placed / sum(e.size for e in held) > 0.99
    assert ledger.unplaced == sum(1 for e in held if not e.path) < 0.08 * len(held)
    assert Counter(e.path_source for e in held)[PathSource.STATE] >= 128


def test_arguments_in_one_tuple_are_told_apart() -> None:
    table = Shape("tuple", elements=(F32, F32))
    instructions = (
        Instruction("t", 0, "parameter", table, parameter=0),
        Instruction("e", 1, "get-tuple-element", F32, (0,), attrs=(("index", "1"),)),
        Instruction("r", 2, "negate", F32, (1,)),
    )
    module = Module(name="m", entry=0, computations=(Computation("main", instructions, 2),))

    def held(number: int, index: tuple[int, ...]) -> Allocation:
        assigned = (Assigned(number, 0, 32),)
        return Allocation(number, 32, 0, False, False, False, True, 0, index, False, assigned)

    given = BufferAssignment(
        logical_buffers=(
            LogicalBuffer(0, 32, 0, (), 0),
            LogicalBuffer(1, 32, 0, (0,), 0),
            LogicalBuffer(2, 32, 0, (1,), 0),
        ),
        allocations=(held(0, ()), held(1, (0,)), held(2, (1,))),
        heap_traces=(),
    )
    leaves = [
        replace(_leaf((4, 2), "P()"), path=f"params['layer']['w{n}']", parameter=n)
        for n in range(2)
    ]
    entries = memory_ledger(module, given, inputs=leaves).entries
    assert sorted((e.allocation, e.parameter, e.state) for e in entries) == [
        (0, None, ()),
        (1, 0, ("layer", "w0")),
        (2, 1, ("layer", "w1")),
    ]
