"""Texts short enough for a figure, figures in the unit of their axis."""

from __future__ import annotations

from typing import NamedTuple

from hloscope.attribute import SPACES
from hloscope.model.hlo import Shape
from hloscope.report.names import cut, cut_path, side_names
from hloscope.report.numbers import bytes_text, count_text, seconds_text

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_TUPLE_SHOWN = 2

__all__ = [
    "Unit",
    "amount_text",
    "bytes_unit",
    "cut",
    "cut_path",
    "shape_label",
    "side_names",
    "space_name",
    "unit_of",
]


class Unit(NamedTuple):
    """What an axis counts in: `size` of the quantity's base unit."""

    size: float
    name: str


def bytes_unit(extent: float) -> Unit:
    """The binary unit in which `extent` bytes is a number of one to four digits."""
    power = 0
    while power + 1 < len(_BINARY) and extent >= 1024 ** (power + 1):
        power += 1
    return Unit(float(1024**power), _BINARY[power])


def unit_of(quantity: str, extent: float) -> Unit:
    """The unit in which `extent` of bytes, seconds or a count reads well."""
    if quantity == "bytes":
        return bytes_unit(extent)
    if quantity == "seconds":
        return next((Unit(*unit) for unit in _TIME if extent >= unit[0]), Unit(*_TIME[-1]))
    power = 0
    while power + 1 < len(_DECIMAL) and extent >= 1000 ** (power + 1):
        power += 1
    return Unit(float(1000**power), _DECIMAL[power])


def amount_text(quantity: str, value: float) -> str:
    """`value` of bytes, seconds or a count, with its unit."""
    if quantity == "bytes":
        return bytes_text(value)
    return seconds_text(value) if quantity == "seconds" else count_text(value)


def space_name(space: int) -> str:
    """What a memory space is called, on every backend."""
    return SPACES.get(space, f"memory space {space}") if space else "device memory"


def shape_label(shape: Shape | None) -> str:
    """`bf16[48,3072]`, without layout; of a tuple the first elements."""
    if shape is None:
        return ""
    if shape.elements:
        shown = [shape_label(element) for element in shape.elements[:_TUPLE_SHOWN]]
        return f"({', '.join(shown)}{', …' if len(shape.elements) > len(shown) else ''})"
    return f"{shape.dtype}[{','.join(map(str, shape.dims))}]"
