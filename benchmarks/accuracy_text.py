"""What `diff -u` of the printed modules names: the way people compare HLO today."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.accuracy_edits import EditCase, Named
from hloscope.hlo import print_module
from hloscope.model.canonical import Ref
from hloscope.model.hlo import NO_METADATA, Computation, Module

_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?[^\s=]+ = ")
# one line for each line that `diff -u` would show with - or +
_DIFF = [
    "diff",
    "--unchanged-line-format=",
    "--old-line-format=-%dn\n",
    "--new-line-format=+%dn\n",
]


def named_by_text_diff(case: EditCase) -> Sequence[Named]:
    """Every instruction on a removed or added line; a changed header names what differs in it."""
    left, right = (_lines(module) for module in (case.lhs, case.rhs))
    removed, added = changed_lines(left, right)
    old, new = _places(left, case.lhs), _places(right, case.rhs)
    named = [Named(lhs=old[number]) for number in removed if number in old]
    named += [Named(rhs=new[number]) for number in added if number in new]
    if 1 in removed:
        lhs, rhs = dict(case.lhs.header), dict(case.rhs.header)
        different = sorted(name for name in {*lhs, *rhs} if lhs.get(name) != rhs.get(name))
        named += [Named(header=name) for name in different]
    return named


def changed_lines(lhs: Sequence[str], rhs: Sequence[str]) -> tuple[list[int], list[int]]:
    """Numbers (from 1) of the lines that the diff program finds removed and added."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("lhs", "rhs")]
        for path, lines in zip(paths, (lhs, rhs), strict=True):
            path.write_text("\n".join(lines) + "\n")
        run = subprocess.run([*_DIFF, *map(str, paths)], capture_output=True, text=True)
    if run.returncode > 1:
        raise RuntimeError(run.stderr)
    marks = run.stdout.split()
    return (
        [int(mark[1:]) for mark in marks if mark[0] == "-"],
        [int(mark[1:]) for mark in marks if mark[0] == "+"],
    )


def without_metadata(module: Module) -> Module:
    """The module as people strip it before they compare."""
    return replace(
        module, name="m", stack_frames=(), computations=tuple(map(_bare, module.computations))
    )


def _bare(computation: Computation) -> Computation:
    instructions = tuple(i._replace(metadata=NO_METADATA) for i in computation.instructions)
    return computation._replace(instructions=instructions)


def _lines(module: Module) -> list[str]:
    return print_module(without_metadata(module)).splitlines()


def _places(lines: Sequence[str], module: Module) -> dict[int, Ref]:
    """The instruction on each line; computations and instructions are printed in their order."""
    numbers = [n for n, line in enumerate(lines, 1) if _INSTRUCTION.match(line)]
    refs = [
        Ref(c, i)
        for c, computation in enumerate(module.computations)
        for i in range(len(computation.instructions))
    ]
    return dict(zip(numbers, refs, strict=True))
