"""The commands that a report tells its reader to type."""

from __future__ import annotations

import shlex

from hloscope.model.capture import PayloadName
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source

_WITH = " with "  # as in `pkg.train:step with jax==0.11.2`


def command(verb: str, comparison: Comparison, *options: str) -> str:
    """`hloscope VERB LHS RHS ...` as a shell takes it, with a target where a program needs one."""
    sides = (comparison.lhs, comparison.rhs)
    words = ["hloscope", *verb.split(), *(_spec(side) for side in sides)]
    for side, option in zip(sides, ("--lhs-with", "--rhs-with"), strict=True):
        for package in _packages(side):
            words += [option, package]
    targets = [target for side in sides if (target := _target(side))]
    return shlex.join([*words, *(("--target", targets[0]) if targets else ()), *options])


def can_recompile(source: Source) -> bool:
    """Whether the side holds what its compiler was given."""
    return source.capture is not None and PayloadName.STABLEHLO in source.capture.payloads


def _target(source: Source) -> str | None:
    """What a program is compiled for; files are compiled already."""
    capture = source.capture
    return capture.target if capture is not None and capture.program == _spec(source) else None


def _spec(source: Source) -> str:
    """The label without the packages that it was compiled with."""
    return source.label.partition(_WITH)[0]


def _packages(source: Source) -> list[str]:
    return source.label.partition(_WITH)[2].split()
