"""Where in a text the HLO modules are."""

from __future__ import annotations

import re
from typing import NamedTuple

from hloscope.hlo.text_scan import STRING

# a module's first line; it may follow the quote of a string literal in another language
_HEADER = re.compile(
    rf"^([^\n`\"']{{0,200}}[`\"']|[ \t]*)HloModule[ \t]+({STRING}|[^\s,:`]+):?", re.MULTILINE
)
_BLOCK = re.compile(
    r"^[ \t]*(?:ENTRY\b|%?[\w.\-]+[ \t]*(?:\([^\n]*\)[ \t]*->[^\n]*)?\{[ \t]*$)", re.MULTILINE
)
_FENCE = re.compile(r"^[ \t]*(?:`|~~~)", re.MULTILINE)
_SEPARATOR = re.compile(r"^// -----", re.MULTILINE)
RECOVERY_TABLE = "origin_recovery_table"  # holds modules of its own, in quotes


class Place(NamedTuple):
    """One module's text: from the end of its name to where it ends at the latest."""

    name: str
    start: int
    end: int
    has_header: bool


def places(text: str) -> list[Place]:
    """The modules of a text, in order; a text without headers may be one module's computations."""
    headers = _own_headers(text)
    found: list[Place] = []
    for number, header in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        quote = header[1][-1:] if header[1].strip() else ""
        found.append(_place(text, header, end, quote))
    if not found and _BLOCK.search(text):
        return [Place("", 0, len(text), has_header=False)]
    return found


def _own_headers(text: str) -> list[re.Match[str]]:
    """Headers of modules, those inside another module's recovery table left out."""
    headers: list[re.Match[str]] = []
    skip_to = 0
    for header in _HEADER.finditer(text):
        if header.start() < skip_to:
            continue
        headers.append(header)
        line_end = text.find("\n", header.end())
        line = text[header.end() : line_end if line_end >= 0 else len(text)]
        if line.rstrip().endswith(f"{RECOVERY_TABLE}={{"):
            close = text.find("\n}", header.end())
            skip_to = close if close >= 0 else len(text)
    return headers


def _place(text: str, header: re.Match[str], end: int, quote: str) -> Place:
    """Ends a module at the fence, the string literal or the separator that it stands in."""
    start = header.end()
    if quote == "`":
        close = text.find("`", start, end)
        end = close if close >= 0 else end
    for stop in (_FENCE, _SEPARATOR):
        match = stop.search(text, start, end)
        if match is not None:
            end = match.start()
    name = header[2]
    return Place(name[1:-1] if name[:1] == '"' else name, start, end, has_header=True)
