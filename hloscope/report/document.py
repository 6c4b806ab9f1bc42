"""What a report says, before any format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Tone(StrEnum):
    """How a line should strike the reader; never the only carrier of meaning."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A line of text."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under named columns.

    Attributes:
      columns: headings; those whose name starts with `>` are aligned to the right, the `>` dropped.
      rows: cells as text, as many as there are columns.
      tones: one for each row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    tones: tuple[Tone, ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.tones) or any(
            len(row) != len(self.columns) for row in self.rows
        ):
            raise ValueError("a table needs a tone for each row and a cell for each column")


Block: TypeAlias = Note | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled part of a report."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report: a headline, what it means in a few lines, then the sections."""

    headline: Note
    lead: tuple[Note, ...]
    sections: tuple[Section, ...]
