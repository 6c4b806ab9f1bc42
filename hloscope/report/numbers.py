"""Numbers and shapes as people read them; the one place where exact values are rounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hloscope.model import number_text
from hloscope.model.units import Maybe, Measured, Missing

# how numbers are written is the reader's choice, and would otherwise be handed through every
# function that writes a line
_EXACT: ContextVar[bool] = ContextVar("exact", default=False)

_FACTOR = 10  # from here on a factor says more than a percentage
_ARRAYS = 2  # of a tuple, so many are shown
_ARRAY = re.compile(r"[a-z]\w*\[[^\]]*\]")
_LAYOUT = re.compile(r"(?<=\])\{[^}]*\}")


@contextmanager
def exact_numbers(exact: bool = True) -> Iterator[None]:
    """Within the block bytes and counts are written in full: `1,536 B` for `1.50 KiB`."""
    token = _EXACT.set(exact)
    try:
        yield
    finally:
        _EXACT.reset(token)


def bytes_text(count: float) -> str:
    """`1536` as `1.50 KiB`; exact below 1 KiB."""
    return f"{count:,.0f} B" if _EXACT.get() else number_text.bytes_text(count)


def count_text(count: float, unit: str = "") -> str:
    """`1.5e9` as `1.50 G`, with the unit behind the prefix; exact below 1,000."""
    return f"{count:,.0f} {unit}".rstrip() if _EXACT.get() else number_text.count_text(count, unit)


def seconds_text(seconds: float) -> str:
    """Seconds in the unit that leaves one to three digits before the point."""
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if abs(seconds) * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds else "0 s"


def signed(text: str) -> str:
    """A delta's text with its sign: `+` unless there is a minus or nothing at all."""
    return text if text.startswith("-") or text.split()[0] == "0" else f"+{text}"


def maybe_bytes(value: Maybe[int]) -> str:
    """The text of a byte count that may be unknown."""
    match value:
        case Measured(count):
            return bytes_text(count)
        case Missing():
            return "unknown"


def percent_text(delta: float, base: float) -> str:
    """The delta relative to its base: `+8.3%`, `x12` from ten times on; empty for a base of 0."""
    if not base:  # no ratio is honest there
        return ""
    factor = (base + delta) / base
    return f"x{factor:,.0f}" if factor >= _FACTOR else f"{100 * delta / base:+.1f}%"


def without_layout(shape: str) -> str:
    """`bf16[8,128]{1,0:T(8,128)(2,1)}` as `bf16[8,128]`: layouts matter where they differ alone."""
    return _LAYOUT.sub("", shape)


def short(shape: str) -> str:
    """A tuple's first arrays and how many follow; any other shape as it is."""
    arrays = _ARRAY.findall(shape)
    if not shape.startswith("(") or len(arrays) <= _ARRAYS:
        return shape
    return f"({', '.join(arrays[:_ARRAYS])}, {len(arrays) - _ARRAYS} more)"
