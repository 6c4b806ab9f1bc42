"""What the documentation says to type, page by page.

A comment alone on the line before a block says what is to become of it:

- `<!-- not run: REASON -->`: its commands are only parsed
- `<!-- file: NAME -->`: it is the content of a file

An exit code other than 0 stands behind its command: `# exit code 1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "baselines" / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "howto").glob("*.md"),
    ]
)
SHELL = ("sh", "bash", "console")
PROMPT = "$ "

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*) -->\n)?^```(?P<language>\S*)\n(?P<text>.*?)^```\s*?$",
    re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"`(?P<text>hloscope [a-z][^`]*)`")
_NOT_RUN = re.compile(r"<!-- not run: (.*?) -->")
_EXIT = re.compile(r"\s+# exit code (\d)")
# .ci/run runs these in a fresh environment
INSTALLS = ("main", "tests")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of a page.

    Attributes:
      inline: in running text, where letters stand for what a reader has.
      not_run: why it is only parsed; empty for one that is run.
    """

    text: str
    exit_code: int = 0
    inline: bool = False
    not_run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file that a page says to write."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page says to type and to write.

    Attributes:
      steps: in the page's order.
      python: the blocks to run, one after the other.
    """

    path: Path
    steps: tuple[Command | File, ...]
    python: tuple[str, ...]


def read(path: Path) -> Page:
    """Reads one page."""
    text = path.read_text()
    steps: list[Command | File] = []
    python = []
    end = 0
    for block in _BLOCK.finditer(text):
        steps += _inline(text[end : block.start()])
        end = block.end()
        mark, language = block["mark"] or "", block["language"]
        if mark.startswith("file: "):
            steps.append(File(name=mark.removeprefix("file: "), text=block["text"]))
        elif language == "python" and not mark:
            python.append(block["text"])
        elif mark not in INSTALLS:
            steps += _lines(block["text"], language, mark.removeprefix("not run: "))
    steps += _inline(text[end:])
    return Page(path=path, steps=tuple(steps), python=tuple(python))


def loose(path: Path) -> list[str]:
    """Commands in indented blocks, which nothing here would find."""
    text = _BLOCK.sub("", path.read_text())
    return re.findall(r"^ {4}(?:hloscope|pip|python) .*", text, re.MULTILINE)


def _lines(block: str, language: str, not_run: str) -> Iterator[Command]:
    for line in block.replace("\\\n", " ").splitlines():
        transcript = language == "text" and line.startswith(PROMPT)
        if (language in SHELL or transcript) and line.strip():
            found = _EXIT.search(line)
            text = " ".join(line.removeprefix(PROMPT).partition(" #")[0].split())
            yield Command(text=text, exit_code=int(found[1]) if found else 0, not_run=not_run)


def _inline(text: str) -> Iterator[Command]:
    for found in _INLINE.finditer(text):
        line = text[found.end() :].partition("\n")[0]
        marked = _NOT_RUN.search(line)
        yield Command(
            text=" ".join(found["text"].split()),
            inline=True,
            not_run=marked[1] if marked else "",
        )
