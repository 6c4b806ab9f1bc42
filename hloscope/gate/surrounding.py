"""What surrounded two compiles of a program, compared."""

from __future__ import annotations

from collections.abc import Mapping

from hloscope.model.comparison import EnvironmentDifference, EnvironmentPart
from hloscope.model.gate import Baseline

MACHINE = "machine instruction set"
"""The part of a CPU program's environment that is neither a package nor a setting."""

_VERSION = f"{EnvironmentPart.VERSION} "
# always loaded by a capture; any other package is part of a program once the program imports it
_ALWAYS_LOADED = tuple(f"{_VERSION}{name}" for name in ("jax", "libtpu", "numpy"))


def environment_changes(before: Baseline, now: Baseline) -> tuple[EnvironmentDifference, ...]:
    """What differs around a program, by name.

    A library that only one side imports is the program's own doing, and no difference; nor is
    another machine that makes the same of the program.
    """
    old, new = dict(before.environment), dict(now.environment)
    if before.same_program(now):
        old.pop(MACHINE, None)
        new.pop(MACHINE, None)
    return tuple(
        EnvironmentDifference(part=_part(name), name=name, lhs=old.get(name), rhs=new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name) and not _is_an_import(name, old, new)
    )


def is_toolchain(changes: tuple[EnvironmentDifference, ...]) -> bool:
    """Whether something differs, and versions and the machine alone do."""
    return bool(changes) and all(each.part is EnvironmentPart.VERSION for each in changes)


def changes_text(changes: tuple[EnvironmentDifference, ...]) -> str:
    """The differences in one line."""
    return ", ".join(
        f"{each.name} {each.lhs or 'not set'} -> {each.rhs or 'not set'}" for each in changes
    )


def _part(name: str) -> EnvironmentPart:
    is_tool = name.startswith(_VERSION) or name == MACHINE
    return EnvironmentPart.VERSION if is_tool else EnvironmentPart.VARIABLE


def _is_an_import(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    one_sided = (name in old) != (name in new)
    return one_sided and name.startswith(_VERSION) and not name.startswith(_ALWAYS_LOADED)
