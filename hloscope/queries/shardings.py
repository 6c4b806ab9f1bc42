"""How arrays are partitioned: what leaves, constraints and meshes say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from hloscope.hlo.dataflow import Dataflow
from hloscope.model.capture import Leaf
from hloscope.model.hlo import Module
from hloscope.queries.words import array

_NAME = re.compile(r"""['"]([^'"]+)['"]""")
# `xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"fsdp\"}, {}]>]>"`
_DIMENSIONS = re.compile(r"<@?[\w.]*(?:mesh)?[^,<>]*,\s*\[([^\]]*)\]")
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_MESH = re.compile(r"sdy\.mesh<\[([^\]]*)\]([^>]*)>")
_AXIS = re.compile(r"""\\?"([^"\\]+)\\?"\s*=\s*(\d+)""")


class Constraint(NamedTuple):
    """A sharding that the program asks for in its middle (`with_sharding_constraint`).

    Attributes:
      node: in the data flow of the program as it was written.
      array: type and extents, of all devices together.
      spec: mesh axes by dimension, `(fsdp, -)`; XLA's own text where no axes are named.
      sharding: XLA's text of it.
    """

    node: int
    array: str
    spec: str
    sharding: str


def shards(leaf: Leaf) -> int | None:
    """In how many parts a leaf is cut; `None` where it does not say."""
    if leaf.sharding is None or leaf.mesh is None:
        return None
    names = _NAME.findall(leaf.sharding)
    if any(name not in leaf.mesh for name in names):
        return None
    return prod(leaf.mesh[name] for name in names)


def constraints(flow: Dataflow) -> tuple[Constraint, ...]:
    """Every sharding constraint of a program as it was written, in order."""
    found = []
    for node in range(len(flow.nodes)):
        if flow.opcode(node) == "Sharding":
            sharding = flow.instruction(node).attr("sharding") or ""
            frontend = flow.instruction(node).attr("frontend_attributes") or ""
            shape = array(flow.nodes[node].shape)
            found.append(Constraint(node, shape, _spec(frontend) or sharding, sharding))
    return tuple(found)


def _spec(frontend: str) -> str:
    found = _DIMENSIONS.search(frontend.replace("\\", ""))
    if found is None:
        return ""
    axes = ["+".join(_NAME.findall(dim)) or "-" for dim in _DIMENSION.findall(found[1])]
    return f"({', '.join(axes)})"


def meshes(module: Module) -> tuple[Mapping[str, int], ...]:
    """The meshes that a module names, each as axis sizes in order; empty ones left out."""
    text = module.header_attr("frontend_attributes") or ""
    found = [{n: int(s) for n, s in _AXIS.findall(m[1])} for m in _MESH.finditer(text)]
    return tuple(mesh for mesh in found if mesh)


def mesh_text(mesh: Mapping[str, int] | None) -> str:
    """`data=2, model=4`."""
    return ", ".join(f"{axis}={size}" for axis, size in (mesh or {}).items()) or "no mesh"
