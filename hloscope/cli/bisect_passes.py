"""`hloscope bisect-passes`: the first compiler pass after which two programs differ."""

from __future__ import annotations

import click

from hloscope.cli.progress import Progress
from hloscope.cli.sides import open_sides, parse_flags, side_options
from hloscope.model.capture import Depth
from hloscope.model.passes import PassMetric


@click.command()
@click.argument("lhs")
@click.argument("rhs")
@side_options
@click.option("--xla-flag", "flags", multiple=True, metavar="NAME=VALUE", help="An XLA option.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds at most.")
@click.option(
    "--metric",
    type=click.Choice([metric.value for metric in PassMetric]),
    default=PassMetric.GRAPH.value,
    show_default=True,
    help="What to follow beside the graph: peak is an estimate, flops and bytes are per step.",
)
@click.option("--all", "everything", is_flag=True, help="Show every change, with its neighbours.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    lhs: str,
    rhs: str,
    target: str | None,
    module: str | None,
    no_cache: bool,
    flags: tuple[str, ...],
    timeout: float | None,
    metric: str,
    everything: bool,
    as_json: bool,
) -> None:
    """Find the compiler pass after which LHS (the baseline) and RHS (the candidate) part.

    Each side is a capture of depth 'passes' or a program, which is compiled for --target at that
    depth. Says so where the compilers' inputs differ already, with the first operation that does.
    """
    from hloscope.pipeline.passes import bisect_passes
    from hloscope.report.passes import passes_document, passes_json

    left, right = open_sides(
        (lhs, rhs),
        target,
        module,
        cache=not no_cache,
        depth=Depth.PASSES,
        flags=parse_flags(flags),
        timeout=timeout,
    )
    with Progress() as progress:
        report = bisect_passes(
            left,
            right,
            PassMetric(metric),
            progress=lambda doing: progress.show("both sides", doing),
        )
    if as_json:
        import json

        found = passes_json(report.found, report.change)
        click.echo(json.dumps(found, indent=1, allow_nan=False))
        return
    from hloscope.report.terminal import show

    show(passes_document(report.found, report.change, everything=everything))
