"""`hloscope prove`: try the suspected remedies on the candidate, and say what came back."""

from __future__ import annotations

import click

from hloscope.cli.progress import Progress
from hloscope.cli.sides import open_sides, parse_flags, side_options


def _list_probes(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Prints the probes, instead of anything else."""
    if not asked or ctx.resilient_parsing:
        return
    from hloscope.model.proof import PROBES

    width = max(len(probe.name) for probe in PROBES)
    for probe in PROBES:
        kept = "keeps the meaning" if probe.keeps_meaning else "changes the meaning"
        click.echo(f"{probe.name:<{width}}  {probe.does}; {kept}: {probe.why}")
    ctx.exit()


@click.command()
@click.argument("lhs")
@click.argument("rhs")
@side_options
@click.option("--probe", "probes", multiple=True, metavar="NAME", help="Try this; may be repeated.")
@click.option(
    "--probes",
    "listing",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_probes,
    help="List the probes and what they edit.",
)
@click.option("--xla-flag", "flags", multiple=True, metavar="NAME=VALUE", help="An XLA option.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a compile.")
@click.option("--all", "everything", is_flag=True, help="Show every edit and ledger entry.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    lhs: str,
    rhs: str,
    target: str | None,
    module: str | None,
    no_cache: bool,
    probes: tuple[str, ...],
    flags: tuple[str, ...],
    timeout: float | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Make RHS (the candidate) like LHS (the baseline) in one respect, compile it, and compare.

    Each side is a capture or a program, which is compiled for --target. No code of yours is run
    again: RHS's StableHLO is edited. Every probe is tried alone, then all together; without
    --probe, all of them (--probes lists them).
    """
    from hloscope import store
    from hloscope.pipeline.proving import ProveOptions, check_probes, prove
    from hloscope.report.proof import proof_document, proof_json

    check_probes(probes)
    left, right = open_sides(
        (lhs, rhs),
        target,
        module,
        cache=not no_cache,
        flags=parse_flags(flags),
        timeout=timeout,
    )
    with Progress() as progress:
        proof = prove(
            left,
            right,
            ProveOptions(
                probes=probes,
                cache=None if no_cache else store.user_cache(),
                timeout=timeout,
                progress=lambda doing: progress.show("proof", doing),
            ),
        )
    if as_json:
        import json

        click.echo(json.dumps(proof_json(proof), indent=1, allow_nan=False))
        return
    from hloscope.report.terminal import show

    show(proof_document(proof, everything=everything))
