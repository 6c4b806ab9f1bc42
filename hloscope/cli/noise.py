"""`hloscope noise`: does compiling the same program twice give the same program?"""

from __future__ import annotations

import json

import click

from hloscope.cli.sides import parse_flags


@click.command()
@click.argument("program")
@click.option("-t", "--target", required=True, help="What it is compiled for: tpu:v5p:2x2x2.")
@click.option("--runs", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--xla-flag", "flags", multiple=True, metavar="NAME=VALUE", help="An XLA option.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a compile.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    program: str,
    target: str,
    runs: int,
    jobs: int,
    flags: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
) -> None:
    """Compile PROGRAM several times, each in a fresh process, and say what varies.

    A gate widens no budget for what this finds. `hloscope gate --update --runs N` keeps it beside
    the baseline, and a check that fails on a metric that varies says so.
    """
    from hloscope.cli.progress import Progress
    from hloscope.pipeline import OpenOptions
    from hloscope.pipeline.noise import measure_noise

    with Progress() as progress:
        options = OpenOptions(
            target=target, xla_flags=parse_flags(flags), timeout=timeout, progress=progress.show
        )
        found = measure_noise(program, options, runs, jobs)
    if as_json:
        from hloscope.report.plain import plain

        click.echo(json.dumps(plain(found), indent=1))
        return
    from hloscope.report.noise import noise_document
    from hloscope.report.terminal import show

    show(noise_document(found, program))
