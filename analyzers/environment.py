"""What differs outside the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    EnvironmentDifference,
    EnvironmentPart,
    Evidence,
    Finding,
    Remedy,
    Specificity,
    input_changes,
    listed,
)

# a difference in these can change the compiler's output with no change to the program
_COMPILERS = frozenset({
    "jax", "jaxlib", "libtpu", "libtpu-nightly", "jax-cuda12-plugin", "jax-cuda12-pjrt",
    "jax-cuda13-plugin", "jax-cuda13-pjrt", "python",
})  # fmt: skip
_STEERING = {
    EnvironmentPart.FLAG: "compile option",
    EnvironmentPart.VARIABLE: "environment variable",
    EnvironmentPart.CONFIG: "jax config",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Analyzer):
    """The two sides were not made in the same way: target, versions, flags, mesh, source.

    What it sees: what captures record of their compile, where the results differ too: the target
    (ENV001), versions of the compiler and of libraries (ENV002), compile options, environment
    variables and JAX configuration (ENV003), the mesh and the logical axis rules that were current
    while tracing (ENV004), and the revision of the program's source (ENV005).

    Why it costs: any of them can be behind everything else that differs. A regression that comes
    with a compiler's release has no cause in the program; sharding constraints silently do nothing
    where no mesh is current.

    What it does not see: how much of the gap each difference is behind; what a side that is no
    capture was made with. Options of the program are no environment: they are what is compared; and
    so is a mesh that the arguments themselves are laid over.

    Example: lhs is a capture of last month's release, rhs of today's: compile both with one of them
    before looking for a cause in the program.
    """

    name: ClassVar[str] = "environment"
    codes: ClassVar[Mapping[str, str]] = {
        "ENV001": "the sides are compiled for different targets",
        "ENV002": "versions differ",
        "ENV003": "compile options, variables or configuration differ",
        "ENV004": "mesh or logical axis rules while tracing differ",
        "ENV005": "the sides come from different revisions of the source",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding for each kind of difference; none where the results are equal."""
        if not comparison.environment or not _something_to_explain(comparison):
            return
        parts: dict[EnvironmentPart, list[EnvironmentDifference]] = {}
        for difference in comparison.environment:
            parts.setdefault(difference.part, []).append(difference)
        yield from _target(parts.get(EnvironmentPart.TARGET, []))
        yield from _versions(parts.get(EnvironmentPart.VERSION, []))
        steering = [d for part in _STEERING for d in parts.get(part, [])]
        yield from _steering(steering)
        mesh = parts.get(EnvironmentPart.MESH, [])
        if input_changes(comparison, "mesh"):
            mesh = [d for d in mesh if d.lhs is None or d.rhs is None]
        yield from _mesh(mesh + parts.get(EnvironmentPart.AXIS_RULES, []))
        yield from _source(parts.get(EnvironmentPart.SOURCE, []))


def _something_to_explain(comparison: Comparison) -> bool:
    memory, cost = comparison.memory, comparison.cost
    return bool(
        comparison.changes.regions
        or comparison.changes.header
        or (memory and memory.entries)
        or cost.entries
        or comparison.communication.changes
    )


def _finding(code: str, title: str, found: list[EnvironmentDifference], remedy: Remedy) -> Finding:
    return Finding(
        code=code,
        title=title,
        confidence=Confidence.SUSPECTED,
        specificity=Specificity.SYMPTOM,
        direction=Direction.NEUTRAL,
        evidence=tuple(Evidence(_name(d), d.lhs, d.rhs) for d in found),
        unknown=("how much of the difference it is behind",),
        remedies=(remedy,),
        first=True,
    )


def _name(difference: EnvironmentDifference) -> str:
    kind = _STEERING.get(difference.part)
    return f"{kind} {difference.name}" if kind else difference.name


def _target(found: list[EnvironmentDifference]) -> Iterator[Finding]:
    for difference in found:
        yield _finding(
            "ENV001",
            f"the sides are compiled for different targets: {_change(difference)}",
            found,
            Remedy("compile both for one target"),
        )


def _versions(differences: list[EnvironmentDifference]) -> Iterator[Finding]:
    # a library that one side alone has loaded is of no other version
    found = [d for d in differences if d.lhs is not None and d.rhs is not None]
    if not found:
        return
    compilers = [d for d in found if d.name in _COMPILERS]
    shown = listed([f"{d.name} {_change(d)}" for d in compilers or found])
    yield _finding(
        "ENV002",
        f"the sides are made with different versions: {shown}",
        compilers + [d for d in found if d not in compilers],
        Remedy("capture both sides in one environment"),
    )


def _steering(found: list[EnvironmentDifference]) -> Iterator[Finding]:
    if not found:
        return
    shown = listed([f"{d.name} {_change(d)}" for d in found])
    yield _finding(
        "ENV003",
        f"the compiler is told otherwise: {shown}",
        found,
        Remedy("compile rhs with the options of lhs", "flags"),
    )


def _mesh(found: list[EnvironmentDifference]) -> Iterator[Finding]:
    if not found:
        return
    names = {EnvironmentPart.MESH: "mesh", EnvironmentPart.AXIS_RULES: "axis rules"}
    kinds = listed(list(dict.fromkeys(names[d.part] for d in found)))
    yield _finding(
        "ENV004",
        f"another {kinds} current while tracing: {listed([_change(d) for d in found])}",
        found,
        Remedy("trace both under the same jax.set_mesh and logical axis rules", "constraints"),
    )


def _source(found: list[EnvironmentDifference]) -> Iterator[Finding]:
    if not found:
        return
    shown = listed([f"{d.name} {_change(d)}" for d in found])
    yield _finding(
        "ENV005",
        f"the sides come from different sources: {shown}",
        found,
        Remedy("compare two captures of one revision to see what the source is behind"),
    )


def _change(difference: EnvironmentDifference) -> str:
    return f"{_short(difference.lhs)} -> {_short(difference.rhs)}"


_LONGEST = 48  # characters of a value in a title; the evidence has all of it


# a commit, of which git too shows as much as tells it from others
_COMMIT = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28}\b")


def _short(value: str | None) -> str:
    if value is None:
        return "not set"
    value = _COMMIT.sub(r"\1", value)
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}..."
