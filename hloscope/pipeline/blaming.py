"""Old and new code by old and new tools: whose is which part of the delta?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hloscope.errors import HloscopeError
from hloscope.model.blame import Blame, BlameCell, Share
from hloscope.model.source import Source
from hloscope.model.units import Measured, Missing
from hloscope.pipeline.metrics import METRICS, Figure, measure
from hloscope.pipeline.opening import OpenOptions, is_file, open_pair, open_source

Opened = Source | HloscopeError


def blame(lhs: str, rhs: str, old: OpenOptions, new: OpenOptions) -> Blame:
    """Captures both programs by both sets of tools.

    Args:
      lhs: the old code, a program's spec.
      rhs: the new code.
      old: how lhs is captured; its packages are the old tools.
      new: how rhs is captured.

    Raises:
      HloscopeError: a side is no program, the tools are the same, or one of the two sides as given
        cannot be captured. Where only old code by new tools or new code by old tools fails, the
        result says so.
    """
    for spec in (lhs, rhs):
        if is_file(spec):
            raise HloscopeError(
                f"'{spec}' is a file, and blame compiles each side by both sets of tools",
                remedy="a program, package.module:factory@REV",
            )
    if old.packages == new.packages:
        raise HloscopeError(
            "both sides have the same tools",
            where="--lhs-with and --rhs-with",
            remedy="--lhs-with jax==0.11.2; hloscope diff compares code alone",
        )
    ends = open_pair(lhs, rhs, old, new)
    crossed = (_opened(rhs, old), _opened(lhs, new))
    opened: tuple[Opened, ...] = (ends[0], *crossed, ends[1])
    places = (("lhs", "lhs"), ("rhs", "lhs"), ("lhs", "rhs"), ("rhs", "rhs"))
    cells = tuple(_cell(*place, each) for place, each in zip(places, opened, strict=True))
    return Blame(
        lhs=ends[0].label,
        rhs=ends[1].label,
        target=old.target or "",
        cells=cells,
        shares=tuple(_share(metric, cells) for metric in METRICS),
        notes=tuple(_notes(cells)),
    )


def _opened(spec: str, options: OpenOptions) -> Opened:
    try:
        return open_source(spec, options)
    except HloscopeError as error:
        if options.cancelled.is_set():
            raise
        return error


def _cell(code: str, tools: str, opened: Opened) -> BlameCell:
    if isinstance(opened, HloscopeError):
        missing = Missing(f"{_NAMES[code]} code does not compile by {_NAMES[tools]} tools")
        return BlameCell(
            code=code,
            tools=tools,
            label=f"{_NAMES[code]} code by {_NAMES[tools]} tools",
            figures=dict.fromkeys(METRICS, missing),
            versions={},
            problem=opened.problem,
        )
    return BlameCell(
        code=code,
        tools=tools,
        label=opened.label,
        figures=measure(opened),
        versions=opened.capture.provenance.versions if opened.capture else {},
        problem=None,
    )


_NAMES = {"lhs": "old", "rhs": "new"}


def _share(metric: str, cells: tuple[BlameCell, ...]) -> Share:
    old, code, tools, new = (cell.figures[metric] for cell in cells)
    return Share(
        metric=metric,
        lhs=old,
        rhs=new,
        delta=_combined(lambda a, d: d - a, old, new),
        code=_combined(lambda a, b: b - a, old, code),
        tools=_combined(lambda a, c: c - a, old, tools),
        both=_combined(lambda a, b, c, d: d - b - c + a, old, code, tools, new),
    )


def _combined(formula: Callable[..., int | float], *figures: Figure) -> Figure:
    values = []
    for figure in figures:
        match figure:
            case Missing():
                return figure
            case Measured(value):
                values.append(value)
    return Measured(formula(*values))


def _notes(cells: tuple[BlameCell, ...]) -> list[str]:
    notes = [
        f"{_NAMES[cell.code]} code by {_NAMES[cell.tools]} tools: {cell.problem}"
        for cell in cells
        if cell.problem is not None
    ]
    same: Mapping[str, str] | None = None
    if cells[0].versions == cells[3].versions:
        same = cells[0].versions
    if same is not None:
        notes.append("the compilers and libraries are of the same versions on both sides")
    return notes
