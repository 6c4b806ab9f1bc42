"""The statements of one HLO module's text, names not yet resolved."""

from __future__ import annotations

import re
from typing import NamedTuple

from hloscope.hlo.shape_text import ARRAY
from hloscope.hlo.text_scan import (
    COMMENT,
    CUT,
    GAP,
    NAME,
    STRING,
    bare,
    closing,
    closing_parenthesis,
    value_end,
)

_TUPLE = r"b?\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\)"
_STATEMENT = re.compile(
    rf"(ROOT\s+)?({NAME})\s*=\s*(?:({ARRAY}|{_TUPLE})\s*)?([a-z][\w\-]*)\s*\(", re.DOTALL
)
_DEEP_STATEMENT = re.compile(rf"(ROOT\s+)?({NAME})\s*=\s*(?=\()")
_OPCODE = re.compile(r"\s*([a-z][\w\-]*)\s*\(")
_OPERANDS = re.compile(r"[^()]*+\)")
_ATTRIBUTE = re.compile(rf"{GAP.pattern},{GAP.pattern}([A-Za-z_][\w.\-]*)\s*=\s*", re.DOTALL)
_COMPUTATION = re.compile(rf"(ENTRY\s+)?({NAME})?\s*(?=[({{])", re.DOTALL)
_ARROW = re.compile(r"\s*->\s*")
_ARRAY = re.compile(ARRAY)
_BRACE = re.compile(r"\s*\{")
_TABLE = re.compile(r"(FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*(?=\r?\n|$)")
_ROW = re.compile(rf"\s*(\d+)\s+({STRING}|\{{[^{{}}]*\}})[^\n]*", re.DOTALL)
_LINE = re.compile(r"[^\n]*+\n?")

MAX_NOTES = 20  # places named one by one; the rest are counted
MAX_CUTS = 8  # brackets that never close; each costs a pass over the rest of the text


class Statement(NamedTuple):
    """One instruction as written.

    Attributes:
      shape: `None` where the text gives none.
      operands: the text between the parentheses.
      attributes: (name, value) as written.
    """

    is_root: bool
    name: str
    shape: str | None
    opcode: str
    operands: str
    attributes: list[tuple[str, str]]


class Block(NamedTuple):
    """One computation as written; `is_whole` says whether its closing brace is there."""

    name: str
    is_entry: bool
    statements: list[Statement]
    attributes: list[tuple[str, str]]
    is_whole: bool


class Parsed(NamedTuple):
    """A module as written."""

    name: str
    header: list[tuple[str, str]]
    tables: dict[str, dict[int, str]]
    blocks: list[Block]
    notes: list[str]


class Parser:
    """Reads one module's text between `start` and `end`; nothing it meets makes it raise."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.position = start
        self.end = end
        self.notes: list[str] = []
        self.unread = 0
        self.cuts = 0

    def module(self, name: str, *, has_header: bool) -> Parsed:
        """The module; `has_header` says whether its attributes follow at the position."""
        header = self.attributes() or [] if has_header else []
        tables: dict[str, dict[int, str]] = {}
        blocks: list[Block] = []
        while self.skip_gap():
            table = _TABLE.match(self.text, self.position, self.end)
            if table is not None:
                self.position = table.end()
                tables[table[1]] = self.rows()
            elif not self.block(blocks):
                self.skip_line("is no computation")
        if self.unread > MAX_NOTES:
            self.notes.append(f"{self.unread - MAX_NOTES} more lines could not be read")
        return Parsed(name, header, tables, blocks, self.notes)

    def skip_gap(self) -> bool:
        """Passes blanks and comments; `False` at the end of the text."""
        match = GAP.match(self.text, self.position, self.end)
        if match is not None:
            self.position = match.end()
        return self.position < self.end

    def skip_line(self, problem: str) -> None:
        """Passes a line that could not be read, and says so unless it says nothing."""
        match = _LINE.match(self.text, self.position, self.end)
        line = match[0].strip() if match is not None else ""
        self.position = match.end() if match is not None else self.end
        if line in ("", "}"):
            return
        self.unread += 1
        if self.unread <= MAX_NOTES:
            number = self.text.count("\n", 0, self.position - 1) + 1
            self.notes.append(f"line {number} {problem}: '{line[:60]}'")

    def rows(self) -> dict[int, str]:
        """The numbered rows of a table."""
        rows: dict[int, str] = {}
        while match := _ROW.match(self.text, self.position, self.end):
            rows[int(match[1][:18])] = match[2]
            self.position = match.end()
        return rows

    def block(self, blocks: list[Block]) -> bool:
        """Reads a computation into `blocks`; `False` where none begins here."""
        head = _COMPUTATION.match(self.text, self.position, self.end)
        if head is None or not (head[1] or head[2]):
            return False
        position = self.signature(head.end())
        if position == CUT:
            return False
        self.position = position
        statements: list[Statement] = []
        is_whole = self.statements(statements)
        attributes = (self.attributes() or []) if is_whole else []
        name = bare(head[2] or "entry")
        blocks.append(Block(name, bool(head[1]), statements, attributes, is_whole))
        return True

    def signature(self, position: int) -> int:
        """The place after a computation's `(...) -> shape {`, `CUT` where there is none."""
        text, end = self.text, self.end
        if text[position] == "(":
            position = closing(text, position, end)
            arrow = _ARROW.match(text, position, end) if position != CUT else None
            if arrow is None:
                return self.cut() if position == CUT else CUT
            position = arrow.end()
            array = _ARRAY.match(text, position, end)
            if array is not None:
                position = array.end()
            elif text[position : position + 1] == "(":
                position = closing(text, position, end)
                if position == CUT:
                    return self.cut()
        brace = _BRACE.match(text, position, end)
        return CUT if brace is None else brace.end()

    def cut(self) -> int:
        """Counts a bracket that nothing closes; too many of them end the module."""
        self.cuts += 1
        if self.cuts > MAX_CUTS:
            self.notes.append("too many brackets are never closed: the rest was not read")
            self.position = self.end
        return CUT

    def statements(self, statements: list[Statement]) -> bool:
        """Reads to a computation's closing brace; `False` where the text ends before it."""
        while self.skip_gap():
            if self.text[self.position] == "}":
                self.position += 1
                return True
            statement = self.statement()
            if statement is not None:
                statements.append(statement)
            elif self.at_next_block():
                return False
            else:
                self.skip_line("is no instruction")
        return False

    def at_next_block(self) -> bool:
        """Whether a computation begins here, so that the brace before it is missing."""
        head = _COMPUTATION.match(self.text, self.position, self.end)
        return head is not None and bool(head[1])

    def statement(self) -> Statement | None:
        """The instruction at the position, `None` where there is none or it is cut off."""
        text, end = self.text, self.end
        match = _STATEMENT.match(text, self.position, end)
        if match is None:
            return self.deep_statement()
        return self.rest(bool(match[1]), match[2], match[3], match[4], match.end())

    def deep_statement(self) -> Statement | None:
        """A statement whose shape nests deeper than the pattern for most of them allows."""
        match = _DEEP_STATEMENT.match(self.text, self.position, self.end)
        if match is None:
            return None
        after = closing(self.text, match.end(), self.end)
        opcode = _OPCODE.match(self.text, after, self.end) if after != CUT else None
        if opcode is None:
            if after == CUT:
                self.cut()
            return None
        shape = self.text[match.end() : after]
        return self.rest(bool(match[1]), match[2], shape, opcode[1], opcode.end())

    def rest(
        self, is_root: bool, name: str, shape: str | None, opcode: str, start: int
    ) -> Statement | None:
        """What follows a statement's opening parenthesis."""
        text, end = self.text, self.end
        simple = _OPERANDS.match(text, start, end)
        if simple is not None:
            position = simple.end()
        elif opcode == "constant":
            position = closing_parenthesis(text, start - 1, end)
        else:
            position = closing(text, start - 1, end)
        if position == CUT:
            self.cut()
            return None
        before, self.position = self.position, position
        attributes = self.attributes()
        if attributes is None:
            self.position = before
            self.cut()
            return None
        return Statement(is_root, bare(name), shape, opcode, text[start : position - 1], attributes)

    def attributes(self) -> list[tuple[str, str]] | None:
        """The `, name=value` list at the position, `None` where the text ends inside a value."""
        text, end = self.text, self.end
        found: list[tuple[str, str]] = []
        while match := _ATTRIBUTE.match(text, self.position, end):
            start = match.end()
            stop = value_end(text, start, end)
            if stop == CUT:
                return None
            value = text[start:stop].rstrip()
            if match[1] == "device_ids" and found and found[-1][1].startswith("mesh["):
                # the third notation of replica groups has a comma of its own
                found[-1] = (found[-1][0], f"{found[-1][1]}, device_ids={value}")
            else:
                found.append((match[1], value))
            self.position = stop
        return found


def without_comments(text: str) -> str:
    """`text` without `/* ... */`."""
    return COMMENT.sub("", text) if "/*" in text else text
