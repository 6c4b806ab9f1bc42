"""What a value was before it was partitioned, and so whether its sharding or its shape changed."""

from __future__ import annotations

import pytest

from hloscope.attribute import whole_of
from hloscope.attribute.memory_parts import growth_parts
from hloscope.hlo import read_text
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Module, Shape
from hloscope.model.ledger import Category, LedgerEntry, Part, Value
from hloscope.model.source import Source, SourceKind
from hloscope.model.units import Bytes

BEFORE = """HloModule before
sorts { p = f32[64,32] parameter(0)
 ROOT s = f32[64,32] sort(p), dimensions={1}, to_apply=less, metadata={op_name="sort"} }
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e { x = f32[64,32] parameter(0)
 y = f32[64,32] tanh(x), metadata={op_name="jit(f)/tanh"}
 t = f32[32,64] transpose(y), dimensions={1,0}, metadata={op_name="jit(f)/both"}
 u = f32[32,128] broadcast(t), metadata={op_name="jit(f)/both"}
 ROOT z = f32[64,32] call(y), to_apply=sorts, metadata={op_name="jit(f)/jit(sort)"} }
"""
OPTIMIZED = """HloModule after, num_partitions={devices}
ENTRY e {{ x = f32[16,32] parameter(0)
 ROOT y = f32[16,32] tanh(x), metadata={{op_name="{name}"}} }}
"""


def module(text: str) -> Module:
    (found,) = read_text(text)
    return found


def entry(dims: tuple[int, ...], dtype: str = "f32") -> LedgerEntry:
    size = Bytes(4 * dims[0] * dims[1])
    return LedgerEntry(
        category=Category.TEMPORARY, name="y", size=size, unpadded=size,
        value=Value(Ref(0, 1), ()), shape=Shape(dtype, dims),
    )  # fmt: skip


def whole(name: str, dims: tuple[int, ...], devices: int = 4) -> int | None:
    after = module(OPTIMIZED.format(devices=devices, name=name))
    return whole_of(Source(label="m", kind=SourceKind.TEXT, module=after, before=module(BEFORE)))(
        entry(dims)
    )


@pytest.mark.parametrize("name", ["jit(f)/tanh", "jit(f)/jit(sort)/sort"])
def test_an_operation_is_found_by_its_name_through_calls(name: str) -> None:
    assert whole(name, (16, 32)) == whole(name, (32, 16)) == whole(name, (64, 32)) == 64 * 32


@pytest.mark.parametrize(
    ("name", "dims", "devices"),
    [
        ("", (16, 32), 4),
        ("jit(f)/other", (16, 32), 4),
        ("jit(f)/both", (16, 32), 8),  # a part of either
        ("jit(f)/tanh", (24, 32), 4),  # no part of it
        ("jit(f)/tanh", (16, 32), 3),  # three devices do not have a fourth each
        ("jit(f)/tanh", (64, 32), 1),  # nothing is partitioned
    ],
)
def test_what_does_not_fit_is_unknown(name: str, dims: tuple[int, ...], devices: int) -> None:
    assert whole(name, dims, devices) is None


def test_without_the_module_before_it_is_unknown() -> None:
    after = module(OPTIMIZED.format(devices=4, name="jit(f)/tanh"))
    assert whole_of(Source(label="m", kind=SourceKind.TEXT, module=after))(entry((16, 32))) is None


@pytest.mark.parametrize(
    ("wholes", "parts"),
    [
        ((2048, 2048), {Part.SHARDING: 2048}),
        ((2048, 4096), {Part.SHAPE: 2048}),
        ((2048, 8192), {Part.SHAPE: 3 * 2048, Part.SHARDING: -2 * 2048}),
        ((None, 4096), {Part.SHAPE: 2048}),
    ],
)
def test_growth_is_shape_or_sharding(
    wholes: tuple[int | None, int | None], parts: dict[Part, int]
) -> None:
    assert dict(growth_parts(entry((16, 32)), entry((32, 32)), wholes)) == parts
