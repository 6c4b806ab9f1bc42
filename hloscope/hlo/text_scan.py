"""Places in HLO text: gaps, brackets, values, names.

Everything here runs in time linear in the text it passes over, whatever the text holds: the
patterns are possessive or cannot match in two ways, and brackets are counted, not recursed into.
"""

from __future__ import annotations

import re

# blanks and comments between tokens
GAP = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
STRING = r'"(?:[^"\\]++|\\.)*+"'
NAME = rf"%?(?:{STRING}|[^\s=(){{}}\[\],\"'%:;/]++(?:[:/][^\s=(){{}}\[\],\"'%:;/]++)*+)"

_BRACKET = re.compile(rf"[()\[\]{{}}]|{STRING}|\"", re.DOTALL)
_PARENTHESIS = re.compile(r"[()]")
# an object three levels deep at most, which is nearly every value there is
_OBJECT = re.compile(
    rf"\{{(?:[^{{}}\"]++|{STRING}|\{{(?:[^{{}}\"]++|{STRING}|"
    rf"\{{(?:[^{{}}\"]++|{STRING})*+\}})*+\}})*+\}}",
    re.DOTALL,
)
# what can end a value: a comma or the end of the line, both outside brackets; or a comment
_STOP = re.compile(rf"[()\[\]{{}},\n]|{STRING}|\"|//|/\*", re.DOTALL)
_PLAIN = re.compile(r"[\w.\-+%<>=:?]+(?=[,\n}])|" + STRING, re.DOTALL)
_OPEN, _CLOSE = "([{", ")]}"

# a run of brackets that never close costs the rest of the text; more of them end the module
CUT = -1


def closing(text: str, start: int, end: int) -> int:
    """The place after the bracket that closes the one at `start`, `CUT` where none does."""
    if text[start] == "{":
        match = _OBJECT.match(text, start, end)
        if match is not None:
            return match.end()
    depth = 0
    for token in _BRACKET.finditer(text, start, end):
        kind = token[0][0]
        if kind in _OPEN:
            depth += 1
        elif kind in _CLOSE:
            depth -= 1
            if depth <= 0:
                return token.end()
        elif len(token[0]) == 1:
            return CUT  # a quote that nothing closes
    return CUT


def closing_parenthesis(text: str, start: int, end: int) -> int:
    """As `closing`, for a literal: only parentheses count, so that long ones pass quickly."""
    depth, position = 1, start + 1
    while True:
        found = text.find(")", position, end)
        if found < 0:
            return CUT
        depth += text.count("(", position, found) - 1
        if depth == 0:
            return found + 1
        position = found + 1


def value_end(text: str, start: int, end: int) -> int:
    """The end of an attribute's value that begins at `start`, `CUT` where the text ends first."""
    if text.startswith("{", start):
        position = closing(text, start, end)
        if position == CUT or text[position : position + 1] in (",", "\n", ""):
            return position
    else:
        match = _PLAIN.match(text, start, end)
        if match is not None and text[match.end() : match.end() + 1] in (",", "\n", ""):
            return match.end()
    return _slow_value_end(text, start, end)


def _slow_value_end(text: str, start: int, end: int) -> int:
    depth = 0
    last = start
    for token in _STOP.finditer(text, start, end):
        kind = token[0]
        if kind[0] in _OPEN:
            depth += 1
        elif kind[0] in _CLOSE:
            if depth == 0:
                return token.start()
            depth -= 1
        elif kind == '"':
            return CUT
        elif depth == 0 and kind[0] in ",\n/":
            return token.start()
        last = token.end()
    return CUT if depth else max(last, end)


# comments that XLA itself prints stand where a list's element may begin, and are passed there
_UNUSUAL = re.compile(r"/\*(?!index=|i\d+=)")
_COMMENT_OR_OTHER = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/')
_INK = re.compile(r"[^\n]")


def without_unusual_comments(text: str) -> str:
    """`text` with blanks in place of comments, where it has other comments than XLA's own."""
    if _UNUSUAL.search(text) is None:
        return text
    return _COMMENT_OR_OTHER.sub(_blanked, text)


def _blanked(match: re.Match[str]) -> str:
    return _INK.sub(" ", match[0]) if match[0].startswith("/*") else match[0]


def split(text: str) -> list[str]:
    """The parts of a list between its own commas, comments dropped and blanks stripped."""
    if "/" in text:
        text = COMMENT.sub("", text)
    if not text.strip():
        return []
    parts: list[str] = []
    depth = start = 0
    for token in _STOP.finditer(text):
        kind = token[0]
        if kind[0] in _OPEN:
            depth += 1
        elif kind[0] in _CLOSE:
            depth -= 1
        elif kind == "," and depth <= 0:
            parts.append(text[start : token.start()].strip())
            start = token.end()
    return [*parts, text[start:].strip()]


def bare(name: str) -> str:
    """A name without its `%` and its quotes."""
    name = name.removeprefix("%")
    return name[1:-1] if name[:1] == '"' and len(name) > 1 else name


def squeezed(text: str) -> str:
    """`text` with every run of blanks outside strings made one blank, and comments dropped."""
    if "/*" not in text and "\n" not in text and "  " not in text and "\t" not in text:
        return text
    return _SQUEEZE.sub(lambda m: m[0] if m[0][0] == '"' else _blank(m[0]), text).strip()


_SQUEEZE = re.compile(rf"{STRING}|/\*(?:[^*]|\*(?!/))*+\*/|\s++", re.DOTALL)


def _blank(gap: str) -> str:
    return "" if gap[0] == "/" else " "
