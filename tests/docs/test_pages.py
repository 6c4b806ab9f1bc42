"""The documentation's commands: all are understood, and the tutorial's and how-tos' are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hloscope.cli import VERBS, cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
RUN = [ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "howto").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROMPT = "$ "


def blocks(page: Path, language: str) -> Iterator[str]:
    for found, text in BLOCK.findall(page.read_text()):
        if found == language:
            yield text


def lines(page: Path) -> Iterator[str]:
    """Commands of shell and transcript blocks, continued lines joined."""
    for language in ("sh", "text", "console", "bash"):
        for text in blocks(page, language):
            for line in text.replace("\\\n", " ").splitlines():
                command = re.split(" [>|] ", line.removeprefix(PROMPT))[0].strip()
                if command.startswith("hloscope ") and "[" not in command and "..." not in command:
                    yield command


COMMANDS = [(page, command) for page in PAGES for command in dict.fromkeys(lines(page))]


@pytest.mark.parametrize(
    ("page", "command"), COMMANDS, ids=[f"{p.stem}: {c[:60]}" for p, c in COMMANDS]
)
def test_commands_are_understood(page: Path, command: str) -> None:
    """Verb, options and choices are those of this version; nothing is run."""
    _, verb, *arguments = shlex.split(command, comments=True)
    if verb.startswith("-"):
        return
    assert verb in VERBS, page
    found = cli.get_command(click.Context(cli), verb)
    assert found is not None
    try:
        found.make_context(verb, list(arguments))
    except click.exceptions.Exit:  # --help
        pass
    except click.UsageError as error:
        pytest.fail(f"{page.name}: {command}: {error.format_message()}")


@pytest.mark.compile
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_pages_run_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    tool = tmp_path / "bin" / "hloscope"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m hloscope "$@"\n')
    tool.chmod(0o755)
    script = "set -eu\n" + "\n".join(blocks(page, "sh"))
    for number, text in enumerate(blocks(page, "python")):
        (tmp_path / f"{number}.py").write_text(text)
        script += f"\n{sys.executable} {number}.py\n"
    environment = {"PATH": f"{tool.parent}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
