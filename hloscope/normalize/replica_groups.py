"""Replica groups, in whichever notation, as explicit lists."""

from __future__ import annotations

import math
import re

_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?$")
_MESH = re.compile(r"mesh\[(?P<axes>[^\]]*)\]\s*\{(?P<over>[^}]*)\}$")
_AXIS = re.compile(r"'?([\w.\-]+)'?=(\d+)")
_OVER = re.compile(r"'?([\w.\-]+)'?(?::\((\d+)\)(\d+))?")
_GROUP = re.compile(r"\{([\d,\s]*)\}")
# the largest slice has fewer devices; a forged text must not fill the memory
MAX_DEVICES = 1 << 20


def explicit_groups(text: str) -> str:
    """Replica groups as `{{0,1},{2,3}}`, groups sorted by their first member.

    Order inside a group stays: all-gather and all-to-all depend on it. A notation that is not
    understood stays as it is.
    """
    compact = text.strip()
    groups = _from_iota(compact) or _from_mesh(compact) or _from_lists(compact)
    if groups is None:
        return compact
    return "{" + ",".join("{" + ",".join(map(str, g)) + "}" for g in sorted(groups)) + "}"


def _from_lists(text: str) -> list[list[int]] | None:
    if not text.startswith("{{"):
        return None
    inner = _GROUP.findall(text[1:-1])
    return [[int(n) for n in group.split(",") if n.strip()] for group in inner]


def _from_iota(text: str) -> list[list[int]] | None:
    """`[groups,size]<=[reshape]T(transpose)`: an iota, reshaped, transposed, cut into groups."""
    match = _IOTA.match(text)
    if match is None:
        return None
    shape = [int(n) for n in match[1].split(",") if n]
    dims = [int(n) for n in match[2].split(",") if n]
    order = [int(n) for n in match[3].split(",") if n] if match[3] else list(range(len(dims)))
    if sorted(order) != list(range(len(dims))) or math.prod(dims) > MAX_DEVICES:
        return None
    if math.prod(shape) != math.prod(dims) or len(shape) != 2:
        return None
    return _cut(_transposed(dims, order), shape[1])


def _from_mesh(text: str) -> list[list[int]] | None:
    """`mesh['a'=2,'b'=4] {'b'}`: one group per place on the axes that are not named."""
    match = _MESH.match(text)
    if match is None:
        return None
    axes = [(name, int(size)) for name, size in _AXIS.findall(match["axes"])]
    names = [name for name, _ in axes]
    over = [name for name, sub, _ in _OVER.findall(match["over"]) if not sub]
    has_part = "(" in match["over"] or "device_ids" in match["axes"]
    dims = [size for _, size in axes]
    if has_part or any(name not in names for name in over) or math.prod(dims) > MAX_DEVICES:
        return None
    inside = [names.index(name) for name in over]
    outside = [k for k in range(len(dims)) if k not in inside]
    size = math.prod(dims[k] for k in inside)
    return _cut(_transposed(dims, outside + inside), size)


def _transposed(dims: list[int], order: list[int]) -> list[int]:
    """The numbers of an iota of `dims`, read in the order of the transposed dimensions."""
    strides = [math.prod(dims[k + 1 :]) for k in range(len(dims))]
    numbers = [0]
    for axis in order:
        numbers = [n + step * strides[axis] for n in numbers for step in range(dims[axis])]
    return numbers


def _cut(numbers: list[int], size: int) -> list[list[int]] | None:
    if size < 1:
        return None
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]
