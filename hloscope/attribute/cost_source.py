"""The cost and communication ledgers of a side, with all that the side knows of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from hloscope import hlo
from hloscope.attribute.cost_account import Account, account
from hloscope.attribute.cost_ledger import CostContext
from hloscope.attribute.cost_xla_rules import XlaRules, rules_for
from hloscope.attribute.module_path import ModulePaths
from hloscope.attribute.source_paths import source_paths
from hloscope.model.canonical import Ref
from hloscope.model.capture import Capture, CostFigures
from hloscope.model.hlo import Metadata, Module
from hloscope.model.source import Source
from hloscope.model.target import Chip
from hloscope.model.units import Maybe, Measured

ModulePath = Callable[[Ref], str | None]
NO_TRIPS: Mapping[str, int] = {}


def account_source(
    source: Source,
    *,
    chip: Chip | None = None,
    paths: ModulePaths | None = None,
    trips: Mapping[str, int] = NO_TRIPS,
) -> Account:
    """What a side costs and sends in one step on one device.

    Args:
      source: the side; its capture gives the mesh and XLA's own figures, its profile the times.
      chip: whose peaks time estimates rest on.
      paths: the side's module paths, from `source_paths`; `None` works them out.
      trips: trip counts by the name of a `while`, for loops whose count the module does not show.
    """
    context = CostContext(
        label=source.label,
        chip=chip,
        mesh=_mesh(source.capture),
        measured=source.times,
        module_path=_joined(paths or source_paths(source)),
        source=source_lines(source.module),
        reported=_reported(source.capture),
        rules=_rules(source),
    )
    return account(source.module, _trip_count(trips), context)


def _joined(paths: ModulePaths) -> ModulePath:
    """A function from an instruction to its module path, steps apart by `/`."""
    joined: dict[tuple[str, ...], str | None] = {(): None}

    def path(ref: Ref) -> str | None:
        steps = paths.of(ref.computation)[ref.instruction].path
        if steps not in joined:
            joined[steps] = "/".join(steps)
        return joined[steps]

    return path


def source_lines(module: Module) -> Callable[[Ref], str]:
    """A function from an instruction to the `file:line` that it comes from, without folders."""
    # instructions by the thousand share a few hundred places
    lines: dict[Metadata, str] = {}

    def line(ref: Ref) -> str:
        instruction = module.computations[ref.computation].instructions[ref.instruction]
        if instruction.metadata not in lines:
            frame = hlo.origin(module, instruction)
            text = f"{PurePath(frame.file).name}:{frame.line}" if frame else ""
            lines[instruction.metadata] = text
        return lines[instruction.metadata]

    return line


def loops_of(module: Module) -> frozenset[str]:
    """The names of the module's loops."""
    return frozenset(
        instruction.name
        for computation in module.computations
        for instruction in computation.instructions
        if instruction.opcode == "while"
    )


def _trip_count(trips: Mapping[str, int]) -> Callable[[Module, Ref], Maybe[int]]:
    def count(module: Module, ref: Ref) -> Maybe[int]:
        name = module.computations[ref.computation].instructions[ref.instruction].name
        return Measured(trips[name]) if name in trips else hlo.trip_count(module, ref)

    return count


def _mesh(capture: Capture | None) -> Mapping[str, int] | None:
    """The mesh of the capture's inputs; the one with the most axes where they differ."""
    if capture is None:
        return None
    meshes = [leaf.mesh for leaf in capture.inputs if leaf.mesh]
    if not meshes:
        return capture.provenance.ambient_mesh
    return max(meshes, key=lambda mesh: (len(mesh), sorted(mesh.items())))


def _reported(capture: Capture | None) -> CostFigures | None:
    if capture is None or not isinstance(capture.cost.flops, Measured):
        return None
    return capture.cost


def _rules(source: Source) -> XlaRules:
    """The rules of the back end that the module was compiled by; of the newest XLA if unknown."""
    if source.capture is None:
        return rules_for("tpu" if hlo.is_tpu(source.module) else "cpu", "")
    versions = source.capture.provenance.versions
    return rules_for(source.capture.target.partition(":")[0], versions.get("jaxlib", ""))
