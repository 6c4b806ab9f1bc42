"""What a report says, before any format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias


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


class Reason(NamedTuple):
    """One known cause.

    Attributes:
      amount: what it costs, with its sign; `""` where it claims nothing.
      confidence: how sure that is, in one word.
      text: the finding's code and title.
    """

    amount: str
    confidence: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The answer in a few lines; what does not fit is counted.

    Attributes:
      reasons: the weightiest first.
      hidden: how many more there are.
      rest: what no reason explains, `""` where that need not be said.
      command: what to type next, `""` for nothing.
    """

    reasons: tuple[Reason, ...]
    hidden: int = 0
    rest: str = ""
    command: str = ""


Block: TypeAlias = Note | Table | Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled part of a report."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report: a headline, what it means in a few lines, then the sections.

    Attributes:
      closing: said once more after the last section where a reader sees the end of a long text
        first.
      one_line: whether the headline stays on one line however long it is, for logs that people
        and programs read line by line.
    """

    headline: Note
    lead: tuple[Note, ...]
    sections: tuple[Section, ...]
    closing: Section | None = None
    one_line: bool = False
