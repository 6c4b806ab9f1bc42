"""What a sweep came to: tables of contrasts and of captures, and what failed."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.model.sweep import Plan, Row
from hloscope.report.document import Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, signed

# metric to its heading and how it is written
_SHOWN = {
    "hbm-total": ("memory", bytes_text),
    "hbm-temporaries": ("temporaries", bytes_text),
    "flops": ("FLOPs", count_text),
    "bytes": ("moved", bytes_text),
    "sent": ("sent", bytes_text),
}
_OF_CONTRAST = ("hbm-total", "flops")
UNKNOWN = "unknown"


def sweep_document(plan: Plan, rows: dict[str, Row]) -> Document:
    """Contrasts first, then captures, then what failed with its reason."""
    done = [rows[task.name] for task in plan.tasks if task.name in rows]
    missing = len(plan.tasks) - len(done)
    failed = sum(bool(row.reason) for row in done)
    text = f"{len(done)} of {len(plan.tasks)} done, {failed} failed"
    tone = Tone.BAD if failed or missing else Tone.GOOD
    whole = [row for row in done if not row.reason]
    found = {kind: [row for row in whole if row.kind == kind] for kind in ("contrast", "capture")}
    titles = {"contrast": "contrasts, rhs - lhs", "capture": "captures"}
    sections = [
        Section(title=titles[kind], blocks=(table(rows_),))
        for kind, rows_ in found.items()
        if rows_
    ]
    broken = [row for row in done if row.reason]
    if broken:
        sections.append(Section(title="failed", blocks=tuple(_failure(row) for row in broken)))
    return Document(headline=Note(text=text, tone=tone), lead=(), sections=tuple(sections))


def table(rows: Sequence[Row]) -> Table:
    """Rows of one kind that came to something: their axes that vary, then figures."""
    contrast = rows[0].kind == "contrast"
    axes = varying(rows)
    metrics = _OF_CONTRAST if contrast else tuple(_SHOWN)
    return Table(
        columns=(
            " ".join(axes),
            *(f">{_SHOWN[metric][0]}" for metric in metrics),
            *(("verdict", "first finding") if contrast else ()),
        ),
        rows=tuple(
            (
                label(row, axes),
                *(figure_text(row, metric) for metric in metrics),
                *((row.verdict, row.finding or "none") if contrast else ()),
            )
            for row in rows
        ),
        tones=(Tone.PLAIN,) * len(rows),
    )


def label(row: Row, axes: Sequence[str]) -> str:
    """A row by its place on the axes that vary."""
    return " ".join(row.axes.get(axis, "-") for axis in axes)


def _failure(row: Row) -> Note:
    return Note(text=f"{row.task}: {row.reason}", tone=Tone.BAD)


def varying(rows: Sequence[Row]) -> list[str]:
    """Axes with more than one value, in the order of the first row; at least one."""
    names = list(dict.fromkeys(axis for row in rows for axis in row.axes))
    found = [name for name in names if len({row.axes.get(name) for row in rows}) > 1]
    return found or names[:1]


def figure_text(row: Row, metric: str) -> str:
    """One figure of a row, with its sign where it is a difference."""
    if metric not in row.figures:
        return UNKNOWN
    text = _SHOWN[metric][1](row.figures[metric])
    return signed(text) if row.kind == "contrast" else text
