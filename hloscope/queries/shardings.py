"""How arrays are partitioned: what leaves, constraints and meshes say."""

from __future__ import annotations

import re
from math import prod
from typing import NamedTuple

from hloscope.hlo.dataflow import Dataflow
from hloscope.model.capture import Leaf
from hloscope.model.hlo import Module
from hloscope.queries.words import array

_NAME = re.compile(r"""['"]([^'"]+)['"]""")
# `xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"fsdp\"}, {}]>]>"`
_SHARDY = re.compile(r"<@?[\w.]*(?:mesh)?[^,<>]*,\s*\[([^\]]*)\]")
# `{mesh['fsdp'=4], [{'fsdp'}, {}]}`, XLA's named shardings
_NAMED = re.compile(r"mesh\[[^\]]*\](?:,\s*device_ids=\([^)]*\))?,\s*\[([^\]]*)\]")
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_SHARDY_MESH = re.compile(r"sdy\.mesh<\[([^\]]*)\](?:,\s*device_ids=\[([^\]]*)\])?")
_NAMED_MESH = re.compile(r"mesh\[([^\]]*)\](?:,\s*device_ids=\(([^)]*)\))?")
_AXIS = re.compile(r"""\\?['"]([^'"\\]+)\\?['"]\s*=\s*(\d+)""")


class Mesh(NamedTuple):
    """A mesh that a program names.

    Attributes:
      axes: names and sizes, in order.
      devices: the order of the devices, as written; empty where it is the usual one.
    """

    axes: tuple[tuple[str, int], ...]
    devices: str = ""

    @property
    def text(self) -> str:
        """`data=2, model=4`."""
        order = f", devices {self.devices}" if self.devices else ""
        return ", ".join(f"{name}={size}" for name, size in self.axes) + order


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
            shape = flow.nodes[node].shape
            spec = _spec(frontend, sharding, len(shape.dims))
            found.append(Constraint(node, array(shape), spec, sharding))
    return tuple(found)


def _spec(frontend: str, sharding: str, rank: int) -> str:
    """The same text for what JAX's releases write as Shardy's attribute or as XLA's sharding."""
    found = _SHARDY.search(frontend.replace("\\", "")) or _NAMED.search(sharding)
    if found is not None:
        axes = ["+".join(_NAME.findall(dim)) or "-" for dim in _DIMENSION.findall(found[1])]
    elif "replicated" in sharding:
        axes = ["-"] * rank
    else:
        return sharding
    return f"({', '.join(axes)})"


def meshes(module: Module) -> tuple[Mesh, ...]:
    """The meshes that a module names, in order and each once; empty ones left out."""
    texts = list(_SHARDY_MESH.finditer(module.header_attr("frontend_attributes") or ""))
    for computation in module.computations:
        for instruction in computation.instructions:
            sharding = instruction.attr("sharding")
            if sharding is not None and "mesh[" in sharding:
                texts += _NAMED_MESH.finditer(sharding)
    named = (Mesh(_axes(text[1]), (text[2] or "").replace(" ", "")) for text in texts)
    return tuple(dict.fromkeys(mesh for mesh in named if mesh.axes))


def _axes(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(size)) for name, size in _AXIS.findall(text))
