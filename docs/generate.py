"""The reference pages: commands from their help, analyzers and the API from docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import click

from hloscope.cli import VERBS, cli

FUNCTIONS = (
    "hloscope.pipeline.python.open", "hloscope.pipeline.python.compare",
    "hloscope.pipeline.python.memory", "hloscope.pipeline.python.cost",
    "hloscope.pipeline.python.communication", "hloscope.pipeline.python.save",
    "hloscope.capture.capture_function",
)  # fmt: skip
CLASSES = (
    "hloscope.model.program.Program", "hloscope.model.capture.Capture",
    "hloscope.model.source.Source", "hloscope.model.comparison.Comparison",
    "hloscope.model.changes.ModuleDiff", "hloscope.model.ledger.MemoryLedger",
    "hloscope.model.ledger.LedgerDelta", "hloscope.model.cost.CostLedger",
    "hloscope.model.communication.CommunicationLedger", "hloscope.model.finding.Finding",
    "hloscope.model.finding.Explanation", "hloscope.testing.Hloscope",
    "hloscope.errors.HloscopeError",
)  # fmt: skip


def write(folder: Path) -> None:
    """Writes every page; one that says the same is left alone, so that it is not built again."""
    folder.mkdir(exist_ok=True)
    for name, lines in (("commands", commands()), ("analyzers", analyzers()), ("api", api())):
        path, text = folder / f"{name}.md", "\n".join(lines)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def commands() -> Iterator[str]:
    """Every verb's help."""
    yield "# Commands\n\nExit codes: 0 done, 1 a difference that was asked for, 2 trouble.\n"
    root = click.Context(cli, info_name="hloscope")
    for verb in VERBS:
        command = cli.get_command(root, verb)
        assert command is not None  # noqa: S101 - a verb has a command
        context = click.Context(command, info_name=verb, parent=root, terminal_width=80)
        yield f"## {verb}\n\n```text\n{command.get_help(context)}\n```\n"


def analyzers() -> Iterator[str]:
    """The page of every analyzer of this package."""
    yield "# Analyzers\n\n`hloscope explain CODE` prints any of these.\n"
    for point in sorted(entry_points(group="hloscope.analyzers"), key=lambda p: p.name):
        module, _, name = point.value.partition(":")
        if module.partition(".")[0] == "analyzers":
            page = inspect.getdoc(getattr(import_module(module), name)) or ""
            yield f"## {point.name}\n\n```text\n{page}\n```\n"


def api() -> Iterator[str]:
    """What Python code may use."""
    yield "# Python API\n\n`import hloscope` loads no JAX, nor anything else before it is used.\n"
    for directive, names in (("autofunction", FUNCTIONS), ("autoclass", CLASSES)):
        for name in names:
            yield f"```{{eval-rst}}\n.. {directive}:: {name}\n```\n"
