"""Counts as people read them, rounded to three digits."""

from __future__ import annotations

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")


def bytes_text(count: float) -> str:
    """`1536` as `1.50 KiB`; exact below 1 KiB."""
    return _scaled(count, 1024, _BINARY)


def count_text(count: float, unit: str = "") -> str:
    """`1.5e9` as `1.50 G`, with the unit behind the prefix; exact below 1,000."""
    return _scaled(count, 1000, tuple(prefix + unit for prefix in _DECIMAL))


def _scaled(count: float, step: int, units: tuple[str, ...]) -> str:
    size = abs(count)
    power = 0
    # 999.996 would print as 1000.00: judge by what is printed
    while power + 1 < len(units) and round(size, 2) >= step:
        size /= step
        power += 1
    number = f"{size:.2f}" if power else f"{size:g}"
    return f"{'-' if count < 0 else ''}{number} {units[power]}".rstrip()
