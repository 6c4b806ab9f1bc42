"""Every table of one side, or of two that were compared."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pandas as pd

from hloscope.errors import HloscopeError
from hloscope.export.files import Files
from hloscope.model.comparison import Comparison
from hloscope.model.source import Source
from hloscope.pipeline import python as pipeline

Tables = Iterator[tuple[str, pd.DataFrame]]


def csv(subject: Source | Comparison) -> Files:
    """Comma-separated values, one file for each table."""
    return _files(subject, "csv", lambda table: table.to_csv(index=False).encode())


def parquet(subject: Source | Comparison) -> Files:
    """Parquet, one file for each table.

    Raises:
      HloscopeError: pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise HloscopeError(
            "Parquet needs pyarrow, which is not installed",
            remedy="pip install 'hloscope[export]', or --to csv",
        )
    return _files(subject, "parquet", _parquet)


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False, engine="pyarrow")
    return buffer.getvalue()


def _files(
    subject: Source | Comparison, suffix: str, encode: Callable[[pd.DataFrame], bytes]
) -> Files:
    found = _side(subject) if isinstance(subject, Source) else _pair(subject)
    contents = {f"{name}.{suffix}": encode(table) for name, table in found}
    return Files(contents=contents, opens_with="ls {out}", notes=_left_out(subject))


def _side(side: Source) -> Tables:
    yield "cost", pipeline.cost(side).frame()
    yield "communication", pipeline.communication(side).frame()
    if side.buffers is not None:
        yield "memory", pipeline.memory(side).frame()
    if side.capture is not None:
        yield "leaves", side.capture.frame()
        yield "memory_figures", side.capture.memory.frame()
        yield "cost_figures", side.capture.cost.frame()


def _pair(found: Comparison) -> Tables:
    yield "totals", found.frame()
    yield "changes", found.changes.frame()
    yield "cost", found.cost.frame()
    yield "communication", found.communication.frame()
    if found.memory is not None:
        yield "memory", found.memory.frame()
    for name, leaves in (("inputs", found.inputs), ("outputs", found.outputs)):
        if leaves is not None:
            yield name, leaves.frame()


def _left_out(subject: Source | Comparison) -> tuple[str, ...]:
    sides = (subject,) if isinstance(subject, Source) else (subject.lhs, subject.rhs)
    return tuple(
        f"no memory table: '{side.label}' has no buffer assignment"
        for side in sides
        if side.buffers is None
    )
