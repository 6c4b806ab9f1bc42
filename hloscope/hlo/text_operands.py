"""Operands of one instruction in HLO text."""

from __future__ import annotations

import re
from typing import NamedTuple

from hloscope.hlo.shape_text import ARRAY
from hloscope.hlo.text_scan import CUT, STRING, bare, closing, split

_MARKED = re.compile(rf"%({STRING}|[^\s,()]+)", re.DOTALL)
_PLAIN_LIST = re.compile(r"[^(){}\[\]\"/]*")
# an opcode before its parenthesis; `T(8,128)` has a capital and `b(` makes a buffer's shape
_NESTED = re.compile(r"(?:^|[\s,(])(?!b\()[a-z][\w\-]*\(")
_INNER = re.compile(rf"(?:({ARRAY})\s+)?([a-z][\w\-]*)\s*(?=\()", re.DOTALL)


class Nested(NamedTuple):
    """An instruction written in the place of an operand: `add(f32[2] parameter(0), x)`."""

    shape: str | None
    opcode: str
    operands: str


class Named(NamedTuple):
    """An operand by name; `shape` is the type that older text writes before it."""

    name: str
    shape: str | None


def names(text: str) -> list[str] | None:
    """The operands' names, `None` where `operands` has to look closer."""
    if "%" in text:
        marked = _MARKED.findall(text)
        if len(marked) == 1 + text.count(",") or not _NESTED.search(text):
            return [name[1:-1] if name[0] == '"' else name for name in marked]
        return None
    if not text or text.isspace():
        return []
    if _PLAIN_LIST.fullmatch(text) and not (" " in text.strip() and _typed(text)):
        return [part.strip() for part in text.split(",")]
    return None


def _typed(text: str) -> bool:
    return any(" " in part.strip() for part in text.split(","))


def operands(text: str) -> list[Named | Nested]:
    """The operands, however they are written."""
    found: list[Named | Nested] = []
    for part in split(text):
        nested = _nested(part)
        if nested is not None:
            found.append(nested)
            continue
        shape, _, name = part.rpartition(" ")
        found.append(Named(bare(name), shape.strip() or None))
    return found


def _nested(part: str) -> Nested | None:
    """`f32[10] parameter(0)`, `(f32[2], f32[2]) tuple(a, b)` or `add(a, b)`."""
    if part[-1:] != ")":
        return None
    start = 0
    shape: str | None = None
    if part[0] == "(":
        start = closing(part, 0, len(part))
        if start in (CUT, len(part)):
            return None
        shape, start = part[:start], start + (part[start : start + 1] == " ")
    match = _INNER.match(part, start)
    if match is None or closing(part, match.end(), len(part)) != len(part):
        return None
    return Nested(match[1] or shape, match[2], part[match.end() + 1 : -1])
