"""A sweep's matrix as one HTML page, with a plot of memory."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from hloscope.model.sweep import Plan, Row
from hloscope.report.document import Note, Section, Table
from hloscope.report.figures.style import LHS, axes_of, finish, rows_height
from hloscope.report.numbers import bytes_text
from hloscope.report.sweep import label, sweep_document, varying

_TEMPLATE = "sweep.html"
_METRIC = "hbm-total"
_MOST = 60  # bars that can still be read


def sweep_html(plan: Plan, rows: dict[str, Row]) -> str:
    """One page that needs no network: the tables, and memory of each capture."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    source = files("hloscope.report.html").joinpath("templates", _TEMPLATE).read_text("utf-8")
    document = sweep_document(plan, rows)
    captures = [
        rows[cell.name]
        for cell in plan.cells
        if cell.name in rows and _METRIC in rows[cell.name].figures
    ]
    return environment.from_string(source).render(
        title=plan.file.rpartition("/")[2],
        headline=document.headline.text,
        sections=[_section(section) for section in document.sections],
        plot=Markup(_plot(captures)) if captures else "",  # noqa: S704 - an SVG of our own making
    )


def _section(section: Section) -> dict[str, object]:
    tables = [block for block in section.blocks if isinstance(block, Table)]
    return {
        "title": section.title,
        "notes": [block.text for block in section.blocks if isinstance(block, Note)],
        "tables": [{"columns": _columns(table), "rows": table.rows} for table in tables],
    }


def _columns(table: Table) -> list[tuple[str, bool]]:
    """(heading, whether it holds numbers) of each column."""
    return [(name.removeprefix(">"), name.startswith(">")) for name in table.columns]


def _plot(captures: Sequence[Row]) -> str:
    """Device memory of each capture, largest first, as SVG text."""
    ranked = sorted(captures, key=lambda row: (-row.figures[_METRIC], row.task))[:_MOST]
    axes = varying(captures)
    labels = [label(row, axes) for row in ranked]
    ax = axes_of(None, rows_height(len(ranked)) * 0.7)
    sizes = [row.figures[_METRIC] for row in ranked]
    ax.barh(range(len(ranked)), sizes, color=LHS)
    ax.set_yticks(range(len(ranked)), labels)
    ax.invert_yaxis()
    ax.set_xlabel("device memory")
    ax.xaxis.set_major_formatter(lambda value, _: bytes_text(value))
    for at, size in enumerate(sizes):
        ax.annotate(bytes_text(size), (size, at), xytext=(3, 0), textcoords="offset points",
                    va="center", fontsize=7)  # fmt: skip
    ax.margins(x=0.12)
    finish(ax, "Memory of each capture, largest first", grid="x")
    text = io.StringIO()
    figure = ax.get_figure()
    assert figure is not None  # noqa: S101 - made above
    figure.savefig(text, format="svg", metadata={"Date": None})  # type: ignore[union-attr]
    return text.getvalue()[text.getvalue().index("<svg") :]
