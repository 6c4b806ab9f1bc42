"""The documentation's commands and Python blocks are run, page by page, from top to bottom."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import click
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import desk
import pages

from hloscope.cli import VERBS, cli

READ = {path.relative_to(pages.ROOT).as_posix(): pages.read(path) for path in pages.PAGES}
RUN = [
    name
    for name, page in READ.items()
    if page.python or any(not getattr(step, "not_run", "") for step in page.steps)
]
# what a machine that runs tests cannot have
REASONS = {
    "installs other packages": 6,
    "needs MaxText": 1,
    "needs a checkpoint": 1,
    "needs GitHub": 1,
    "takes an hour": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A furnished folder, to be copied, and the environment to run in.

    Attributes:
      done: commands of running text, which mean the same on every page and are run on one.
    """

    folder: Path
    environment: Mapping[str, str]
    done: set[str] = field(default_factory=set)


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One for all pages; what they compile they share."""
    top = tmp_path_factory.mktemp("docs")
    environment = desk.environment(top / "cache", top / "tools")
    desk.furnish(top / "desk", environment)
    return Desk(folder=top / "desk", environment=environment)


def parsed(command: str) -> str:
    """Why the command line does not take a command; empty where it does."""
    words = shlex.split(re.split(" [>|] ", command)[0])
    if words[0] != "hloscope" or words[1].startswith("-"):
        return ""
    if words[1] not in VERBS:
        return f"no verb '{words[1]}'"
    found = cli.get_command(click.Context(cli), words[1])
    assert found is not None
    try:
        found.make_context(words[1], words[2:])
    except click.exceptions.Exit:  # --help
        return ""
    except click.UsageError as error:
        return error.format_message()
    return ""


def lines(page: pages.Page) -> Iterator[tuple[pages.Command, str]]:
    """Each command with what is run; the bare name of a verb that needs more is no command."""
    seen = set()
    for command in page.steps:
        if isinstance(command, pages.File):
            continue
        text = desk.filled_in(command.text) if command.inline else command.text
        text = desk.cheaper(text)
        named = command.inline and len(command.text.split()) == 2
        if text not in seen and not (named and parsed(text)):
            seen.add(text)
            yield command, text


def written(command: str) -> Iterator[str]:
    """The files and folders that a command names as its output."""
    words = shlex.split(command)
    for option, value in pairwise(words):
        if option in ("-o", "--html", "--figures", ">"):
            yield value
        if option == "--write":
            yield value.partition("=")[2]
    if words[:2] == ["hloscope", "export"]:
        yield words[words.index("--to") - 1]


def test_what_is_not_run_is_understood_and_little() -> None:
    skipped = [(c, text) for page in READ.values() for c, text in lines(page) if c.not_run]
    assert {text: parsed(text) for _, text in skipped if parsed(text)} == {}
    blocks = [
        mark
        for path in pages.PAGES
        for mark in re.findall(r"<!-- not run: (.*?) -->", path.read_text())
        if mark != "shortened"
    ]
    assert {mark: blocks.count(mark) for mark in blocks} == REASONS


def test_no_command_hides_in_an_indented_block() -> None:
    assert {
        page.path.name: found for page in READ.values() if (found := pages.loose(page.path))
    } == {}


@pytest.mark.parametrize("name", RUN)
def test_commands_are_understood(name: str) -> None:
    """Verb, options and choices are those of this version; nothing is run."""
    assert {text: parsed(text) for _, text in lines(READ[name]) if parsed(text)} == {}


@pytest.mark.compile
@pytest.mark.parametrize("name", RUN)
def test_a_page_runs_from_top_to_bottom(name: str, furnished: Desk, tmp_path: Path) -> None:
    page, folder = READ[name], tmp_path / "desk"
    env = dict(furnished.environment)
    desk.copy(furnished.folder, folder)
    texts = dict(lines(page))
    for step in page.steps:
        if isinstance(step, pages.File):
            (folder / step.name).write_text(desk.cheaper(step.text))
            if step.name.startswith("test_"):
                run(f"{sys.executable} -m pytest -q {step.name} --hloscope-update", 0, folder, env)
        elif step in texts and not step.not_run and texts[step] not in furnished.done:
            run(texts[step], step.exit_code, folder, env)
            if step.inline:
                furnished.done.add(texts.pop(step))
    if page.python:
        (folder / "page.py").write_text(desk.cheaper("\n".join(page.python)))
        # compilers of accelerators may be installed where there is none
        run(f"JAX_PLATFORMS=cpu {sys.executable} page.py", 0, folder, env)


def run(command: str, exit_code: int, folder: Path, env: dict[str, str]) -> None:
    """Runs one command, which ends as the page says and writes what the page names."""
    if command.startswith("hloscope cache clear"):  # not what the pages share
        env = {**env, "HLOSCOPE_CACHE_DIR": str(folder / "cache")}
    done = desk.run(command, folder, env)
    assert done.returncode == exit_code, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr
    assert [name for name in written(command) if not (folder / name).exists()] == []
