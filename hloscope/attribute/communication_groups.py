"""Replica groups in all their notations, and the mesh axes that they follow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hloscope.model.units import Maybe, Measured, Missing

_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_LISTED = re.compile(r"\{([\d,\s]*)\}")
_MESH = re.compile(r"mesh\[([^\]]*)\]\s*\{([^}]*)\}")
_AXIS = re.compile(r"'([^']+)'\s*=\s*(\d+)")
_USED = re.compile(r"'([^']+)'(?::\((\d+)\)(\d+))?")
_PAIR = re.compile(r"\{(\d{1,18}),\s*(\d{1,18})\}")
# names that the partitioner makes up where the program's mesh is not at hand
_ANONYMOUS = re.compile(r"_?axis_\d+|")

Mesh = tuple[tuple[str, int], ...]
# no machine has more; beyond it the text is garbage and expanding it would fill the memory
_MAX_DEVICES = 1 << 22


class Groups(NamedTuple):
    """Who exchanges with whom.

    Attributes:
      members: one row per group, partition numbers in order; `None` where groups differ in size or
        the notation gives none.
      size: devices of the largest group.
      number: how many groups there are.
      named: the axes that the notation itself names, `None` for none.
    """

    members: NDArray[np.int64] | None
    size: int
    number: int
    named: tuple[str, ...] | None


@lru_cache(maxsize=4096)
def read_groups(text: str, devices: int) -> Maybe[Groups]:
    """The groups that `replica_groups=` spells: listed, iota or by mesh axes.

    Args:
      text: the attribute's text; empty groups mean all devices together.
      devices: how many take part in all.
    """
    text = text.strip()
    if mesh := _MESH.fullmatch(text):
        return _mesh_groups(mesh[1], mesh[2])
    if iota := _IOTA.fullmatch(text):
        return _iota_groups(iota[1], iota[2], iota[3])
    rows = [tuple(_ints(row)) for row in _LISTED.findall(text)]
    rows = [row for row in rows if row]
    if not rows and devices > _MAX_DEVICES:
        return Missing(f"{devices} devices are more than any machine has")
    if not rows:
        members = np.arange(devices, dtype=np.int64).reshape(1, devices)
        return Measured(Groups(members, devices, 1, None))
    sizes = {len(row) for row in rows}
    listed = np.array(rows, dtype=np.int64) if len(sizes) == 1 else None
    return Measured(Groups(listed, max(sizes), len(rows), None))


def _ints(text: str) -> list[int]:
    # longer numbers are no device's
    return [int(n) for n in text.split(",") if n.strip() and len(n) < 19]


def _iota_groups(shape: str, reshape: str, order: str | None) -> Maybe[Groups]:
    """`[groups,size]<=[d0,d1,...]T(order)`: an iota, reshaped, transposed, cut into groups."""
    extents, dims = _ints(reshape), _ints(shape)
    if len(dims) != 2 or not 0 < prod(extents) == prod(dims) <= _MAX_DEVICES:
        return Missing(f"replica groups '[{shape}]<=[{reshape}]' do not fit together")
    devices = np.arange(prod(extents), dtype=np.int64).reshape(extents)
    if order is not None:
        if sorted(_ints(order)) != list(range(len(extents))):
            return Missing(f"replica groups with the order 'T({order})' do not read")
        devices = devices.transpose(_ints(order))
    members = devices.reshape(dims)
    return Measured(Groups(members, dims[1], dims[0], None))


def _mesh_groups(axes_text: str, used_text: str) -> Maybe[Groups]:
    """`mesh['a'=2,'b'=4] {'b'}`; `'b':(2)2` is the part of an axis behind a major part of 2."""
    axes = tuple((name, int(size)) for name, size in _AXIS.findall(axes_text))
    used = _USED.findall(used_text)
    strange = "device_ids" in axes_text or any(name not in dict(axes) for name, _, _ in used)
    if strange or not 0 < prod(size for _, size in axes) <= _MAX_DEVICES:
        return Missing(f"replica groups 'mesh[{axes_text}] {{{used_text}}}' do not read")
    names = tuple(name for name, _, _ in used)
    parts: list[tuple[str, int]] = []
    for name, size in axes:
        inner = [(int(major), int(minor)) for n, major, minor in used if n == name and major]
        if not inner:
            parts.append((name, size))
            continue
        major, minor = inner[0]
        if major * minor == 0 or size % (major * minor):
            return Missing(f"replica groups 'mesh[{axes_text}] {{{used_text}}}' do not read")
        parts += [(f"{name}<", major), (name, minor), (f"{name}>", size // (major * minor))]
    members = _groups_along(tuple(parts), names)
    named = None if all(_ANONYMOUS.fullmatch(name) for name in names) and names else names
    return Measured(Groups(members, members.shape[1], members.shape[0], named))


def _groups_along(mesh: Mesh, axes: tuple[str, ...]) -> NDArray[np.int64]:
    """Groups of the devices of a row-major mesh that differ along some axes only."""
    names = [name for name, _ in mesh]
    sizes = [size for _, size in mesh]
    chosen = [names.index(name) for name in axes]
    order = [n for n in range(len(names)) if n not in chosen] + chosen
    devices = np.arange(prod(sizes), dtype=np.int64).reshape(sizes or [1])
    moved = devices.transpose(order) if names else devices
    return moved.reshape(-1, prod(sizes[n] for n in chosen))


def axes_of(groups: Groups, mesh: Mapping[str, int] | None) -> Maybe[tuple[str, ...]]:
    """The mesh axes along which a group's devices differ; axes of size 1 never count.

    A program's partitions number its mesh's devices in row-major order.
    """
    found: Maybe[tuple[str, ...]] = Missing("no mesh is known that could name the axes")
    if mesh is not None:
        found = _match(groups, tuple(mesh.items()))
    if isinstance(found, Missing) and groups.named is not None:
        return Measured(tuple(name for name in groups.named if (mesh or {}).get(name) != 1))
    return found


def _match(groups: Groups, mesh: Mesh) -> Maybe[tuple[str, ...]]:
    if groups.members is None:
        return Missing("groups of different sizes follow no mesh axis")
    if groups.members.size != prod(size for _, size in mesh):
        return Missing(f"the groups hold {groups.members.size} devices, the mesh has others")
    return _match_bytes(np.sort(groups.members, axis=1).tobytes(), groups.size, mesh)


@lru_cache(maxsize=4096)
def _match_bytes(members: bytes, size: int, mesh: Mesh) -> Maybe[tuple[str, ...]]:
    wanted = _sorted(np.frombuffer(members, dtype=np.int64).reshape(-1, size))
    wide = tuple((name, extent) for name, extent in mesh if extent > 1)
    for count in range(len(wide) + 1):
        for axes in combinations(wide, count):
            names = tuple(name for name, _ in axes)
            if prod(extent for _, extent in axes) == size and np.array_equal(
                _sorted(_groups_along(wide, names)), wanted
            ):
                return Measured(names)
    return Missing("the groups do not follow the mesh's axes")


def _sorted(members: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.sort(members, axis=1)
    return rows[np.argsort(rows[:, 0])]


@lru_cache(maxsize=4096)
def read_pairs(text: str) -> tuple[tuple[int, int], ...]:
    """The (from, to) pairs of `source_target_pairs={{0,1},{1,0}}`."""
    return tuple((int(source), int(target)) for source, target in _PAIR.findall(text))


def axes_of_pairs(
    pairs: tuple[tuple[int, int], ...], mesh: Mapping[str, int] | None
) -> Maybe[tuple[str, ...]]:
    """The axes along which any pair's two devices lie apart."""
    if mesh is None:
        return Missing("no mesh is known that could name the axes")
    sizes = tuple(mesh.values())
    if any(max(pair) >= prod(sizes) for pair in pairs):
        return Missing("the pairs name devices that the mesh has not")
    apart: set[int] = set()
    for source, target in pairs:
        places = zip(np.unravel_index(source, sizes), np.unravel_index(target, sizes), strict=True)
        apart.update(n for n, (one, other) in enumerate(places) if one != other)
    return Measured(tuple(name for n, name in enumerate(mesh) if n in apart))


def meshes_in(text: str) -> list[Mesh]:
    """The meshes with names of their own that an attribute's text spells."""
    found: list[Mesh] = []
    for inner in re.findall(r"mesh\[([^\]]*)\]", text):
        axes = tuple((name, int(size)) for name, size in _AXIS.findall(inner))
        if axes and "device_ids" not in inner:
            found.append(axes)
    return [mesh for mesh in found if not all(_ANONYMOUS.fullmatch(name) for name, _ in mesh)]
