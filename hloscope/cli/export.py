"""`hloscope export`: files for XProf, Model Explorer, Perfetto, Graphviz, XLA and tables."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from hloscope.cli.sides import open_sides, side_options
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.export import Files

NAMES = ("xprof", "model-explorer", "perfetto", "dot", "hlo", "csv", "parquet")


@click.command()
@click.argument("sides", metavar="X [Y]", nargs=-1, required=True)
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", "name", type=click.Choice(NAMES), required=True, help="The format.")
@side_options
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    sides: tuple[str, ...],
    out: Path,
    name: str,
    target: str | None,
    module: str | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    r"""Write X, or X and Y compared, to OUT in another tool's format.

    \b
    xprof           a log folder for `xprof --logdir OUT`: memory and graph viewer
    model-explorer  a folder of graphs, with the pairing for two sides
    perfetto        memory over the schedule, buffers as slices, for ui.perfetto.dev
    dot             the graph for Graphviz
    hlo             HLO text that XLA reads again
    csv, parquet    a folder of every table
    """
    from hloscope.export import FORMATS, export
    from hloscope.pipeline import compare

    if len(sides) > 2:
        raise HloscopeError(
            f"{len(sides)} sides", where="hloscope export", remedy="one or two, then OUT"
        )
    if len(sides) == 2 and not FORMATS[name].pairs:
        raise HloscopeError(
            f"format '{name}' takes one side, not two", remedy="export each side by itself"
        )
    opened = open_sides(sides, target, module, cache=not no_cache)
    files = export(name, opened[0] if len(opened) == 1 else compare(*opened))
    written = write(files, out)
    if as_json:
        click.echo(json.dumps({"files": written, "notes": list(files.notes)}, indent=2))
        return
    for path in written:
        click.echo(path)
    for note in files.notes:
        click.echo(f"note: {note}")
    click.echo(f"next: {files.opens_with.format(out=shlex.quote(str(out)))}")


def write(files: Files, out: Path) -> list[str]:
    """Writes an export, each file whole or not at all; folders are made as needed.

    Returns:
      The paths written, in order.

    Raises:
      HloscopeError: a file stands where a folder has to be, or the other way, or a file cannot be
        written.
    """
    from hloscope.store import write_atomically

    single = "" in files.contents
    if out.is_dir() if single else out.is_file():
        what, needed = ("folder", "file") if single else ("file", "folder")
        raise HloscopeError(f"'{out}' is a {what}, and this format is one {needed}", where="OUT",
                            remedy="give another path")  # fmt: skip
    written = []
    for name, content in files.contents.items():
        path = out / name if name else out
        _make_folder(path.parent)
        write_atomically(path, partial(_put, content))
        written.append(str(path))
    return written


def _put(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise HloscopeError(
            f"cannot make folder '{folder}': {reason}", remedy="write to another place"
        ) from None
