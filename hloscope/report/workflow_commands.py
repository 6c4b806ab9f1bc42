"""A gate's report as GitHub's workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.model.gate import GateReport, Judgement, Status
from hloscope.report.gate import headline, said_in_full
from hloscope.report.sarif import place_of

_LEVELS = {Status.REGRESSED: "error", Status.UNDECIDED: "error", Status.IMPROVED: "notice",
           Status.WAIVED: "notice"}  # fmt: skip


def workflow_commands(report: GateReport) -> str:
    """One line for each check that failed, improved or was waived."""
    return "".join(f"{line}\n" for judgement in report.judgements for line in _lines(judgement))


def _lines(judgement: Judgement) -> Iterator[str]:
    for check in judgement.checks:
        if check.status not in _LEVELS:
            continue
        frame = place_of(judgement, check)
        place = f"file={_property(frame.file)},line={frame.line}," if frame is not None else ""
        title = _property(f"hloscope gate: {judgement.gated.label}")
        text = f"{headline(judgement)}\n{said_in_full(check)}"
        yield f"::{_LEVELS[check.status]} {place}title={title}::{_message(text)}"


def _message(text: str) -> str:
    """Escaped as GitHub's toolkit does it (`escapeData`)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escaped as GitHub's toolkit does it (`escapeProperty`)."""
    return _message(text).replace(":", "%3A").replace(",", "%2C")
