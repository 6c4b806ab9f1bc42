"""Renders a document on a terminal, or as plain text where there is none."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from hloscope.report.document import Document, Note, Section, Table, Tone

_STYLES = {Tone.PLAIN: "", Tone.GOOD: "green", Tone.BAD: "red", Tone.QUIET: "dim"}
# how an item of a list begins
_MARKS = frozenset("+-~")


def render(document: Document, console: Console) -> None:
    """Prints a document; colour is the console's business."""
    with console.capture() as captured:
        console.print(_text(document.headline, bold=True))
        for note in document.lead:
            console.print(_text(note))
        for section in document.sections:
            _section(section, console)
    # tables are padded to their full width, which is noise in a file or a pull request
    for line in captured.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")


def _section(section: Section, console: Console) -> None:
    console.print()
    console.print(Text(section.title.upper(), style="bold"))
    for block in section.blocks:
        console.print(_line(block) if isinstance(block, Note) else _table(block))


def _line(note: Note) -> RenderableType:
    """A line; an item of a list keeps what does not fit beside its mark."""
    mark, space, rest = note.text.partition(" ")
    if mark not in _MARKS or not space:
        return _text(note)
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f" {mark}"), Text(rest), style=_STYLES[note.tone])
    return grid


def _text(note: Note, *, bold: bool = False) -> Text:
    style = f"{'bold ' if bold else ''}{_STYLES[note.tone]}".strip()
    return Text(note.text, style=style)


def _table(table: Table) -> RenderableType:
    grid = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in table.columns:
        right = name.startswith(">")
        grid.add_column(
            Text(name.removeprefix(">")),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    for row, tone in zip(table.rows, table.tones, strict=True):
        grid.add_row(*(Text(cell) for cell in row), style=_STYLES[tone])
    return grid
