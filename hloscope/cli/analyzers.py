"""`hloscope analyzers`: what can name a cause."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from hloscope.explain import Installed
    from hloscope.report.document import Document


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(as_json: bool) -> None:
    """List the installed analyzers, with the codes of what they find.

    Analyzers come from the entry point group hloscope.analyzers, hloscope's own and any other
    package's. `hloscope explain CODE` prints what one sees and what it does not.
    """
    from hloscope.explain import installed

    found = installed()
    if as_json:
        click.echo(json.dumps(_json(found), indent=1))
        return
    from hloscope.report.terminal import show

    show(_document(found))


def _json(found: Installed) -> dict[str, Any]:
    return {
        "analyzers": [
            {
                "entry_point": name,
                "name": analyzer.name,
                "package": found.owners[name],
                "codes": dict(sorted(analyzer.codes.items())),
            }
            for name, analyzer in found.analyzers.items()
        ],
        "crashes": [crash._asdict() for crash in found.crashes],
    }


def _document(found: Installed) -> Document:
    from hloscope.report.document import Document, Note, Section, Table, Tone

    rows = sorted(
        (code, text, analyzer.name, found.owners[name])
        for name, analyzer in found.analyzers.items()
        for code, text in analyzer.codes.items()
    )
    notes = [
        Note(text=f"analyzer '{crash.analyzer}' cannot be used: {crash.message}", tone=Tone.BAD)
        for crash in found.crashes
    ]
    table = Table(
        columns=("code", "finds", "analyzer", "package"),
        rows=tuple(rows),
        tones=(Tone.PLAIN,) * len(rows),
    )
    closing = Note(text="hloscope explain CODE says what one sees, and what it does not")
    return Document(
        headline=Note(text=f"{len(found.analyzers)} analyzers, {len(rows)} codes"),
        lead=tuple(notes),
        sections=(Section(title="codes", blocks=(table, closing)),),
    )
