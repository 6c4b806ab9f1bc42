"""`hloscope cache`: what is kept of earlier captures."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from hloscope.store import user_cache


@click.group()
def command() -> None:
    """List or clear the captures that are kept, so that nothing is compiled twice.

    They lie in $HLOSCOPE_CACHE_DIR, or else in the platform's folder for caches.
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def list_entries(as_json: bool) -> None:
    """List the kept captures."""
    from hloscope.report.numbers import bytes_text

    cache = user_cache()
    entries = cache.entries()
    if as_json:
        listed = {"folder": str(cache.folder), "captures": [asdict(entry) for entry in entries]}
        click.echo(json.dumps(listed, indent=2))
        return
    for entry in entries:
        click.echo(f"{entry.program}  {entry.target}  {entry.depth}  {bytes_text(entry.size)}")
    total = bytes_text(sum(entry.size for entry in entries))
    click.echo(f"{len(entries)} captures, {total}, in {cache.folder}")


@command.command("clear")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def clear(as_json: bool) -> None:
    """Remove every kept capture, and every environment made for --with."""
    from hloscope.report.numbers import bytes_text

    cache = user_cache()
    count, size = cache.clear()
    environments = cache.clear_environments()
    if as_json:
        removed = {"captures": count, "bytes": size, "environments": environments}
        click.echo(json.dumps({"folder": str(cache.folder), **removed}))
        return
    also = f" and {environments} environments" if environments else ""
    click.echo(f"removed {count} captures, {bytes_text(size)},{also} from {cache.folder}")
