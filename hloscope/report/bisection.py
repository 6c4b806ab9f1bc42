"""The first bad commit, as a document and as plain data."""

from __future__ import annotations

from typing import Any

from hloscope.model.bisection import Bisection, Standing, Tried
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.report.comparison import comparison_document
from hloscope.report.comparison_json import comparison_json
from hloscope.report.document import Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, percent_text, signed
from hloscope.report.plain import plain

# raised whenever a field is renamed or changes its meaning
FORMAT = 1
_SHORT = 12
_TONES = {Standing.GOOD: Tone.GOOD, Standing.BAD: Tone.BAD, Standing.SKIPPED: Tone.QUIET}


def bisection_document(found: Bisection) -> Document:
    """The commit, then what it changed, then the steps."""
    difference = comparison_document(found.comparison)
    return Document(
        headline=Note(text=_headline(found), tone=Tone.BAD),
        lead=tuple(_lead(found)),
        sections=(
            Section(title="what it changed", blocks=(difference.headline, *difference.lead)),
            *difference.sections[:2],
            Section(title="commits looked at", blocks=(_steps(found),)),
        ),
    )


def bisection_json(found: Bisection) -> dict[str, Any]:
    """Everything under the records' own field names, with the comparison as diff gives it."""
    names = ("program", "target", "metric", "over", "threshold", "tried", "first_bad",
             "last_good", "suspects")  # fmt: skip
    data = {name: plain(getattr(found, name)) for name in names}
    return {"format": FORMAT, **data, "comparison": comparison_json(found.comparison)}


def _headline(found: Bisection) -> str:
    if len(found.suspects) > 1:
        return f"FIRST BAD COMMIT IS ONE OF {len(found.suspects)}: the others could not be captured"
    return f"FIRST BAD COMMIT {found.first_bad.commit[:_SHORT]}: {found.first_bad.subject}"


def _lead(found: Bisection) -> list[Note]:
    notes = [
        Note(text=f"suspect {commit[:_SHORT]}", tone=Tone.BAD)
        for commit in found.suspects
        if len(found.suspects) > 1
    ]
    good, bad = found.last_good, found.first_bad
    change = ""
    if isinstance(good.value, Measured) and isinstance(bad.value, Measured):
        delta = bad.value.value - good.value.value
        relative = percent_text(delta, good.value.value)
        change = f", {signed(_amount(found.metric, delta))} {relative}".rstrip()
    text = (
        f"{found.metric} of {found.program} on {found.target}: "
        f"{_text(found.metric, good.value)} at {good.commit[:_SHORT]} -> "
        f"{_text(found.metric, bad.value)} at {bad.commit[:_SHORT]}{change}"
    )
    return [*notes, Note(text=text)]


def _steps(found: Bisection) -> Table:
    rows = tuple(_row(found.metric, tried) for tried in found.tried)
    tones = tuple(_TONES[tried.standing] for tried in found.tried)
    return Table(columns=("commit", "", f">{found.metric}", "message"), rows=rows, tones=tones)


def _row(metric: str, tried: Tried) -> tuple[str, ...]:
    reason = f" ({tried.value.reason})" if isinstance(tried.value, Missing) else ""
    value = _text(metric, tried.value)
    return tried.commit[:_SHORT], str(tried.standing), value, f"{tried.subject}{reason}"


def _text(metric: str, value: Maybe[int | float]) -> str:
    return _amount(metric, value.value) if isinstance(value, Measured) else "unknown"


def _amount(metric: str, number: float) -> str:
    return count_text(number, "FLOP") if metric == "flops" else bytes_text(number)
