"""`hloscope schema`: what the JSON that a verb prints looks like."""

from __future__ import annotations

import click

SCHEMAS = ("diff",)


@click.command()
@click.argument("verb", type=click.Choice(SCHEMAS))
def command(verb: str) -> None:  # noqa: ARG001 - there is one so far
    """Print the JSON Schema of what VERB prints with --format json."""
    import json

    from hloscope.report.json_schema import diff_schema

    click.echo(json.dumps(diff_schema(), indent=1))
