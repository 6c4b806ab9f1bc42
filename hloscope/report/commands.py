"""The commands that a report tells its reader to type."""

from __future__ import annotations

import shlex

from hloscope.model.capture import PayloadName
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source


def command(verb: str, comparison: Comparison, *options: str) -> str:
    """`hloscope VERB LHS RHS ...` as a shell takes it, with a target where a program needs one."""
    sides = (comparison.lhs, comparison.rhs)
    words = ["hloscope", *verb.split(), *(side.label for side in sides)]
    targets = [target for side in sides if (target := _target(side))]
    return shlex.join([*words, *(("--target", targets[0]) if targets else ()), *options])


def can_recompile(source: Source) -> bool:
    """Whether the side holds what its compiler was given."""
    return source.capture is not None and PayloadName.STABLEHLO in source.capture.payloads


def _target(source: Source) -> str | None:
    """What a program is compiled for; files are compiled already."""
    capture = source.capture
    return capture.target if capture is not None and capture.program == source.label else None
