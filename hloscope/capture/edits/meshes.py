"""A sharding over one mesh, said over another mesh of the same devices in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple


class SubAxis(NamedTuple):
    """A part of a mesh axis, as Shardy writes it: `"fsdp":(2)2`; a whole axis has `before` 1.

    Attributes:
      before: extent of the axis's parts that are more major.
      size: extent of the part.
      extent: of the axis.
    """

    name: str
    before: int
    size: int
    extent: int

    @property
    def whole(self) -> bool:
        """Whether it is the whole axis."""
        return self.size == self.extent


class MeshMismatchError(ValueError):
    """Two meshes that do not divide the devices alike; the text says where."""


def translate(
    axis: str, part: tuple[int, int] | None, source: Mapping[str, int], target: Mapping[str, int]
) -> tuple[SubAxis, ...]:
    """The axes of `target` that divide the devices as an axis of `source` does, major first.

    Both meshes number the same devices row by row. An axis then is a range of strides, and what a
    target's axis has of that range is a part of it.

    Args:
      axis: an axis of `source`.
      part: (extent before, size) where only a part of it is meant.
      source: axis sizes, major first.
      target: likewise.

    Raises:
      MeshMismatchError: the meshes differ in size, or an axis would have to be cut at a fraction.
    """
    if prod(source.values()) != prod(target.values()):
        raise MeshMismatchError(
            f"meshes of {prod(source.values())} and {prod(target.values())} devices"
        )
    low, high = _strides(source)[axis]
    if part is not None:
        before, size = part
        high //= before
        low = high // size
    found = []
    for name, (start, end) in _strides(target).items():
        left, right = max(low, start), min(high, end)
        if left >= right:
            continue
        if end % right or right % left or left % start:
            raise MeshMismatchError(
                f"axis '{axis}' cuts axis '{name}' of the other mesh at a fraction"
            )
        found.append(SubAxis(name, end // right, right // left, end // start))
    if prod(each.size for each in found) != high // low:
        raise MeshMismatchError(f"axis '{axis}' is no product of axes of the other mesh")
    return tuple(found)


def joined(parts: Iterable[SubAxis]) -> tuple[SubAxis, ...]:
    """Parts in a row that are one part of an axis together, as one, which Shardy demands."""
    found: list[SubAxis] = []
    for part in parts:
        last = found[-1] if found else None
        if last is not None and last.name == part.name and last.before * last.size == part.before:
            found[-1] = last._replace(size=last.size * part.size)
        else:
            found.append(part)
    return tuple(found)


def _strides(mesh: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Each axis's stride and the stride of what is next more major, major first."""
    names: Sequence[str] = tuple(mesh)
    found = {}
    stride = 1
    for name in reversed(names):
        found[name] = (stride, stride * mesh[name])
        stride *= mesh[name]
    return {name: found[name] for name in names}
