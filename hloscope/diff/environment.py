"""Compares what surrounded two compiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hloscope.model.capture import Capture, Provenance
from hloscope.model.comparison import EnvironmentDifference, EnvironmentPart


def compare_environments(lhs: Capture, rhs: Capture) -> tuple[EnvironmentDifference, ...]:
    """Everything that differs between two compiles apart from the program itself.

    Times and peak memory are measurements, not environment, and are left out.
    """
    return tuple(_differences(lhs, rhs))


def _differences(lhs: Capture, rhs: Capture) -> Iterator[EnvironmentDifference]:
    yield from _scalar(EnvironmentPart.TARGET, "target", lhs.target, rhs.target)
    left, right = lhs.provenance, rhs.provenance
    yield from _mapping(EnvironmentPart.VERSION, left.versions, right.versions)
    yield from _mapping(EnvironmentPart.FLAG, left.compile_options, right.compile_options)
    yield from _mapping(EnvironmentPart.VARIABLE, left.environment, right.environment)
    yield from _mapping(EnvironmentPart.CONFIG, left.jax_config, right.jax_config)
    yield from _tracing(left, right)
    yield from _scalar(
        EnvironmentPart.SOURCE, "git revision", left.git_revision, right.git_revision
    )
    yield from _scalar(
        EnvironmentPart.SOURCE, "uncommitted changes", left.git_dirty, right.git_dirty
    )
    yield from _mapping(EnvironmentPart.OPTION, left.options, right.options)
    yield from _warnings(left, right)


def _tracing(lhs: Provenance, rhs: Provenance) -> Iterator[EnvironmentDifference]:
    yield from _scalar(
        EnvironmentPart.MESH, "ambient mesh", _mesh(lhs.ambient_mesh), _mesh(rhs.ambient_mesh)
    )
    yield from _scalar(EnvironmentPart.MESH, "set by", lhs.ambient_mesh_from, rhs.ambient_mesh_from)
    # rules are tried in order, so their order is part of what they say
    yield from _scalar(
        EnvironmentPart.AXIS_RULES, "rules", _rules(lhs.axis_rules), _rules(rhs.axis_rules)
    )


def _mesh(mesh: Mapping[str, int] | None) -> str | None:
    if mesh is None:
        return None
    # a capture file does not keep the order of a mapping, a capture just taken has it
    return ", ".join(f"{axis}={mesh[axis]}" for axis in sorted(mesh))


def _rules(rules: tuple[tuple[str, str], ...]) -> str | None:
    return ", ".join(f"{logical}: {mesh}" for logical, mesh in rules) or None


def _warnings(lhs: Provenance, rhs: Provenance) -> Iterator[EnvironmentDifference]:
    for text in sorted({*lhs.warnings} ^ {*rhs.warnings}):
        left = text if text in lhs.warnings else None
        right = text if text in rhs.warnings else None
        yield from _scalar(EnvironmentPart.WARNING, text.partition("\n")[0][:60], left, right)


def _mapping(
    part: EnvironmentPart, lhs: Mapping[str, str], rhs: Mapping[str, str]
) -> Iterator[EnvironmentDifference]:
    for name in sorted({*lhs, *rhs}):
        yield from _scalar(part, name, lhs.get(name), rhs.get(name))


def _scalar(
    part: EnvironmentPart, name: str, lhs: object, rhs: object
) -> Iterator[EnvironmentDifference]:
    if lhs != rhs:
        yield EnvironmentDifference(
            part=part,
            name=name,
            lhs=None if lhs is None else str(lhs),
            rhs=None if rhs is None else str(rhs),
        )
