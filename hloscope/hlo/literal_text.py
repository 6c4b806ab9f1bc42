"""Constants in HLO text to `Literal`."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from hloscope.hlo.dtypes import BITS
from hloscope.hlo.literal_elements import PREVIEW, STORAGE, Array, digest, preview
from hloscope.model.hlo import Literal, Shape

# a literal's text beyond which its value is not worth the time: 64 MiB take seconds to parse
MAX_TEXT = 1 << 26

MAX_SPLAT = 1 << 24  # elements that one scalar is spread over

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAN = re.compile(r"-?nan\(0x([0-9a-fA-F]+)\)")
_FLAT = str.maketrans("{}()", "    ")
_GAP = re.compile(r"\s*,[\s,]*")
_OPENING = re.compile(r"[{\s]*+")
_SCALAR = 64  # characters; shorter ones repeat, so they are remembered


def read_literal(text: str, shape: Shape) -> Literal:
    """The constant that `text` spells for a value of `shape`.

    A text that does not fit its shape is kept as it is, and told apart from others by its own
    digest.
    """
    if len(text) <= _SCALAR:
        return _remembered(text, shape)
    return _literal(text, shape)


@lru_cache(maxsize=65536)
def _remembered(text: str, shape: Shape) -> Literal:
    return _literal(text, shape)


def _literal(text: str, shape: Shape) -> Literal:
    if "..." in text or len(text) > MAX_TEXT:
        return Literal("{...}", None)
    arrays: list[Array] = []
    said: list[str] = []
    try:
        with warnings.catch_warnings():
            # numpy warns of text that is left over, and of casts that overflow; both raise here
            warnings.simplefilter("error")
            _collect(_COMMENT.sub("", text).strip(), shape, arrays, said)
    except (ValueError, OverflowError, DeprecationWarning, RuntimeWarning):
        kept = blake2b(" ".join(text.split()).encode("utf-8", "surrogateescape"), digest_size=16)
        return Literal(" ".join(text.split())[:PREVIEW], kept.digest())
    return Literal("".join(said)[:PREVIEW], digest(arrays))


def _collect(text: str, shape: Shape, arrays: list[Array], said: list[str]) -> None:
    if shape.dtype != "tuple":
        array = _array(text, shape)
        arrays.append(array)
        said.append(preview(shape.dtype, array))
        return
    parts = _elements(text)
    if len(parts) != len(shape.elements):
        raise ValueError(text[:PREVIEW])
    said.append("( ")
    for number, (part, element) in enumerate(zip(parts, shape.elements, strict=True)):
        said.append(", " if number else "")
        _collect(part, element, arrays, said)
    said.append(" )")


_BRACKET = re.compile(r"[(){},]")


def _elements(text: str) -> list[str]:
    """The elements of `( a, b )`, split at its own commas."""
    if text[:1] != "(" or text[-1:] != ")":
        raise ValueError(text[:PREVIEW])
    parts: list[str] = []
    depth, start, end = 0, 1, len(text) - 1
    for token in _BRACKET.finditer(text, 1, end):
        if token[0] in "({":
            depth += 1
        elif token[0] in ")}":
            depth -= 1
        elif depth == 0:
            parts.append(text[start : token.start()].strip())
            start = token.end()
    last = text[start:end].strip()
    return [*parts, last] if last or parts else []


def _array(text: str, shape: Shape) -> Array:
    if shape.dtype not in STORAGE:
        raise ValueError(shape.dtype)
    if _is_number(text) and shape.dims:
        return _splat(text, shape)
    _check_nesting(text, shape)
    is_complex = shape.dtype[0] == "c"
    special = "nan(" in text or "-nan" in text
    nans = _patterns(text, shape.dtype) if special and not is_complex else {}
    flat = _GAP.sub(",", _NAN.sub("nan", text).translate(_FLAT)).strip(" ,\n\t\r")
    values = _numbers(flat, shape.dtype)
    count = int(np.prod(shape.dims, dtype=np.int64))
    if values.size != count:
        raise ValueError(f"{values.size} elements")
    if nans:
        bits = values.view(f"u{values.itemsize}")
        for position, pattern in nans.items():
            bits[position] = pattern
    return values.reshape(shape.dims)


def _is_number(text: str) -> bool:
    """Whether there is one scalar and no brace, which XLA reads as a value for every element."""
    return text[:1] != "{" and (text[:1] == "(" or "," not in text)


def _splat(text: str, shape: Shape) -> Array:
    count = int(np.prod(shape.dims, dtype=np.float64))
    if not 0 <= count <= MAX_SPLAT:
        raise ValueError(f"{count} elements")
    return np.full(shape.dims, _array(text, Shape(shape.dtype))[()])


def _check_nesting(text: str, shape: Shape) -> None:
    """As many braces open first as the shape has dimensions."""
    opening = _OPENING.match(text)
    rank = 0 if opening is None else opening[0].count("{")
    if rank != len(shape.dims) and 0 not in shape.dims:
        raise ValueError(text[:PREVIEW])


def _numbers(flat: str, dtype: str) -> Array:
    """The numbers of a comma-separated list."""
    storage = STORAGE[dtype]
    if not flat:
        return np.zeros(0, storage)
    if dtype == "pred":
        return _integers(flat.replace("true", "1").replace("false", "0"), np.dtype("u1")).astype(
            "?"
        )
    if dtype == "u64":
        return np.array([_unsigned(part) for part in flat.split(",")], dtype=storage)
    if dtype[0] in "su":
        values = _integers(flat, np.dtype("<i8"))
        low, high = _range(dtype)
        if values.min() < low or values.max() > high:
            raise ValueError("out of range")
        return values.astype(storage)
    if dtype[0] == "c":
        return _parsed(flat, "<f8").astype("<f4" if dtype == "c64" else "<f8").view(storage)
    return _reals(flat, dtype)


def _unsigned(text: str) -> int:
    """XLA takes a negative number for the unsigned one with its bits."""
    value = int(text)
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(text)
    return value & ((1 << 64) - 1)


def _range(dtype: str) -> tuple[int, int]:
    bits = BITS[dtype]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype[0] == "s" else (0, (1 << bits) - 1)


def _integers(flat: str, storage: np.dtype[np.int64] | np.dtype[np.uint8]) -> Array:
    return _parsed(flat, storage.str)


def _reals(flat: str, dtype: str) -> Array:
    wide = _parsed(flat, "<f8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cast of an infinity or a rounding to one
        return wide.astype(STORAGE[dtype])


def _parsed(flat: str, kind: str) -> Array:
    """A list of numbers through numpy's own reader, which is written in C."""
    return np.fromstring(flat, dtype=np.dtype(kind), sep=",")


# bits of the significand that a NaN's payload fills
_SIGNIFICAND = {
    "f16": 10, "bf16": 7, "f32": 23, "f64": 52, "f8e5m2": 2, "f8e3m4": 4, "f8e4m3": 3,
}  # fmt: skip


def _patterns(text: str, dtype: str) -> dict[int, int]:
    """Element position to bit pattern, for `-nan` and `nan(0x7f)`."""
    patterns: dict[int, int] = {}
    for position, element in enumerate(text.translate(str.maketrans("{}", "  ")).split(",")):
        element = element.strip()
        if element == "-nan":
            patterns[position] = _negative_nan(dtype)
        elif found := _NAN.fullmatch(element):
            patterns[position] = _with_payload(dtype, int(found[1], 16), element[0] == "-")
    return patterns


def _negative_nan(dtype: str) -> int:
    nan = np.array([np.nan]).astype(STORAGE[dtype])
    bits = int(nan.view(f"u{nan.itemsize}")[0])
    return bits | 1 << (8 * nan.itemsize - 1)


def _with_payload(dtype: str, payload: int, negative: bool) -> int:
    width = _SIGNIFICAND.get(dtype, 0)
    if not 0 < payload < 1 << width:
        raise ValueError(f"payload {payload}")
    exponent = ((1 << (BITS[dtype] - 1 - width)) - 1) << width
    return (negative << (BITS[dtype] - 1)) | exponent | payload
