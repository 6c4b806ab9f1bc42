"""Renders a document as GitHub's Markdown, short enough for one comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hloscope.report.document import Block, Document, Note, Table, Tone, Why

# GitHub takes 65,536 characters in a comment; counted in bytes, so that no way of counting is over
LIMIT = 65_000
# what a reader wants to see without opening anything
_OPEN = frozenset({"gap", "why"})
# what a word may hold and be shown as it is: everything else is code, where `<`, `@name`, `#1` and
# links are plain text
_SAFE = re.compile(r"[A-Za-z0-9.,:;()%+='/>-]*\Z")
# lists, quotes, links, commits, emoji
_RISKY = re.compile(r"[-+>=]|\d+[.)]\Z|www\.|https?:|[0-9a-f]{7,40}\Z|:\w+:")
_FEWEST_LINES = 3
_CUT = "cut to fit: hloscope diff --format terminal --all has the rest"


def markdown(document: Document, limit: int = LIMIT) -> str:
    """The document with its parts folded away behind their titles.

    Args:
      document: what to say.
      limit: bytes at most; the longest parts lose their ends first, and say so.
    """
    head = [f"### {_inline(document.headline.text)}", ""]
    for note in document.lead:
        head += [_inline(note.text), ""]
    open_parts = [s for s in document.sections if s.title in _OPEN]
    folded = [s for s in document.sections if s.title not in _OPEN]
    for section in open_parts:
        head += [f"**{_inline(section.title.capitalize())}**", "", *_lines(section.blocks), ""]
    bodies = [list(_lines(section.blocks)) for section in folded]
    room = limit - _size(head) - sum(_size(_folded(s.title, ())) for s in folded)
    kept = _fitting(bodies, room)
    for section, body in zip(folded, kept, strict=True):
        head += _folded(section.title, body)
    return _cut_to("\n".join(head).rstrip() + "\n", limit)


def _folded(title: str, body: Sequence[str]) -> list[str]:
    return [f"<details><summary>{_inline(title)}</summary>", "", *body, "", "</details>", ""]


def _fitting(bodies: Sequence[list[str]], room: int) -> list[list[str]]:
    """Takes lines off the longest parts until all of them together have room."""
    kept = [list(body) for body in bodies]
    sizes = [_size(body) for body in kept]
    note = _size([f"_{_CUT}_", ""])
    cut: set[int] = set()
    while kept and sum(sizes) + note * len(cut) > room:
        longest = max(range(len(kept)), key=lambda n: (sizes[n], -n))
        if len(kept[longest]) <= _FEWEST_LINES:
            kept[longest], sizes[longest] = [], 0
            cut.add(longest)
            if not any(sizes):
                break
            continue
        sizes[longest] -= _size([kept[longest].pop()])
        cut.add(longest)
    return [[*body, "", f"_{_CUT}_"] if n in cut else body for n, body in enumerate(kept)]


def _cut_to(text: str, limit: int) -> str:
    """The last resort, for a head that is too long by itself."""
    if len(text.encode()) <= limit:
        return text
    return text.encode()[: limit - 8].decode(errors="ignore") + "\n"


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if number and not (isinstance(block, Note) and isinstance(blocks[number - 1], Note)):
            yield ""
        match block:
            case Note():
                yield _note(block)
            case Table():
                yield from _table(block)
            case Why():
                yield from _why(block)


def _note(note: Note) -> str:
    """One item of a list; an indented note is an item below the one before it."""
    depth = (len(note.text) - len(note.text.lstrip())) // 2
    text = _inline(note.text.strip())
    return f"{'  ' * depth}- {f'**{text}**' if note.tone is Tone.BAD else text}"


def _table(table: Table) -> Iterator[str]:
    yield _row([name.removeprefix(">") for name in table.columns])
    yield _bar(["---:" if name.startswith(">") else "---" for name in table.columns])
    for row in table.rows:
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    return _bar(["<br>".join(map(_inline, cell.split("\n"))) for cell in cells])


def _bar(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _why(why: Why) -> Iterator[str]:
    for reason in why.reasons:
        amount = f"**{reason.amount}** " if reason.amount else ""
        yield f"1. {amount}{_inline(reason.text)} ({reason.confidence})"
    if why.reasons:
        yield ""
    if why.rest or why.hidden:
        more = f"{why.hidden} more findings" if why.hidden else ""
        yield "; ".join(filter(None, (_inline(why.rest), more)))
        yield ""
    if why.command:
        yield f"next: {_code(why.command)}"


def _inline(text: str) -> str:
    """A line of text; words that Markdown or GitHub would take for more are code."""
    out: list[str] = []
    code: list[str] = []
    for word in text.replace("\n", " ").split(" "):
        if _SAFE.match(word) and not (_RISKY.match(word) and not _is_figure(word)):
            out += [*_span(code), word]
            code = []
        else:
            code.append(word)
    return " ".join([*out, *_span(code)])


def _is_figure(word: str) -> bool:
    return word in ("->", "-") or bool(re.match(r"[-+>=]+\d", word))


def _span(words: Sequence[str]) -> list[str]:
    return [_code(" ".join(words))] if words else []


def _code(text: str) -> str:
    """A code span; its fence is longer than any run of backticks inside, a bar ends no cell."""
    text = "".join(" " if ord(c) < 32 else c for c in text).replace("|", r"\|")
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"
