"""List the reference programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hloscope.decoders import describe, option_help

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hloscope.decoders import Description

# fields of Size; the name goes before them, experts and the parameter count after
_FIGURES = ("layers", "embed", "heads", "kv_heads", "head_dim", "mlp", "vocab", "positions", "seq")


@click.command("programs")
@click.argument("prefix", default="")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(prefix: str, as_json: bool) -> None:
    """List the reference programs whose name starts with PREFIX.

    A program is NAME:linen or NAME:nnx, with options after a question mark:
    gpt3-6b:nnx?layers=4&scan=false. Quote it in the shell.
    """
    found = describe(prefix)
    click.echo(json.dumps(_document(found), indent=2) if as_json else _text(found))


def _document(found: tuple[Description, ...]) -> dict[str, Any]:
    return {
        "programs": [asdict(description) for description in found],
        "options": {name: option._asdict() for name, option in option_help().items()},
    }


def _text(found: tuple[Description, ...]) -> str:
    rows = [("program", *_FIGURES, "experts", "parameters"), *map(_row, found)]
    notes = [f"  {each.name}: {_origin(each)}" for each in found]
    stacks = ", ".join(f":{stack}" for stack in found[0].stacks)
    options = [("option", "values", "default", "meaning")]
    options += [(name, *option) for name, option in option_help().items()]
    return "\n".join(
        [
            *_table(rows, right=range(1, len(rows[0]))),
            "",
            f"Each in {stacks}. Parameters are counted with output tied or not as published.",
            *notes,
            "",
            *_table(options, right=()),
        ]
    )


def _row(description: Description) -> tuple[str, ...]:
    figures = (str(getattr(description.size, name)) for name in _FIGURES)
    experts = description.size.experts
    routed = f"{experts.per_token} of {experts.count}" if experts else "-"
    return (description.name, *figures, routed, f"{description.parameters:,}")


def _origin(description: Description) -> str:
    size = description.size
    return f"{size.source}; {size.note}" if size.note else size.source


def _table(rows: Sequence[tuple[str, ...]], *, right: range | tuple[int, ...]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
