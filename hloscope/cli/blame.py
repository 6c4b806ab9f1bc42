"""`hloscope blame`: is it the code, or is it the tools?"""

from __future__ import annotations

import json
from dataclasses import replace

import click

from hloscope.cli.progress import Progress
from hloscope.cli.sides import compile_options, packages, parse_flags, side_options
from hloscope.model.capture import Depth


@click.command()
@click.argument("lhs")
@click.argument("rhs")
@side_options
@compile_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    lhs: str,
    rhs: str,
    target: str | None,
    module: str | None,
    depth: str,
    flags: tuple[str, ...],
    timeout: float | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Split the delta between LHS and RHS into the code's part, the tools' and that of both.

    Both are programs (package.module:factory@REV); --lhs-with and --rhs-with say the tools, those
    that are installed where neither does. Four captures: old and new code by old and new tools.
    """
    from hloscope.pipeline import OpenOptions
    from hloscope.pipeline.blaming import blame
    from hloscope.report.blame import blame_document, blame_json

    with Progress() as progress:
        old = OpenOptions(
            target=target,
            module=module,
            depth=Depth(depth),
            xla_flags=parse_flags(flags),
            cache=not no_cache,
            timeout=timeout,
            packages=packages("lhs"),
            progress=progress.show,
        )
        found = blame(lhs, rhs, old, replace(old, packages=packages("rhs")))
    if as_json:
        click.echo(json.dumps(blame_json(found), indent=1, allow_nan=False))
        return
    from hloscope.report.terminal import show

    show(blame_document(found))
