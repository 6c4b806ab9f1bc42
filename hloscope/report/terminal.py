"""Renders a document on a terminal, or as plain text where there is none."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from hloscope.report.document import Block, Document, Note, Section, Table, Tone, Why
from hloscope.report.terminal_why import why_lines

_STYLES = {Tone.PLAIN: "", Tone.GOOD: "green", Tone.BAD: "red", Tone.QUIET: "dim"}
# how an item of a list begins
_MARKS = frozenset("+-~")
# names come from files that anybody may have written: nothing in them may steer the terminal
# (control characters) or turn the reading direction of a line around
_STEERING = {
    code: "\N{REPLACEMENT CHARACTER}"
    for codes in (range(32), range(0x7F, 0xA0), range(0x202A, 0x202F), range(0x2066, 0x206A))
    for code in codes
    if code != ord("\n")
}
# a text that is longer than this scrolls its beginning away
_SCREEN = 40


class _Output(Console):
    """Standard output, whose reader may go away (`| head`)."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the command line ends then, with a code of its own


def show(document: Document) -> None:
    """Prints a document on standard output."""
    render(document, _Output())


def render(document: Document, console: Console) -> None:
    """Prints a document; colour is the console's business."""
    with console.capture() as captured:
        console.print(_text(document.headline, bold=True), soft_wrap=document.one_line)
        for note in document.lead:
            console.print(_text(note))
        for section in document.sections:
            _section(section, console)
    lines = captured.get().splitlines()
    if document.closing is not None and len(lines) > _SCREEN:
        with console.capture() as captured:
            _section(document.closing, console)
        lines += captured.get().splitlines()
    # tables are padded to their full width, which is noise in a file or a pull request
    for line in lines:
        console.file.write(f"{_encodable(line.rstrip(), console)}\n")


def _encodable(line: str, console: Console) -> str:
    """The line in characters that the output can take."""
    encoding = getattr(console.file, "encoding", None) or "utf-8"
    return line.encode(encoding, "replace").decode(encoding)


def _section(section: Section, console: Console) -> None:
    console.print()
    console.print(_plain(section.title.upper(), "bold"))
    for block in section.blocks:
        for line in _block(block, console.width):
            # a command that is cut into lines is no command any more
            console.print(line, soft_wrap=isinstance(block, Why))


def _block(block: Block, width: int) -> Iterator[RenderableType]:
    match block:
        case Note():
            yield _line(block)
        case Table():
            yield _table(block)
        case Why():
            yield from (_plain(line) for line in why_lines(block, width))


def _line(note: Note) -> RenderableType:
    """A line; what does not fit stays below where the text began, beside its mark or indent."""
    text = note.text.lstrip(" ")
    head = " " * (len(note.text) - len(text))
    mark, space, rest = text.partition(" ")
    if not head and mark in _MARKS and space:
        head, text = f" {mark} ", rest
    if not head:
        return _text(note)
    grid = RichTable.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(head), _plain(text), style=_STYLES[note.tone])
    return grid


def _text(note: Note, *, bold: bool = False) -> Text:
    style = f"{'bold ' if bold else ''}{_STYLES[note.tone]}".strip()
    return _plain(note.text, style)


def _plain(text: str, style: str = "") -> Text:
    return Text(text.translate(_STEERING), style=style)


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
        grid.add_row(*(_plain(cell) for cell in row), style=_STYLES[tone])
    return grid
