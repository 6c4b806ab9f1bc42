"""HLO text."""

from __future__ import annotations

from hloscope.export.files import Files
from hloscope.hlo import print_module
from hloscope.model.source import Source


def text(side: Source) -> Files:
    """The module as HLO text, as XLA's own reader takes it."""
    printed = print_module(side.module)
    return Files(
        contents={"": printed.encode("utf-8", "surrogateescape")},
        opens_with="hloscope show {out}",
        notes=side.module.notes,
    )
