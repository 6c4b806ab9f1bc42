"""`LiteralProto` to `Literal`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hloscope.hlo.dtypes import BITS, name_of
from hloscope.hlo.literal_elements import PREVIEW, STORAGE, Array, digest, preview
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.hlo import Literal

ELIDED = Literal("{...}", None)

# types whose field is a `repeated` number rather than bytes, with the type it holds
_REPEATED: dict[str, tuple[str, str]] = {
    "pred": ("preds", "?"),
    "s32": ("s32s", "<i4"),
    "s64": ("s64s", "<i8"),
    "u32": ("u32s", "<u4"),
    "u64": ("u64s", "<u8"),
    "f32": ("f32s", "<f4"),
    "f64": ("f64s", "<f8"),
    "c64": ("c64s", "<f4"),
    "c128": ("c128s", "<f8"),
}


def read_literal(proto: pb.LiteralProto) -> Literal:
    """A literal's preview and digest; elided where the proto was stripped of its values."""
    arrays: list[Array] = []
    texts: list[str] = []
    if not _collect(proto, arrays, texts.append):
        return ELIDED
    return Literal("".join(texts)[:PREVIEW], digest(arrays))


def _collect(proto: pb.LiteralProto, arrays: list[Array], write: Callable[[str], None]) -> bool:
    """Appends the arrays of a literal in order; `False` where a value is not there."""
    dtype = name_of(proto.shape.element_type)
    if dtype == "tuple":
        write("( ")
        for number, element in enumerate(proto.tuple_literals):
            write(", " if number else "")
            if not _collect(element, arrays, write):
                return False
        write(" )")
        return len(proto.tuple_literals) == len(proto.shape.tuple_shapes)
    array = _array(dtype, proto)
    if array is None:
        return False
    arrays.append(array)
    write(preview(dtype, array))
    return True


def _array(dtype: str, proto: pb.LiteralProto) -> Array | None:
    """The elements in logical row-major order."""
    if dtype not in STORAGE:
        return None
    dims = tuple(proto.shape.dimensions)
    if any(d < 0 for d in dims):
        return None
    flat = _flat(dtype, proto, int(np.prod(dims, dtype=np.int64)))
    if flat is None:
        return None
    order = tuple(proto.shape.layout.minor_to_major)
    if sorted(order) != list(range(len(dims))):
        return flat.reshape(dims)
    # stored as the layout says: the last of minor_to_major varies slowest
    major_to_minor = order[::-1]
    stored = flat.reshape([dims[d] for d in major_to_minor])
    return stored.transpose([major_to_minor.index(d) for d in range(len(dims))])


def _flat(dtype: str, proto: pb.LiteralProto, count: int) -> Array | None:
    """`count` elements as stored, `None` where the proto has another number of them."""
    if dtype in _REPEATED:
        field, kind = _REPEATED[dtype]
        numbers = np.array(getattr(proto, field), dtype=np.dtype(kind))
        elements = (
            numbers.view(STORAGE[dtype]) if numbers.size % 2 == 0 or dtype[0] != "c" else numbers
        )
        return elements if elements.size == count else None
    data: bytes = getattr(proto, f"{dtype}s")
    if BITS[dtype] < 8:
        return _unpack(dtype, np.frombuffer(data, np.uint8), count)
    if len(data) != count * STORAGE[dtype].itemsize:
        return None
    return np.frombuffer(data, STORAGE[dtype])


def _unpack(dtype: str, packed: Array, count: int) -> Array | None:
    """Elements of less than a byte, low bits first, one byte each; six bits are not packed."""
    bits = BITS[dtype]
    per_byte = 8 // bits if bits in (1, 2, 4) else 1
    if packed.size == count:
        per_byte = 1  # newer protos do not pack
    if packed.size != -(-count // per_byte):
        return None
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    values = (packed[:, None] >> shifts).reshape(-1)[:count] & np.uint8((1 << bits) - 1)
    if dtype[0] == "s":
        sign = np.uint8(1 << (bits - 1))
        signed: Array = ((values ^ sign).astype(np.int16) - int(sign)).astype(np.int8)
        return signed
    elements: Array = values.view(STORAGE[dtype])
    return elements
