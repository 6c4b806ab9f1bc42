"""Elements of a constant as one dense array, whatever they were read from."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from hloscope.hlo.dtypes import BITS

Array = npt.NDArray[Any]

PREVIEW = 64  # characters of a literal that a report may show
_MANY = 40  # elements that are enough to fill a preview

# element type -> numpy type; types below eight bits take one byte an element
STORAGE: dict[str, np.dtype[Any]] = {
    "pred": np.dtype("?"),
    **{name: np.dtype("i1") for name in ("s1", "s2", "s4", "s8")},
    **{name: np.dtype("u1") for name in ("u1", "u2", "u4", "u8")},
    **{name: np.dtype(f"<i{BITS[name] // 8}") for name in ("s16", "s32", "s64")},
    **{name: np.dtype(f"<u{BITS[name] // 8}") for name in ("u16", "u32", "u64")},
    **{name: np.dtype(f"<f{BITS[name] // 8}") for name in ("f16", "f32", "f64")},
    "c64": np.dtype("<c8"),
    "c128": np.dtype("<c16"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e3m4": np.dtype(ml_dtypes.float8_e3m4),
    "f8e4m3": np.dtype(ml_dtypes.float8_e4m3),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e4m3b11fnuz": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8e8m0fnu": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f4e2m1fn": np.dtype(ml_dtypes.float4_e2m1fn),
    "f6e2m3fn": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6e3m2fn": np.dtype(ml_dtypes.float6_e3m2fn),
}

# decimal digits that tell every value of a type apart: ceil(1 + significand bits * log10(2))
_DIGITS = {
    "f64": 17, "f32": 9, "f16": 5, "bf16": 4, "f8e3m4": 3, "f8e4m3": 3, "f8e4m3fn": 3,
    "f8e4m3b11fnuz": 3, "f8e4m3fnuz": 3, "f8e5m2": 2, "f8e5m2fnuz": 2, "f8e8m0fnu": 2,
    "f4e2m1fn": 2, "f6e2m3fn": 3, "f6e3m2fn": 2,
}  # fmt: skip
_FEWER_DIGITS = {"f64": 15, "f32": 6}  # XLA tries these first
_PARTS = {"c64": "f32", "c128": "f64"}


def digest(arrays: list[Array]) -> bytes:
    """BLAKE2b-128 over the element bytes of `arrays`, one after the other."""
    hashed = blake2b(digest_size=16)
    for array in arrays:
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.digest()


def preview(dtype: str, array: Array) -> str:
    """The first characters of XLA's text of an array, without its `/*i0=0*/` marks."""
    if array.ndim == 0:
        value = array[()]
        return (str(bool(value)).lower() if dtype == "pred" else _element(dtype, value))[:PREVIEW]
    return _nested(dtype, array, [_MANY], is_inner=False)[:PREVIEW]


def _nested(dtype: str, array: Array, budget: list[int], *, is_inner: bool) -> str:
    """Braces around the rows until `budget`, a count that the rows share, is used up.

    XLA puts blanks inside all of them but those of a vector, or of a row of one.
    """
    parts: list[str] = []
    for row in array:
        if budget[0] <= 0:
            break
        budget[0] -= 1
        if array.ndim > 1:
            parts.append(_nested(dtype, row, budget, is_inner=True))
        else:
            parts.append(_element(dtype, row))
    text = ", ".join(parts)
    spaced = array.ndim > 1 or (is_inner and len(array) != 1)
    return f"{{ {text} }}" if spaced else f"{{{text}}}"


def _element(dtype: str, value: Any) -> str:
    if dtype in _PARTS:
        part = _PARTS[dtype]
        return f"({_real(part, value.real)}, {_real(part, value.imag)})"
    if dtype in _DIGITS:
        return _real(dtype, value)
    return str(int(value))


def _real(dtype: str, value: Any) -> str:
    """A real number as XLA's `RoundTripFpToString` writes it, NaN payloads left out."""
    number = float(value)
    if number != number:
        return "-nan" if np.signbit(value) else "nan"
    few = _FEWER_DIGITS.get(dtype)
    if few is not None:
        short = f"{number:.{few}g}"
        with np.errstate(over="ignore"):
            if STORAGE[dtype].type(float(short)) == value:
                return short
    return f"{number:.{_DIGITS[dtype]}g}"
