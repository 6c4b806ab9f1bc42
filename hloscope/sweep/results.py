"""The table that a sweep's rows are streamed to."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from hloscope.errors import HloscopeError
from hloscope.model.sweep import Row
from hloscope.store import write_atomically

_PLAIN = ("task", "kind", "reason", "verdict", "finding", "fingerprint", "seconds", "peak_memory")


class Results:
    """Rows by task; every row is on disk, in a whole Parquet file, once `add` returns.

    Columns: `task`, `kind` (`capture` or `contrast`), one for each axis (`axis_program`, ...), one
    for each metric (`hbm-total`, ..., bytes or FLOPs; of a contrast rhs - lhs; NA where unknown),
    `verdict`, `finding`, `reason` (why it failed), `fingerprint`, `seconds`, `peak_memory` (bytes).
    """

    def __init__(self, path: Path) -> None:
        """Reads what an earlier run has left at `path`.

        Raises:
          HloscopeError: pyarrow is not installed, or the file is no sweep's.
        """
        if find_spec("pyarrow") is None:
            raise HloscopeError(
                "a sweep's table needs pyarrow, which is not installed",
                remedy="pip install 'hloscope[export]'",
            )
        self.path = path
        self.rows: dict[str, Row] = {row.task: row for row in _read(path)}

    def add(self, row: Row) -> None:
        """Keeps a row, in place of an earlier one of the same task.

        Raises:
          HloscopeError: the file cannot be written.
        """
        self.rows[row.task] = row
        data = io.BytesIO()
        self.frame().to_parquet(data, index=False, engine="pyarrow")

        def put(file: BinaryIO) -> None:
            file.write(data.getvalue())

        write_atomically(self.path, put)

    def frame(self, tasks: Sequence[str] | None = None) -> pd.DataFrame:
        """One row for each task, in the order of `tasks`, or of arrival."""
        wanted = self.rows if tasks is None else [task for task in tasks if task in self.rows]
        return pd.DataFrame([_record(self.rows[task]) for task in wanted])


def _record(row: Row) -> dict[str, object]:
    axes = {f"axis_{axis}": value for axis, value in row.axes.items()}
    return {
        "task": row.task, "kind": row.kind, **axes, **dict(sorted(row.figures.items())),
        "verdict": row.verdict, "finding": row.finding, "reason": row.reason,
        "fingerprint": row.fingerprint, "seconds": row.seconds, "peak_memory": row.peak_memory,
    }  # fmt: skip


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    try:
        table = pd.read_parquet(path, engine="pyarrow")
        records = json.loads(table.to_json(orient="records", double_precision=15))
        return [_row(record) for record in records]
    except (OSError, ValueError, KeyError) as error:
        raise HloscopeError(
            f"no table of a sweep: {str(error).splitlines()[0]}",
            where=str(path),
            remedy="name another output, or remove the file",
        ) from None


def _row(record: dict[str, object]) -> Row:
    known = {key: value for key, value in record.items() if value is not None}
    axes = {
        key.removeprefix("axis_"): str(value)
        for key, value in known.items()
        if key.startswith("axis_")
    }
    figures = {
        key: float(str(value))
        for key, value in known.items()
        if key not in _PLAIN and not key.startswith("axis_")
    }
    peak = known.get("peak_memory")
    return Row(
        task=str(record["task"]),
        kind=str(record["kind"]),
        axes=axes,
        reason=str(known.get("reason", "")),
        figures=figures,
        fingerprint=str(known.get("fingerprint", "")),
        verdict=str(known.get("verdict", "")),
        finding=str(known.get("finding", "")),
        seconds=float(str(record["seconds"])),
        peak_memory=None if peak is None else int(float(str(peak))),
    )
