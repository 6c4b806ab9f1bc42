"""Compiling rhs with the XLA flags of lhs."""

from __future__ import annotations

from hloscope.capture.edits.program import Report, Sides
from hloscope.capture.jax_private import modules


def flags(sides: Sides) -> Report:
    """Gives rhs's compile the flags of lhs's compile, all of them and no others."""
    report = Report()
    lhs, rhs = modules.overrides(sides.lhs_options), modules.overrides(sides.rhs_options)
    for name in sorted({*lhs, *rhs}):
        left, right = lhs.get(name), rhs.get(name)
        if left != right:
            report.done.append(f"{name}: {_shown(right)} -> {_shown(left)}")
    if report.done:
        modules.set_overrides(sides.rhs_options, lhs)
    return report


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)
