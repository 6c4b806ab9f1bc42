"""`hloscope diff`: are these two the same program, and if not, what does the difference cost?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from hloscope.model.capture import Depth

if TYPE_CHECKING:
    from pathlib import Path

    from hloscope.model.comparison import Comparison

DIFFERS = 1
IMAGES = ("png", "svg", "pdf")


@click.command()
@click.argument("lhs")
@click.argument("rhs")
@click.option("-t", "--target", help="What programs are compiled for: tpu:v5p:2x2x2.")
@click.option("--module", help="Which module, where a side has several.")
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    default=Depth.HLO.value,
    show_default=True,
    help="How far sides that are programs are compiled.",
)
@click.option("--xla-flag", "flags", multiple=True, metavar="NAME=VALUE", help="An XLA option.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds at most.")
@click.option("--no-cache", is_flag=True, help="Compile anew, and keep nothing in the cache.")
@click.option("--all", "everything", is_flag=True, help="Show every change, with its neighbours.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--figures", metavar="DIR", help="Draw memory, cost and communication into DIR.")
@click.option("--figure-format", type=click.Choice(IMAGES), default=IMAGES[0], show_default=True)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where the two differ.")
def command(
    lhs: str,
    rhs: str,
    target: str | None,
    module: str | None,
    depth: str,
    flags: tuple[str, ...],
    timeout: float | None,
    no_cache: bool,
    everything: bool,
    as_json: bool,
    figures: str | None,
    figure_format: str,
    exit_code: bool,
) -> int:
    r"""Compare LHS (the baseline) with RHS (the candidate); deltas are RHS - LHS.

    Each side is a capture file, HLO text or proto, a folder of XLA dumps, an XProf run, or a
    program (gpt3-6b:nnx?layers=4, package.module:factory) that is compiled for --target.

    \b
    Exit code: 0 done, 1 the sides differ (with --exit-code), 2 trouble.
    """
    from hloscope.cli.capture import parse_flags
    from hloscope.cli.progress import Progress
    from hloscope.pipeline import OpenOptions, compare, open_pair
    from hloscope.report.comparison import comparison_document, differs

    folder = _folder(figures) if figures is not None else None  # before the long part
    with Progress() as progress:
        options = OpenOptions(
            target=target,
            module=module,
            depth=Depth(depth),
            xla_flags=parse_flags(flags),
            cache=not no_cache,
            timeout=timeout,
            progress=progress.show,
        )
        sides = open_pair(lhs, rhs, options)
        progress.show("both", "comparing")
        comparison = compare(*sides)
        if folder is not None:
            progress.show("both", "drawing")
            _draw(comparison, folder, figure_format)
    if as_json:
        _print_json(comparison)
    else:
        from rich.console import Console

        from hloscope.report.terminal import render

        render(comparison_document(comparison, everything=everything), Console())
    return DIFFERS if exit_code and differs(comparison) else 0


def _print_json(comparison: Comparison) -> None:
    import json

    from hloscope.report.comparison_json import comparison_json

    click.echo(json.dumps(comparison_json(comparison), indent=1, allow_nan=False))


def _folder(name: str) -> Path:
    """The folder of that name, made where there is none."""
    from pathlib import Path

    from hloscope.errors import HloscopeError

    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HloscopeError(
            f"cannot make folder '{name}': {(error.strerror or str(error)).lower()}",
            where="--figures",
            remedy="name another folder",
        ) from error
    return Path(name)


def _draw(comparison: Comparison, folder: Path, image: str) -> None:
    from hloscope.report.figures import comparison_figures, figure_bytes
    from hloscope.store import write_atomically

    for name, figure in comparison_figures(comparison).items():
        content = figure_bytes(figure, image)
        write_atomically(folder / f"{name}.{image}", partial(_put, content))


def _put(content: bytes, file: BinaryIO) -> None:
    file.write(content)
