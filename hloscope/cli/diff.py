"""`hloscope diff`: are these two the same program, and if not, what does the difference cost?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from hloscope.cli.progress import Progress
from hloscope.cli.sides import compile_options, open_sides, parse_flags, side_options
from hloscope.model.capture import Depth

if TYPE_CHECKING:
    from pathlib import Path

    from hloscope.model.comparison import Comparison

DIFFERS = 1
FORMATS = ("terminal", "markdown", "json")
IMAGES = ("png", "svg", "pdf")


@click.command()
@click.argument("lhs")
@click.argument("rhs")
@side_options
@compile_options
@click.option("--strict", is_flag=True, help="Other layouts or schedule are a difference.")
@click.option("--off", multiple=True, metavar="PASS", help="Keep a kind of noise; see fingerprint.")
@click.option("--all", "everything", is_flag=True, help="Show every change, with its neighbours.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="Text; a pull request's comment; everything (hloscope schema diff describes it).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--exact", is_flag=True, help="Write bytes and counts in full.")
@click.option("--html", metavar="FILE", help="Write a report to look into, one file, offline.")
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
    strict: bool,
    off: tuple[str, ...],
    everything: bool,
    form: str,
    as_json: bool,
    exact: bool,
    html: str | None,
    figures: str | None,
    figure_format: str,
    exit_code: bool,
) -> int:
    """Compare LHS (the baseline) with RHS (the candidate); deltas are RHS - LHS.

    Each side is a capture file, HLO text or proto, a folder of XLA dumps, an XProf run, or a
    program (gpt3-6b:nnx?layers=4, package.module:factory) that is compiled for --target.

    Exit code: 0 done, 1 the sides differ (with --exit-code), 2 trouble.
    """
    from hloscope.normalize import NormalizeOptions
    from hloscope.pipeline import compare
    from hloscope.report.comparison import differs

    normalizing = NormalizeOptions(strict=strict, off=frozenset(off))
    # what cannot be done is said before the long part
    if as_json and form not in (FORMATS[0], "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    folder = _folder(figures) if figures is not None else None
    page = _place(html) if html is not None else None
    sides = open_sides(
        (lhs, rhs),
        target,
        module,
        cache=not no_cache,
        depth=Depth(depth),
        flags=parse_flags(flags),
        timeout=timeout,
    )
    with Progress() as progress:
        progress.show("both sides", "comparing")
        comparison = compare(*sides, options=normalizing)
        if folder is not None:
            progress.show("both sides", "drawing")
            _draw(comparison, folder, figure_format)
        if page is not None:
            progress.show("both sides", "writing the report")
            _write_html(comparison, page)
    _print(comparison, "json" if as_json else form, everything=everything, exact=exact)
    return DIFFERS if exit_code and differs(comparison, strict=strict) else 0


def _print(comparison: Comparison, form: str, *, everything: bool, exact: bool) -> None:
    if form == "json":
        _print_json(comparison)
        return
    from hloscope.report.comparison import comparison_document
    from hloscope.report.numbers import exact_numbers

    with exact_numbers(exact):
        document = comparison_document(comparison, everything=everything)
    if form == "markdown":
        from hloscope.report.markdown import markdown

        click.echo(markdown(document), nl=False)
        return
    from hloscope.report.terminal import show

    show(document)


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


def _place(name: str) -> Path:
    """Where the report goes; its folder has to be there."""
    from pathlib import Path

    from hloscope.errors import HloscopeError

    path = Path(name)
    if path.is_dir():
        raise HloscopeError(
            f"'{name}' is a folder", where="--html", remedy=f"--html {path / 'report.html'}"
        )
    if not path.parent.is_dir():
        raise HloscopeError(
            f"there is no folder '{path.parent}'", where="--html", remedy=f"mkdir -p {path.parent}"
        )
    return path


def _write_html(comparison: Comparison, path: Path) -> None:
    from hloscope.report.html import comparison_html
    from hloscope.store import write_atomically

    write_atomically(path, partial(_put, comparison_html(comparison).encode()))


def _draw(comparison: Comparison, folder: Path, image: str) -> None:
    from hloscope.report.figures import comparison_figures, figure_bytes
    from hloscope.store import write_atomically

    for name, figure in comparison_figures(comparison).items():
        content = figure_bytes(figure, image)
        write_atomically(folder / f"{name}.{image}", partial(_put, content))


def _put(content: bytes, file: BinaryIO) -> None:
    file.write(content)
