"""How many devices lie along each axis of the mesh."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hloscope.decoders.options import Options
    from hloscope.decoders.sizes import Size

# `expert` is there for decoders with experts alone
AXES = ("data", "fsdp", "expert", "context", "tensor")


def batch_axes(mesh: Mapping[str, int]) -> tuple[str, ...]:
    """The axes that the batch is split over."""
    return tuple(axis for axis in ("data", "fsdp", "expert") if axis in mesh)


def make_mesh_sizes(size: Size, options: Options, devices: int, where: str) -> dict[str, int]:
    """Axis sizes whose product is the number of devices.

    Raises:
      HloscopeError: the axes do not cover the devices, or do not split what lies along them.
    """
    axes = [axis for axis in AXES if axis != "expert" or size.experts]
    mesh = {axis: getattr(options, axis) or 1 for axis in axes}
    fixed = math.prod(mesh.values())
    rest = devices // fixed or 1
    # as much of what is left as splits the width evenly; `data` takes what then remains
    if options.fsdp is None:
        mesh["fsdp"] = rest if options.data else math.gcd(rest, size.embed)
    if options.data is None:
        mesh["data"] = devices // math.prod(mesh.values()) or 1
    if math.prod(mesh.values()) != devices:
        sizes = ", ".join(f"{axis}={extent}" for axis, extent in mesh.items())
        raise HloscopeError(
            f"mesh of {sizes} does not cover {devices} devices",
            where=where,
            remedy="give axis sizes whose product is the number of devices, or leave one out",
        )
    _check(size, options, mesh, where)
    return mesh


def _check(size: Size, options: Options, mesh: Mapping[str, int], where: str) -> None:
    along_tensor = {"heads": size.heads, "mlp": size.mlp, "vocab": options.vocab or size.vocab}
    if size.experts is not None:
        along_tensor |= {
            "experts' mlp": size.experts.mlp,
            "shared experts' mlp": size.experts.shared_mlp,
        }
        check_split("experts", size.experts.count, "expert", mesh["expert"], where)
    check_split("embed", size.embed, "fsdp", mesh["fsdp"], where)
    for name, extent in along_tensor.items():
        check_split(name, extent, "tensor", mesh["tensor"], where)


def check_split(name: str, extent: int, axis: str, parts: int, where: str) -> None:
    """Refuses an extent that a mesh axis does not split evenly.

    Raises:
      HloscopeError: there is a rest.
    """
    if extent % parts:
        raise HloscopeError(
            f"{name} of {extent} does not split evenly over {axis} of {parts}",
            where=where,
            remedy=f"a multiple of {parts} for {name}, or other mesh axis sizes",
        )
