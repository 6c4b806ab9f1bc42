"""`hloscope gate`: performance regressions stopped, with the cause in the first line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.model.gate import Gated, GateReport, Policy

FORMATS = ("terminal", "markdown", "json", "junit", "sarif", "annotations")
FILES = ("hloscope.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How the gate was asked to run; see the options of the same names."""

    update: bool
    runs: int
    cache: bool
    timeout: float | None
    jobs: int | None


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--config", type=click.Path(path_type=Path), help="hloscope.toml or pyproject.toml.")
@click.option("--update", is_flag=True, help="Make what the programs are now their baselines.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="With --update: compile each so often, and keep what varies.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--write",
    "written",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Also write a format to a file (junit=gate.xml); may be given several times.",
)
@click.option("--exact", is_flag=True, help="Write bytes and counts in full.")
@click.option("--no-cache", is_flag=True, help="Compile anew, and keep nothing in the cache.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a compile.")
@click.option("--jobs", type=click.IntRange(min=1), help="Compiles at once; by cores and memory.")
def command(
    names: tuple[str, ...],
    config: Path | None,
    update: bool,
    runs: int,
    form: str,
    as_json: bool,
    written: tuple[str, ...],
    exact: bool,
    no_cache: bool,
    timeout: float | None,
    jobs: int | None,
) -> int:
    """Judge programs against their baselines, as [tool.hloscope] in pyproject.toml asks.

    NAME is a program of the configuration, all of them by default. Exit code: 0 passed, 1
    regressed, 2 cannot decide: no baseline, a missing metric, another environment, a capture that
    failed.
    """
    from hloscope.report.numbers import exact_numbers

    outputs = [_output(each) for each in written]
    policy = load_policy(config)
    programs = chosen(policy, names)
    running = Running(update=update, runs=runs, cache=not no_cache, timeout=timeout, jobs=jobs)
    report = _run(policy, programs, running)
    with exact_numbers(exact):
        for name, path in outputs:
            _write(path, _rendered(report, policy, name))
        _print(report, policy, "json" if as_json else form)
    return report.exit_code


def load_policy(config: Path | None) -> Policy:
    """The policy of a file, or of the first of `FILES` that has one, here or further up.

    Raises:
      HloscopeError: there is none, or it says something that a gate does not understand.
    """
    from hloscope.gate import read_policy

    path = config or _found(Path.cwd())
    try:
        return read_policy(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HloscopeError(
            f"cannot read '{path}': {reason.lower()}", remedy="check the path"
        ) from None


def _found(start: Path) -> Path:
    for folder in (start, *start.parents):
        for name in FILES:
            path = folder / name
            if path.is_file() and (name == FILES[0] or _has_a_gate(path)):
                return path.relative_to(start) if folder == start else path
    raise HloscopeError(
        f"no gate is configured in '{start}' or above it",
        remedy="write [tool.hloscope.programs.NAME] into pyproject.toml, see docs/gate.md",
    )


def _has_a_gate(pyproject: Path) -> bool:
    """Whether a file has the table; one that cannot be read counts, for the error to name it."""
    try:
        return "[tool.hloscope" in pyproject.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return True


def chosen(policy: Policy, names: Sequence[str]) -> tuple[Gated, ...]:
    """The programs of these names, all of them for none.

    Raises:
      HloscopeError: no program has that name.
    """
    known = {gated.name for gated in policy.programs}
    for name in names:
        if name not in known:
            raise HloscopeError(
                f"no program '{name}'",
                where=policy.file,
                remedy=f"one of {', '.join(sorted(known))}",
            )
    return tuple(g for g in policy.programs if not names or g.name in names)


def _run(policy: Policy, programs: Sequence[Gated], running: Running) -> GateReport:
    import datetime

    from hloscope.cli.progress import Progress
    from hloscope.gate import waive
    from hloscope.model.gate import GateReport
    from hloscope.pipeline import OpenOptions
    from hloscope.pipeline.gating import GateOptions, judge_programs, update_programs

    with Progress() as progress:
        opening = OpenOptions(cache=running.cache, timeout=running.timeout, progress=progress.show)
        options = GateOptions(opening=opening, jobs=running.jobs, runs=running.runs)
        if running.update:
            return GateReport(judgements=update_programs(policy, programs, options))
        judgements = judge_programs(policy, programs, options)
    # waivers end on a day of the calendar where the gate runs
    return waive(judgements, policy.waivers, datetime.datetime.now().astimezone().date())


def _rendered(report: GateReport, policy: Policy, form: str) -> str:
    from hloscope.report import gate, gate_json, junit, markdown, sarif, workflow_commands

    renderers: dict[str, Callable[[], str]] = {
        "markdown": lambda: markdown.markdown(gate.gate_document(report)),
        "json": lambda: gate_json.gate_json(report),
        "junit": lambda: junit.junit(report),
        "sarif": lambda: sarif.sarif(report, Path(policy.file).name),
        "annotations": lambda: workflow_commands.workflow_commands(report),
        "terminal": lambda: _terminal(report),
    }
    return renderers[form]()


def _terminal(report: GateReport) -> str:
    import io

    from rich.console import Console

    from hloscope.report.gate import gate_document
    from hloscope.report.terminal import render

    console = Console(file=io.StringIO(), width=80)
    render(gate_document(report), console)
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - as made above
    return console.file.getvalue()


def _print(report: GateReport, policy: Policy, form: str) -> None:
    if form != "terminal":
        click.echo(_rendered(report, policy, form), nl=False)
        return
    from hloscope.report.gate import gate_document
    from hloscope.report.terminal import show

    show(gate_document(report))


def _output(text: str) -> tuple[str, Path]:
    form, equals, file = text.partition("=")
    if form not in FORMATS or not equals or not file:
        raise HloscopeError(
            f"'{text}' is not FORMAT=FILE",
            where="--write",
            remedy=f"junit=gate.xml; FORMAT is one of {', '.join(FORMATS)}",
        )
    return form, Path(file)


def _write(path: Path, text: str) -> None:
    from hloscope.store import write_atomically

    def put(file: BinaryIO) -> None:
        file.write(text.encode("utf-8", "replace"))

    write_atomically(path, put)
