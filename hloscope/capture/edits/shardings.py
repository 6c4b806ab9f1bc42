"""Shardings of lhs on rhs: of arguments, of outputs, and the translation between meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy

from hloscope.capture.edits.aliasing import output_of
from hloscope.capture.edits.meshes import MeshMismatchError, SubAxis, joined, translate
from hloscope.capture.edits.program import Program, Report, Sides
from hloscope.model.edits import LeafPair

SHARDY = "sdy.sharding"
GSPMD = "mhlo.sharding"


def argument_shardings(sides: Sides) -> Report:
    """Gives rhs's arguments the shardings that their counterparts have on lhs.

    An output that takes over an argument's memory goes with it: the two lie alike or not at all.
    """
    report = Report()
    _copy(sides, "arg_attrs", sides.plan.arguments, report, report.arguments)
    given = sides.rhs.attributes("arg_attrs")
    aliased = {output_of(given[pair.rhs]) for pair in report.arguments}
    along = [pair for pair in sides.plan.outputs if pair.rhs in aliased]
    _copy(sides, "res_attrs", along, report, report.outputs)
    return report


def output_shardings(sides: Sides) -> Report:
    """Gives rhs's outputs the shardings that their counterparts have on lhs."""
    report = Report()
    _copy(sides, "res_attrs", sides.plan.outputs, report, report.outputs)
    _copy_freedom(sides)
    return report


def _copy(
    sides: Sides,
    which: str,
    pairs: Sequence[LeafPair],
    report: Report,
    edited: list[LeafPair],
) -> None:
    meshes = Meshes(sides.lhs, sides.rhs)
    lhs, rhs = sides.lhs.attributes(which), sides.rhs.attributes(which)
    before = len(report.done)
    for pair in pairs:
        left, right = lhs[pair.lhs], rhs[pair.rhs]
        try:
            wanted = {GSPMD: left.get(GSPMD), SHARDY: meshes.translated(left.get(SHARDY))}
        except MeshMismatchError as error:
            report.skipped.append(f"{pair.name}: {error}")
            continue
        if all(same(meshes.plain(right.get(name)), wanted[name]) for name in wanted):
            continue
        shown = _shown(right), _shown(wanted)
        for name, attribute in wanted.items():
            right.pop(name, None)
            if attribute is not None:
                right[name] = attribute
        report.done.append(f"{pair.name}: {shown[0]} -> {shown[1]}")
        edited.append(pair)
    if len(report.done) > before:
        sides.rhs.set_attributes(which, rhs)


def _copy_freedom(sides: Sides) -> None:
    """Where lhs leaves an output's sharding to XLA, so does rhs."""
    name = "allow_spmd_sharding_propagation_to_output"
    lhs, rhs = (
        list(getattr(options.executable_build_options, name))
        for options in (sides.lhs_options, sides.rhs_options)
    )
    if len(rhs) == 1:  # one word for all of them
        rhs *= len(sides.rhs.returned.operands)
    if len(lhs) == 1:
        lhs *= len(sides.lhs.returned.operands)
    for pair in sides.plan.outputs:
        if pair.lhs < len(lhs) and pair.rhs < len(rhs):
            rhs[pair.rhs] = lhs[pair.lhs]
    setattr(sides.rhs_options.executable_build_options, name, rhs)


def same(left: Any, right: Any) -> bool:
    """Whether two attributes say the same; meshes are compared by name, which is theirs here."""
    return (left is None) == (right is None) and (left is None or str(left) == str(right))


def _shown(held: dict[str, Any]) -> str:
    said = held.get(SHARDY) or held.get(GSPMD)
    return short(said) if said is not None else "left to XLA"


def short(sharding: Any) -> str:
    """A sharding attribute without its dialect and mesh name."""
    text = str(sharding)
    if text.startswith("#sdy.sharding<"):
        return text.removeprefix("#sdy.sharding<").removesuffix(">").partition(", ")[2] or text
    return text.strip('"')


class Meshes:
    """The meshes of two programs, and shardings of lhs said over the mesh of rhs."""

    def __init__(self, lhs: Program, rhs: Program) -> None:
        self._lhs, self._rhs = _meshes(lhs), _meshes(rhs)

    def translated(self, sharding: Any | None) -> Any | None:
        """An lhs sharding as rhs can say it.

        Raises:
          MeshMismatchError: it cannot.
        """
        if sharding is None:
            return None
        given = sdy.TensorShardingAttr(sharding)
        source = _mesh_of(given, self._lhs)
        name, target = self._other(source)
        if list(source.device_ids) != list(target.device_ids):
            raise MeshMismatchError("the meshes number their devices differently")
        return _over(given, name, source, target)

    def plain(self, sharding: Any | None) -> Any | None:
        """An rhs sharding without axes of size 1, as `translated` gives them."""
        if sharding is None or not sdy.TensorShardingAttr.isinstance(sharding):
            return sharding
        given = sdy.TensorShardingAttr(sharding)
        mesh = _mesh_of(given, self._rhs)
        return _over(given, self._other(mesh)[0], mesh, mesh)

    def _other(self, mesh: Any) -> tuple[str, Any]:
        if not self._rhs:
            raise MeshMismatchError("rhs has no mesh")
        for name, held in self._rhs.items():
            if held == mesh:
                return name, held
        return next(iter(self._rhs.items()))


def _meshes(program: Program) -> dict[str, Any]:
    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: sdy.MeshAttr(
            op.operation.attributes["mesh"]
        )
        for op in program.module.body.operations
        if op.operation.name == "sdy.mesh"
    }


def _mesh_of(sharding: Any, meshes: dict[str, Any]) -> Any:
    said = sharding.mesh_or_ref
    if sdy.MeshAttr.isinstance(said):
        return sdy.MeshAttr(said)
    return meshes[ir.FlatSymbolRefAttr(said).value]


def _over(given: Any, name: str, source: Any, target: Any) -> Any:
    sizes = _sizes(source), _sizes(target)

    def over(axes: Sequence[Any]) -> list[Any]:
        parts = [new for axis in axes for new in _parts(axis, *sizes)]
        return [
            sdy.AxisRefAttr.get(
                each.name, None if each.whole else sdy.SubAxisInfoAttr.get(each.before, each.size)
            )
            for each in joined(parts)
        ]

    return _renamed(given, name, over)


def _sizes(mesh: Any) -> dict[str, int]:
    """Axis sizes by name, major first."""
    axes = [sdy.MeshAxisAttr(axis) for axis in mesh.axes]
    return {str(axis.name): int(axis.size) for axis in axes}


def _renamed(given: Any, mesh: str, over: Any) -> Any:
    dimensions = [
        sdy.DimensionShardingAttr.get(over(d.axes), d.is_closed, d.priority)
        for d in map(sdy.DimensionShardingAttr, given.dimension_shardings)
    ]
    return sdy.TensorShardingAttr.get(
        mesh, dimensions, over(given.replicated_axes), over(given.unreduced_axes)
    )


def _parts(axis: Any, source: dict[str, int], target: dict[str, int]) -> Sequence[SubAxis]:
    given = sdy.AxisRefAttr(axis)
    info = given.sub_axis_info
    part = None
    if info is not None:
        sub = sdy.SubAxisInfoAttr(info)
        part = (sub.pre_size, sub.size)
    return translate(given.name, part, source, target)
