"""Sizes of shapes as they lie in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import prod

from hloscope.model.hlo import Shape

# bits of an element; a type that is not listed is unknown and takes no part in any size
_BITS = {
    "pred": 8, "s1": 8, "u1": 8, "s2": 8, "u2": 8, "s4": 8, "u4": 8, "s8": 8, "u8": 8,
    "s16": 16, "u16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64,
    "f4e2m1fn": 8, "f6e3m2fn": 8, "f6e2m3fn": 8,
    "f8e3m4": 8, "f8e4m3": 8, "f8e4m3fn": 8, "f8e4m3b11fnuz": 8, "f8e4m3fnuz": 8, "f8e5m2": 8,
    "f8e5m2fnuz": 8, "f8e8m0fnu": 8,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128,
}  # fmt: skip
# `E(n)` of a layout: the bits an element takes where they are fewer than its type's bytes
_ELEMENT_BITS = re.compile(r"E\((\d+)\)")
_DYNAMIC_SIZE_BYTES = 4  # XLA keeps the true extent of each dimension behind a dynamic array


@lru_cache(maxsize=65536)
def element_count(shape: Shape) -> int:
    """Elements of an array shape; 0 for a tuple or token."""
    if shape.elements or shape.dtype not in _BITS:
        return 0
    return prod(max(extent, 0) for extent in shape.dims)


def element_bits(shape: Shape) -> int:
    """Bits that one element takes in memory, 0 for types without a size."""
    found = _ELEMENT_BITS.search(shape.layout.rest) if shape.layout else None
    return int(found[1]) if found else _BITS.get(shape.dtype, 0)


@lru_cache(maxsize=65536)
def array_bytes(shape: Shape, *, padded: bool = True) -> int:
    """Bytes of an array, with what tiling adds (`T(8,128)` rounds the two minor extents up).

    Source of the rule: XLA's `ShapeUtil::ArraySize`, which looks at the first tile alone.
    """
    count = element_count(shape)
    if padded and count and shape.layout is not None and shape.layout.tiles:
        count = _tiled_count(shape)
    metadata = _DYNAMIC_SIZE_BYTES * len(shape.dims) if shape.dynamic else 0
    return -(-count * element_bits(shape) // 8) + metadata


def _tiled_count(shape: Shape) -> int:
    assert shape.layout is not None  # noqa: S101 - the caller looked
    tile = shape.layout.tiles[0]
    extents = [shape.dims[d] for d in reversed(shape.layout.minor_to_major) if d < len(shape.dims)]
    # a tile of more dimensions than the array has covers leading extents of 1
    extents = [1] * (len(tile) - len(extents)) + extents
    outer = len(extents) - len(tile)
    rounded = [
        -(-extent // size) * size if size > 0 else extent
        for extent, size in zip(extents[outer:], tile, strict=True)
    ]
    return prod(extents[:outer]) * prod(rounded)


def leaves(shape: Shape) -> Iterator[Shape]:
    """The arrays of a shape, in order."""
    if not shape.elements:
        if shape.dtype != "tuple":
            yield shape
        return
    for element in shape.elements:
        yield from leaves(element)


@lru_cache(maxsize=65536)
def leaf_bytes(shape: Shape, *, padded: bool = True) -> int:
    """Bytes of all arrays in a shape, tuple tables not counted."""
    return sum(array_bytes(leaf, padded=padded) for leaf in leaves(shape))


@lru_cache(maxsize=65536)
def device_share(shape: Shape) -> int:
    """Bytes of the arrays in a shape that lie in memory space 0."""
    return sum(array_bytes(leaf) for leaf in leaves(shape) if in_device_memory(leaf))


def in_device_memory(shape: Shape) -> bool:
    """Whether an array lies in memory space 0 (HBM on TPU)."""
    return shape.layout is None or shape.layout.memory_space == 0


@lru_cache(maxsize=65536)
def dtype_text(shape: Shape) -> str:
    """The shape without layouts, as HLO text writes it (`bf16[8,128]`, `(f32[2], s32[])`)."""
    if shape.dtype == "tuple" or shape.elements:
        return "(" + ", ".join(dtype_text(element) for element in shape.elements) + ")"
    if shape.dtype in ("token", "opaque"):
        return f"{shape.dtype}[]"
    extents = ",".join(f"<={d}" if n in shape.dynamic else str(d) for n, d in enumerate(shape.dims))
    return f"{shape.dtype}[{extents}]"
