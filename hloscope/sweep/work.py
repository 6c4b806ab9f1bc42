"""One cell or contrast, worked out in whatever process runs it."""

from __future__ import annotations

import time
from dataclasses import replace

from hloscope.errors import HloscopeError
from hloscope.model.gate import Baseline
from hloscope.model.sweep import Cell, Row, Task
from hloscope.model.units import Measured
from hloscope.pipeline import OpenOptions, compare, open_source
from hloscope.pipeline.gating import remember


def work(task: Task, timeout: float | None = None) -> Row:
    """The task's row; a failure is a row with its reason."""
    begun = time.monotonic()
    kind = "capture" if isinstance(task, Cell) else "contrast"
    try:
        row = _cell(task, timeout) if isinstance(task, Cell) else _contrast(task, timeout)
    except HloscopeError as error:
        where = f"{error.where}: " if error.where else ""
        row = failed(task, f"{where}{error.problem}")
    assert row.kind == kind  # noqa: S101 - each of the three says so
    return replace(row, seconds=time.monotonic() - begun)


def failed(task: Task, reason: str) -> Row:
    """The row of a task that came to nothing."""
    kind = "capture" if isinstance(task, Cell) else "contrast"
    return Row(task=task.name, kind=kind, axes=task.axes, reason=reason)


def _options(cell: Cell, timeout: float | None) -> OpenOptions:
    return OpenOptions(target=cell.target, packages=cell.packages, timeout=timeout)


def _cell(cell: Cell, timeout: float | None) -> Row:
    source = open_source(cell.spec, _options(cell, timeout))
    found = remember(source)
    assert source.capture is not None  # noqa: S101 - `remember` has seen to it
    peak = source.capture.provenance.peak_memory
    return Row(
        task=cell.name,
        kind="capture",
        axes=cell.axes,
        figures=_known(found),
        fingerprint=found.graph_fingerprint,
        peak_memory=peak.value if isinstance(peak, Measured) else None,
    )


def _contrast(task: Task, timeout: float | None) -> Row:
    assert not isinstance(task, Cell)  # noqa: S101 - `work` has seen to it
    lhs, rhs = (open_source(c.spec, _options(c, timeout)) for c in (task.lhs, task.rhs))
    found = compare(lhs, rhs)
    before, after = _known(remember(lhs)), _known(remember(rhs))
    first = next(iter(found.explanation.findings), None)
    return Row(
        task=task.name,
        kind="contrast",
        axes=task.axes,
        figures={name: after[name] - before[name] for name in sorted(before.keys() & after.keys())},
        verdict=str(found.changes.verdict),
        finding=f"{first.code} {first.title}" if first else "",
    )


def _known(found: Baseline) -> dict[str, float]:
    return {
        name: figure.value.value
        for name, figure in found.figures.items()
        if isinstance(figure.value, Measured)
    }
