"""Whose is which part of a delta, as a document and as plain data."""

from __future__ import annotations

from typing import Any

from hloscope.model.blame import Blame, BlameCell
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, signed
from hloscope.report.plain import plain

# raised whenever a field is renamed or changes its meaning
FORMAT = 1

_TITLES = {
    "peak_bytes": "device memory at peak",
    "argument_bytes": "  arguments",
    "output_bytes": "  outputs",
    "alias_bytes": "  aliased",
    "temp_bytes": "  temporaries",
    "flops": "FLOPs a step",
    "moved_bytes": "bytes moved a step",
    "sent_bytes": "bytes sent a step",
}
_NAMES = {"lhs": "old", "rhs": "new"}


def blame_document(blame: Blame) -> Document:
    """The shares first, then the four captures."""
    rows = [
        (
            _TITLES[share.metric],
            *(_delta(share.metric, part) for part in
              (share.delta, share.code, share.tools, share.both)),
        )
        for share in blame.shares
    ]  # fmt: skip
    table = Table(
        columns=("one device", ">delta", ">code", ">tools", ">both together"),
        rows=tuple(rows),
        tones=tuple(Tone.QUIET if row[1].startswith("0") else Tone.PLAIN for row in rows),
    )
    explained = Note(
        text="code: the new code by the old tools; tools: the old code by the new tools; "
        "both together: what neither does alone. code + tools + both together = delta.",
        tone=Tone.QUIET,
    )
    notes = tuple(Note(text=text, tone=Tone.BAD) for text in blame.notes)
    return Document(
        headline=Note(text=f"BLAME: {blame.lhs} against {blame.rhs} on {blame.target}"),
        lead=(Note(text=_verdict(blame)), *notes),
        sections=(
            Section(title="whose it is", blocks=(table, explained)),
            Section(title="captures", blocks=(_captures(blame.cells),)),
        ),
    )


def blame_json(blame: Blame) -> dict[str, Any]:
    """Everything under the records' own field names."""
    return {"format": FORMAT, **plain(blame)}


def _verdict(blame: Blame) -> str:
    peak = blame.shares[0]
    parts = {"the code": peak.code, "the tools": peak.tools, "both together": peak.both}
    said = [f"{name} {_delta(peak.metric, part)}" for name, part in parts.items()]
    return f"device memory at peak {_delta(peak.metric, peak.delta)}: {', '.join(said)}"


def _captures(cells: tuple[BlameCell, ...]) -> Block:
    rows = tuple(
        (
            _NAMES[cell.code],
            _NAMES[cell.tools],
            _text("peak_bytes", cell.figures["peak_bytes"]),
            cell.problem or ", ".join(f"{n} {v}" for n, v in sorted(cell.versions.items())),
        )
        for cell in cells
    )
    tones = tuple(Tone.BAD if cell.problem else Tone.PLAIN for cell in cells)
    return Table(columns=("code", "tools", ">peak", "versions"), rows=rows, tones=tones)


def _text(metric: str, value: Maybe[int | float]) -> str:
    match value:
        case Measured(number):
            return count_text(number, "FLOP") if metric == "flops" else bytes_text(number)
        case Missing():
            return "unknown"


def _delta(metric: str, value: Maybe[int | float]) -> str:
    return signed(_text(metric, value)) if isinstance(value, Measured) else "unknown"
