"""Texts short enough for a figure, figures in the unit of their axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hloscope.attribute import SPACES
from hloscope.model.hlo import Shape
from hloscope.report.numbers import bytes_text, count_text, seconds_text

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_TUPLE_SHOWN = 2


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


def cut(text: str, width: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def cut_path(parts: Iterable[str], width: int) -> str:
    """The end of a path that is too long, since its end says most; cut between its parts."""
    kept = list(parts)
    text = "/".join(kept)
    if len(text) <= width:
        return text
    while len(kept) > 1 and len("/".join(kept)) + 2 > width:
        kept.pop(0)
    text = "/".join(kept)
    return "…/" + text if len(text) + 2 <= width else "…" + text[-(width - 1) :]


def side_names(labels: Sequence[str], width: int = 44) -> tuple[str, ...]:
    """What sides are called: no more of paths, or of programs' options, than tells them apart."""
    specs = [_options(label) for label in labels]
    shared = frozenset.intersection(*(frozenset(options) for _, options in specs))
    if len(labels) > 1:
        labels = [_without(*spec, shared) for spec in specs]
    paths = [_path_parts(label) for label in labels]
    for count in range(1, max(map(len, paths)) + 1):
        ends = ["/".join(parts[-count:]) for parts in paths]
        if len(set(ends)) == len(set(labels)):
            return tuple(cut(end, width) for end in ends)
    return tuple(cut(label, width) for label in labels)


def _options(label: str) -> tuple[str, list[str]]:
    """A program's spec without its options, and these."""
    name, mark, options = label.partition("?")
    return name, options.split("&") if mark else []


def _without(name: str, options: Sequence[str], shared: frozenset[str]) -> str:
    own = [option for option in options if option not in shared]
    left_out = ["…"] if len(own) < len(options) else []
    return f"{name}?{'&'.join(own + left_out)}" if options else name


def _path_parts(label: str) -> list[str]:
    """A path's components; a program's spec is one component."""
    head = label.partition("?")[0]
    if ":" in head.rpartition("/")[2]:
        return [label]
    return [part for part in label.split("/") if part] or [label]


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
