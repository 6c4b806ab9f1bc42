"""Meshes of other axes, sizes or device order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Evidence,
    Finding,
    Mesh,
    Remedy,
    Source,
    Specificity,
    as_written_alike,
    direction_of,
    every_entry,
    meshes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meshes(Analyzer):
    """The devices are arranged in another mesh.

    What it sees: the meshes that the programs' arguments and constraints name: their axes, sizes
    and order. Where the programs do the same as written, all that differs is claimed.

    Why it costs: the axis sizes say how an array is cut and how many devices take part in each
    exchange; the order of axes says which devices are neighbours, and so which exchanges stay on
    fast links.

    What it does not see: the physical links between devices.

    Example: `jax.make_mesh((2, 4), ("data", "model"))` against `((4, 2), ("data", "model"))`.
    """

    name: ClassVar[str] = "mesh"
    codes: ClassVar[Mapping[str, str]] = {"SHARD008": "another mesh, or its axes in another order"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding where the sides name different meshes."""
        left, right = _meshes(comparison.lhs), _meshes(comparison.rhs)
        if not left or not right or set(left) == set(right):
            return
        yield _finding(comparison, left, right)


def _meshes(source: Source) -> tuple[Mesh, ...]:
    """Meshes in order, each once: of the program as written, or else of what it is given."""
    found = meshes(source.before) if source.before else ()
    if found or source.capture is None:
        return found
    leaves = (*source.capture.inputs, *source.capture.outputs)
    return tuple(dict.fromkeys(Mesh(tuple(leaf.mesh.items())) for leaf in leaves if leaf.mesh))


def _finding(comparison: Comparison, left: tuple[Mesh, ...], right: tuple[Mesh, ...]) -> Finding:
    alike = as_written_alike(comparison)
    before, after = _differing(left, right)
    entries, costs, sent = every_entry(comparison)
    return Finding(
        code="SHARD008",
        title=_title(before, after),
        confidence=Confidence.STRUCTURAL if alike else Confidence.SUSPECTED,
        specificity=Specificity.CAUSE,
        direction=direction_of(comparison, entries, costs, sent),
        entries=entries if alike else (),
        cost_entries=costs if alike else (),
        communication_entries=sent,
        evidence=(
            Evidence("meshes", *(_texts(side) for side in (left, right))),
            Evidence("operations as written", *("the same" if alike else "not the same",) * 2),
        ),
        unknown=() if alike else ("what of the difference the mesh explains",),
        remedies=(Remedy("use lhs' mesh", "argument-shardings"),),
    )  # fmt: skip


def _texts(side: tuple[Mesh, ...]) -> str:
    return "; ".join(mesh.text for mesh in side)


def _differing(left: tuple[Mesh, ...], right: tuple[Mesh, ...]) -> tuple[Mesh, Mesh]:
    before = next((mesh for mesh in left if mesh not in right), left[0])
    after = next((mesh for mesh in right if mesh not in left), right[0])
    return before, after


def _title(before: Mesh, after: Mesh) -> str:
    texts = f"({before.text} -> {after.text})"
    if before.axes == after.axes:
        return f"the mesh has its devices in another order {texts}"
    if sorted(before.axes) == sorted(after.axes):
        return f"the mesh has its axes in another order {texts}"
    if [name for name, _ in before.axes] == [name for name, _ in after.axes]:
        return f"the mesh has axes of other sizes {texts}"
    return f"the mesh has other axes {texts}"
