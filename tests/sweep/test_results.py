"""The table: whole after each row, read again as it was."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from hloscope.errors import HloscopeError
from hloscope.model.sweep import Cell, Plan, Row
from hloscope.report.sweep import sweep_document
from hloscope.report.sweep_html import sweep_html
from hloscope.sweep import Results

CAPTURE = Row(
    task="a",
    kind="capture",
    axes={"program": "p", "layers": "4"},
    figures={"hbm-total": 2.0**52 + 1, "flops": 0.0},
    fingerprint="0" * 32,
    seconds=1.5,
    peak_memory=123_456_789_012,
)
FAILED = Row(task="b <i>", kind="capture", axes={"program": "q"}, reason="it <b>broke</b>")
CONTRAST = Row(
    task="c",
    kind="contrast",
    axes={"program": "p"},
    figures={"hbm-total": -8.0},
    verdict="different",
    finding="DON001 rhs does not donate",
)


def test_rows_come_back_as_they_went(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    results = Results(path)
    for number, row in enumerate((CAPTURE, FAILED, CONTRAST), 1):
        results.add(row)
        assert len(pd.read_parquet(path)) == number
    assert list(Results(path).rows.values()) == [CAPTURE, FAILED, CONTRAST]


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_text("no table")
    with pytest.raises(HloscopeError, match="no table of a sweep"):
        Results(path)
    assert path.read_text() == "no table"


def test_reports_show_every_row() -> None:
    cells = tuple(Cell(spec=name, target="t", axes={}) for name in "ab")
    rows = {cell.name: row for cell, row in zip(cells, (CAPTURE, FAILED), strict=True)}
    plan = Plan(file="x/s.toml", output="", cells=cells, contrasts=())
    document = sweep_document(plan, rows)
    assert document.headline.text == "2 of 2 done, 1 failed"
    assert [section.title for section in document.sections] == ["captures", "failed"]
    page = sweep_html(plan, rows)
    assert "it &lt;b&gt;broke&lt;/b&gt;" in page
    assert "<svg" in page
    assert "<b>" not in page
