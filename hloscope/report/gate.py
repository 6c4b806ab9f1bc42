"""A gate's report: what failed and why in the first line, then every check."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.model.gate import Check, Figure, GateReport, Judgement, Status
from hloscope.model.units import Measured
from hloscope.report.document import Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, percent_text, seconds_text, signed

_TONES = {
    Status.SHOWN: Tone.QUIET,
    Status.PASSED: Tone.GOOD,
    Status.IMPROVED: Tone.GOOD,
    Status.WAIVED: Tone.QUIET,
    Status.UNDECIDED: Tone.BAD,
    Status.REGRESSED: Tone.BAD,
}
_WORTH_A_LINE = (Status.REGRESSED, Status.UNDECIDED, Status.IMPROVED, Status.WAIVED)
_COLUMNS = ("check", "result", ">baseline", ">now", ">change")


def gate_document(report: GateReport) -> Document:
    """The report of one run."""
    worst = sorted(report.judgements, key=lambda j: list(Status).index(j.status), reverse=True)
    return Document(
        headline=_headline(report),
        lead=tuple(_lead(report)),
        sections=tuple(_section(judgement) for judgement in worst),
        one_line=True,
    )


def headline(judgement: Judgement) -> str:
    """One program in one line: how it ended, by what, and why."""
    checks = [check for check in judgement.checks if check.status is judgement.status]
    label = judgement.gated.label
    match judgement.status:
        case Status.REGRESSED:
            cause = f": {judgement.cause}" if judgement.cause else ""
            return f"REGRESSED {label}{cause}; {_said(checks[0])}"
        case Status.UNDECIDED:
            said = _said(checks[0]) if checks else "nothing was asked of it"
            return f"CANNOT DECIDE {label}: {said}"
        case Status.IMPROVED:
            return f"IMPROVED {label}: {_said(checks[0])}"
        case _:
            return f"PASSED {label}"


def said_in_full(check: Check) -> str:
    """A check in one sentence, with what to do."""
    remedy = f" Try: {check.remedy}" if check.remedy else ""
    return f"{_said(check)}.{remedy}"


def _headline(report: GateReport) -> Note:
    for wanted in (Status.REGRESSED, Status.UNDECIDED):
        found = [j for j in report.judgements if j.status is wanted]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            return Note(text=headline(found[0]) + more, tone=Tone.BAD)
    if not report.judgements:
        return Note(text="CANNOT DECIDE: no program was judged", tone=Tone.BAD)
    count = len(report.judgements)
    better = sum(j.status is Status.IMPROVED for j in report.judgements)
    improved = f", {better} of them improved" if better else ""
    return Note(text=f"PASSED: {count} program{'s' * (count > 1)}{improved}", tone=Tone.GOOD)


def _lead(report: GateReport) -> Iterator[Note]:
    lines = [
        Note(text=headline(j), tone=_TONES[j.status])
        for j in report.judgements
        if j.status in (Status.REGRESSED, Status.UNDECIDED, Status.IMPROVED)
    ]
    if len(lines) > 1:
        yield from lines
    yield from (Note(text=f"note: {note}", tone=Tone.QUIET) for note in report.notes)


def _section(judgement: Judgement) -> Section:
    spent = f", {seconds_text(judgement.seconds)}" if judgement.seconds is not None else ""
    return Section(
        title=f"{judgement.gated.label}: {judgement.status}{spent}",
        blocks=(_table(judgement), *_notes(judgement)),
    )


def _table(judgement: Judgement) -> Table:
    checks = judgement.checks
    return Table(
        columns=_COLUMNS,
        rows=tuple(_row(check) for check in checks),
        tones=tuple(_TONES[check.status] for check in checks),
    )


def _row(check: Check) -> tuple[str, ...]:
    before, now = figure_text(check.before), figure_text(check.now)
    if check.now is None and check.status not in _WORTH_A_LINE:
        now = check.reason
    return (check.name, check.status.value, before, now, change_text(check))


def _notes(judgement: Judgement) -> Iterator[Note]:
    if judgement.cause:
        yield Note(text=f"cause: {judgement.cause}", tone=Tone.BAD)
    if judgement.toolchain:
        changed = ", ".join(
            f"{d.name.removeprefix('version ')} {d.lhs or 'none'} -> {d.rhs or 'none'}"
            for d in judgement.toolchain
        )
        yield Note(text=f"the toolchain changed ({changed}); code and tools were judged apart")
    for check in judgement.checks:
        if check.status in _WORTH_A_LINE:
            yield Note(text=said_in_full(check), tone=_TONES[check.status])


def figure_text(figure: Figure | None) -> str:
    """A figure as people read it; a lower bound says so."""
    if figure is None:
        return ""
    if not isinstance(figure.value, Measured):
        return "unknown"
    return (">=" if figure.unknown else "") + _amount(figure.value.value, figure)


def change_text(check: Check) -> str:
    """By how much a figure changed, with the share of the baseline; empty where it did not."""
    match check.before, check.now:
        case Figure(value=Measured(old)), Figure(value=Measured(new)) if old != new:
            share = percent_text(new - old, old)
            return f"{signed(_amount(new - old, check.now))}{f' ({share})' if share else ''}"
        case _:
            return ""


def amount_text(value: float, metric: str) -> str:
    """A value of a metric, in the unit that the metric has."""
    known = {"flops": "FLOP", "instructions": "", "compile-seconds": "s"}
    return _in_unit(value, known.get(metric, "B"))


def _amount(value: float, figure: Figure | None) -> str:
    return _in_unit(value, figure.unit if figure is not None else "")


def _in_unit(value: float, unit: str) -> str:
    if unit == "B":
        return bytes_text(value)
    return seconds_text(value) if unit == "s" else count_text(value, unit)


def _said(check: Check) -> str:
    change = change_text(check)
    if not change:
        return f"{check.name}: {check.reason}" if check.reason else check.name
    figures = f"{figure_text(check.before)} -> {figure_text(check.now)}, {change}"
    allowed = "" if check.allowed is None else f" of {_amount(check.allowed, check.now)}"
    reason = f", {check.reason}{allowed}" if check.reason else ""
    return f"{check.name} {figures}{reason}"
