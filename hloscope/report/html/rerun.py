"""Where both sides come from, and how to get them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hloscope.model.capture import Capture
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source
from hloscope.report.commands import command


class Origin(NamedTuple):
    """One fact of both sides; `""` where a side does not have it."""

    name: str
    lhs: str
    rhs: str


def origins(comparison: Comparison) -> list[Origin]:
    """What the two sides are, a row for each fact that either has."""
    lhs, rhs = dict(_facts(comparison.lhs)), dict(_facts(comparison.rhs))
    names = [*lhs, *(name for name in rhs if name not in lhs)]
    return [Origin(name, lhs.get(name, ""), rhs.get(name, "")) for name in names]


def reruns(comparison: Comparison) -> list[str]:
    """The commands that make this report again, from its sides and from the programs."""
    commands = [command("diff", comparison, "--html", "report.html")]
    for side, source in (("lhs", comparison.lhs), ("rhs", comparison.rhs)):
        if source.capture is not None:
            commands.append(_capture(source.capture, side))
    return commands


def _capture(capture: Capture, side: str) -> str:
    words = ["hloscope", "capture", capture.program, "--target", capture.target]
    words += ["--depth", capture.depth.value]
    for name, value in sorted(capture.provenance.compile_options.items()):
        words += ["--xla-flag", f"{name}={value}"]
    return shlex.join([*words, "-o", f"{side}.hloscope"])


def _facts(source: Source) -> Iterator[tuple[str, str]]:
    yield "read from", source.label
    yield "kind", str(source.kind)
    yield "module", source.module.name
    yield "instructions", f"{source.module.instruction_count:,}"
    capture = source.capture
    if capture is None:
        return
    provenance = capture.provenance
    yield "program", capture.program
    yield "target", capture.target
    yield "depth", capture.depth.value
    yield from _table("version", provenance.versions)
    yield from _table("program option", provenance.options)
    yield from _table("compile option", provenance.compile_options)
    yield from _table("environment", provenance.environment)
    yield from _table("jax config", provenance.jax_config)
    if provenance.git_revision:
        changed = " (with changes)" if provenance.git_dirty else ""
        yield "git revision", provenance.git_revision + changed


def _table(name: str, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in sorted(values.items()):
        yield f"{name}: {key}", value
