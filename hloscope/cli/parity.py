"""`hloscope parity`: whether two programs compute the same from equal weights."""

from __future__ import annotations

import click


@click.command()
@click.argument("lhs")
@click.argument("rhs")
@click.option(
    "-t", "--target", default="cpu:1", show_default=True, help="What the programs run on: cpu:N."
)
@click.option(
    "--tolerance-ulps",
    type=click.FloatRange(min=0),
    help="Most ulps that count as equal, of a leaf's largest value.  [default: by dtype]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of inputs.")
@click.option(
    "--below",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Integers of the inputs are from 0 to below this.",
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds at most.")
@click.option("--all", "everything", is_flag=True, help="List every leaf.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    lhs: str,
    rhs: str,
    target: str,
    tolerance_ulps: float | None,
    seed: int,
    below: int,
    timeout: float | None,
    everything: bool,
    as_json: bool,
) -> int:
    """Check that RHS computes what LHS does, from equal weights, on this machine's CPU.

    Leaves of both programs are mapped by their canonical state paths, and their shapes, dtypes and
    shardings compared. Where all are mapped, both programs run from the same inputs, and outputs
    and gradients are compared in units in the last place. One side may be the folder of an Orbax
    checkpoint, whose tree is compared without reading an array.

    Exit code 1 where trees or values differ.
    """
    from hloscope.cli.progress import Progress
    from hloscope.model.parity import ParityVerdict
    from hloscope.parity import ParityOptions, compare_values
    from hloscope.report.parity import parity_document, parity_json

    with Progress() as progress:
        parity = compare_values(
            lhs,
            rhs,
            ParityOptions(
                target=target,
                tolerance=tolerance_ulps,
                seed=seed,
                bound=below,
                timeout=timeout,
                progress=lambda doing: progress.show("parity", doing),
            ),
        )
    if as_json:
        import json

        click.echo(json.dumps(parity_json(parity), indent=1))
    else:
        from hloscope.report.terminal import show

        show(parity_document(parity, everything=everything))
    failed = parity.verdict in {ParityVerdict.DIFFERENT, ParityVerdict.TREES_DIFFER}
    return int(failed)
