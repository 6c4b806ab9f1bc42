"""`hloscope bisect`: which commit made it worse?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from hloscope.cli.progress import Progress
from hloscope.cli.sides import compile_options, packages, parse_flags, side_options
from hloscope.model.capture import Depth

if TYPE_CHECKING:
    from hloscope.model.bisection import Tried


@click.command()
@click.argument("program")
@click.option("--good", required=True, metavar="REV", help="A revision that is not over.")
@click.option("--bad", default="HEAD", show_default=True, metavar="REV", help="One that is.")
@click.option("--metric", default="peak_bytes", show_default=True, help="What is looked at.")
@click.option("--over", default="1%", show_default=True, help="1%, 10MiB or a plain number.")
@click.option("--first-parent", is_flag=True, help="Follow merges along their first parent alone.")
@side_options
@compile_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    program: str,
    good: str,
    bad: str,
    metric: str,
    over: str,
    first_parent: bool,
    target: str | None,
    module: str | None,
    depth: str,
    flags: tuple[str, ...],
    timeout: float | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Find the first commit whose PROGRAM is over the good revision's metric.

    Every commit is captured in a worktree of its own, once; one that cannot be captured is skipped.
    Metrics: peak_bytes, argument_bytes, output_bytes, alias_bytes, temp_bytes, flops, moved_bytes,
    sent_bytes.
    """
    from hloscope.pipeline import OpenOptions
    from hloscope.pipeline.bisecting import BisectOptions, bisect
    from hloscope.report.bisection import bisection_document, bisection_json

    with Progress() as progress:

        def tell(tried: Tried, left: int) -> None:
            progress.show(f"{tried.commit[:12]} is {tried.standing}", f"{left} left at most")

        opening = OpenOptions(
            target=target,
            module=module,
            depth=Depth(depth),
            xla_flags=parse_flags(flags),
            cache=not no_cache,
            timeout=timeout,
            packages=packages(),
            progress=progress.show,
        )
        options = BisectOptions(metric=metric, over=over, first_parent=first_parent, tell=tell)
        found = bisect(program, good, bad, options, opening)
    if as_json:
        click.echo(json.dumps(bisection_json(found), indent=1, allow_nan=False))
        return
    from hloscope.report.terminal import show

    show(bisection_document(found))
