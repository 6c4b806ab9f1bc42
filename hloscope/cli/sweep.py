"""`hloscope sweep`: the product of programs, stacks, options, targets, revisions and toolchains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.model.sweep import Plan
    from hloscope.sweep import Results, Settings

FAILED = 1


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--jobs", type=click.IntRange(min=1), help="Workers at once; by cores and memory.")
@click.option("--cluster", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:8786.")
@click.option("--retry", is_flag=True, help="Try again what failed before.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a compile.")
@click.option("--html", metavar="FILE", help="Write the matrix as a page with plots.")
@click.option("--json", "as_json", is_flag=True, help="Print every row as JSON.")
def command(
    file: Path,
    jobs: int | None,
    cluster: str | None,
    retry: bool,
    timeout: float | None,
    html: str | None,
    as_json: bool,
) -> int:
    """Capture and compare what FILE, a TOML file, describes; see docs/sweep.md.

    Rows are streamed to a Parquet file beside FILE. A sweep that was interrupted goes on where it
    stopped. Exit code: 0 done, 1 a cell failed, 2 trouble.
    """
    from hloscope.sweep import Results, Settings, read_plan

    try:
        plan = read_plan(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise HloscopeError(f"cannot read '{file}': {reason}", remedy="check the path") from None
    results = Results(Path(plan.output))
    _run(plan, results, Settings(jobs=jobs, cluster=cluster, retry=retry, timeout=timeout))
    if html is not None:
        _write_html(plan, results, Path(html))
    _print(plan, results, as_json=as_json)
    rows = [results.rows[task.name] for task in plan.tasks]
    return FAILED if any(row.reason for row in rows) else 0


def _run(plan: Plan, results: Results, settings: Settings) -> None:
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn

    from hloscope.sweep import run_sweep

    columns = (
        *Progress.get_default_columns()[:-1],
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        done = sum(task.name in results.rows for task in plan.tasks)
        bar = progress.add_task("cells", total=len(plan.tasks), completed=done)
        run_sweep(plan, results, settings, lambda _: progress.advance(bar))


def _print(plan: Plan, results: Results, *, as_json: bool) -> None:
    if as_json:
        table = results.frame([task.name for task in plan.tasks])
        rows = json.loads(table.to_json(orient="records", double_precision=15))
        click.echo(json.dumps({"output": plan.output, "rows": rows}, indent=1))
        return

    from hloscope.report.sweep import sweep_document
    from hloscope.report.terminal import show

    show(sweep_document(plan, results.rows))
    click.echo(f"\n{plan.output}")


def _write_html(plan: Plan, results: Results, path: Path) -> None:
    from hloscope.report.sweep_html import sweep_html
    from hloscope.store import write_atomically

    page = sweep_html(plan, results.rows).encode("utf-8", "replace")

    def put(file: BinaryIO) -> None:
        file.write(page)

    write_atomically(path, put)
