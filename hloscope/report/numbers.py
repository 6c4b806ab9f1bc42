"""Numbers and shapes as people read them; the one place where exact values are rounded."""

from __future__ import annotations

import re

from hloscope.model.units import Maybe, Measured, Missing

_LAYOUT = re.compile(r"(?<=\])\{[^}]*\}")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")


def bytes_text(count: float) -> str:
    """`1536` as `1.50 KiB`; exact below 1 KiB."""
    return _scaled(count, 1024, _BINARY)


def count_text(count: float, unit: str = "") -> str:
    """`1.5e9` as `1.50 G`, with the unit behind the prefix; exact below 1,000."""
    return _scaled(count, 1000, tuple(prefix + unit for prefix in _DECIMAL))


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
    """The delta relative to its base; empty where the base is 0, since no ratio is honest there."""
    return f"{100 * delta / base:+.1f}%" if base else ""


def without_layout(shape: str) -> str:
    """`bf16[8,128]{1,0:T(8,128)(2,1)}` as `bf16[8,128]`: layouts matter where they differ alone."""
    return _LAYOUT.sub("", shape)


def _scaled(count: float, step: int, units: tuple[str, ...]) -> str:
    size = abs(count)
    power = 0
    # 999.996 would print as 1000.00: judge by what is printed
    while power + 1 < len(units) and round(size, 2) >= step:
        size /= step
        power += 1
    number = f"{size:.2f}" if power else f"{size:g}"
    return f"{'-' if count < 0 else ''}{number} {units[power]}".rstrip()
