"""`hloscope fingerprint`: the hash of a module with all noise removed."""

from __future__ import annotations

import json

import click

from hloscope.cli.sides import open_sides, side_options


def _list_passes(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Prints the passes in order, instead of anything else."""
    if not asked or ctx.resilient_parsing:
        return
    from hloscope.normalize import PASSES

    width = max(len(one.name) for one in PASSES)
    for one in PASSES:
        click.echo(f"{one.name:<{width}}  {one.removes}")
    ctx.exit()


@click.command()
@click.argument("side", metavar="X")
@side_options
@click.option("--strict", is_flag=True, help="Cover layouts and the schedule.")
@click.option("--off", multiple=True, metavar="PASS", help="Switch a pass off; may be repeated.")
@click.option(
    "--passes",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_passes,
    help="List the passes and what they remove.",
)
@click.option("--json", "as_json", is_flag=True, help="Print both fingerprints as JSON.")
def command(
    side: str,
    module: str | None,
    target: str | None,
    strict: bool,
    off: tuple[str, ...],
    no_cache: bool,
    as_json: bool,
) -> None:
    """Print the hash of X's module with all noise removed.

    Two modules have the same fingerprint exactly when nothing but noise tells them apart. What
    counts as noise is listed by --passes.
    """
    from hloscope.normalize import NormalizeOptions
    from hloscope.pipeline import canonical_of

    (source,) = open_sides((side,), target, module, cache=not no_cache)
    canonical = canonical_of(source, NormalizeOptions(strict=strict, off=frozenset(off)))
    if as_json:
        both = {"graph": canonical.graph_fingerprint, "full": canonical.full_fingerprint}
        click.echo(json.dumps({"fingerprint": canonical.fingerprint, **both}, indent=2))
    else:
        click.echo(canonical.fingerprint)
