"""`hloscope explain`: what a finding's code means."""

from __future__ import annotations

import difflib
import inspect
import json
from typing import TYPE_CHECKING

import click

from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.explain import Installed
    from hloscope.plugin import Analyzer


@click.command()
@click.argument("code")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(code: str, as_json: bool) -> None:
    """Print what a finding of CODE means: what is seen, why it costs, what is not seen."""
    from hloscope.explain import installed

    found = installed()
    wanted = code.upper()
    name = _owner(found, wanted)
    analyzer = found.analyzers[name]
    if as_json:
        page = {
            "code": wanted,
            "says": analyzer.codes[wanted],
            "analyzer": analyzer.name,
            "package": found.owners[name],
            "page": inspect.cleandoc(type(analyzer).__doc__ or ""),
        }
        click.echo(json.dumps(page, indent=1))
    else:
        click.echo(_page(analyzer, wanted, found.owners[name]))


def _owner(found: Installed, code: str) -> str:
    codes = {c: name for name, analyzer in found.analyzers.items() for c in analyzer.codes}
    if code in codes:
        return codes[code]
    near = difflib.get_close_matches(code, sorted(codes), n=3, cutoff=0.5)
    raise HloscopeError(
        f"no analyzer has the code '{code}'",
        remedy=f"hloscope explain {near[0]}" if near else "hloscope analyzers lists all codes",
    )


def _page(analyzer: Analyzer, code: str, package: str) -> str:
    """The analyzer's docstring under its code, with the other codes of the family below."""
    others = [c for c in sorted(analyzer.codes) if c != code]
    lines = [
        f"{code}: {analyzer.codes[code]}",
        f"analyzer '{analyzer.name}' of {package}",
        "",
        inspect.cleandoc(type(analyzer).__doc__ or ""),
    ]
    if others:
        lines += ["", "Of the same family:", *(f"  {c}: {analyzer.codes[c]}" for c in others)]
    return "\n".join(lines)
