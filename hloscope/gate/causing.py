"""Why a program regressed, in the words of the gate's first line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hloscope.model.comparison import Comparison
from hloscope.model.finding import Confidence, Direction, Finding, Metric, Specificity
from hloscope.model.gate import Check, Status
from hloscope.model.number_text import bytes_text, count_text
from hloscope.model.units import Maybe, Measured

# other revisions of the source are what a gate compares, so they explain nothing
_OTHER_SOURCES = "ENV005"
_FILES = 2  # parts of a path that say which file is meant


def cause_of(comparison: Comparison, checks: Iterable[Check]) -> str:
    """What explains the checks that regressed.

    The finding to look at first that is no improvement, with its code and the line it points at.
    Where that only says what happened, the first that says why instead; and as it explains less
    then, or where there is none, what grew most in the metric that went over is named as well.
    """
    worse = [
        finding
        for finding in comparison.explanation.findings
        if finding.direction is not Direction.BETTER and finding.code != _OTHER_SOURCES
    ]
    found = next(iter(worse), None)
    if found and found.specificity is not Specificity.SYMPTOM:
        return _named(found)
    found = next((f for f in worse if _says_why(f)), found)
    named = _named(found) if found else ""
    grown = _grown_most(comparison, checks)
    most = f"most of it is {grown}" if grown else ""
    if named and most:
        return f"{named}; {most}"
    return named or f"no finding explains it{f'; {most}' if most else ''}"


def _says_why(finding: Finding) -> bool:
    """Whether a finding is sure of a reason, and explains something by it."""
    symptom = finding.specificity is Specificity.SYMPTOM
    suspected = finding.confidence is Confidence.SUSPECTED
    return not symptom and not suspected and any(finding.held.known(m) for m in Metric)


def _named(finding: Finding) -> str:
    frames = finding.rhs_frames
    where = f" at {_short(f'{frames[0].file}:{frames[0].line}')}" if frames else ""
    return f"{finding.title} ({finding.code}){where}"


def _short(source: str) -> str:
    return "/".join(source.split("/")[-_FILES:])


def _grown_most(comparison: Comparison, checks: Iterable[Check]) -> str:
    """What grew most, of the first check that regressed and whose ledger can say so."""
    for check in checks:
        if check.status is not Status.REGRESSED:
            continue
        grown = sorted(_growth(comparison, check.name), key=lambda each: (-each[0], each[1]))
        if grown and grown[0][0] > 0:
            return grown[0][1]
    return ""


def _growth(comparison: Comparison, metric: str) -> Iterator[tuple[float, str]]:
    """How much each entry of a metric's ledger grew, and what it is."""
    if metric.startswith("hbm-"):
        yield from _memory(comparison)
    elif metric.startswith("sent"):
        yield from _sent(comparison)
    else:
        yield from _cost(comparison, flops=metric == "flops")


def _memory(comparison: Comparison) -> Iterator[tuple[float, str]]:
    for entry in comparison.memory.entries if comparison.memory else ():
        held = entry.shown
        what = held.shape_text.partition("{")[0] or held.name
        yield entry.size, _said(f"{bytes_text(entry.size)} more of {what}", held.source)


def _sent(comparison: Comparison) -> Iterator[tuple[float, str]]:
    for change in comparison.communication.changes:
        size = _known(change.wire_bytes)
        item = change.rhs or change.lhs
        if item is not None:
            text = f"{bytes_text(size)} more sent by {item.kind} {item.shape} over {item.axes_text}"
            yield size, text


def _cost(comparison: Comparison, *, flops: bool) -> Iterator[tuple[float, str]]:
    for entry in comparison.cost.entries:
        size = _known(entry.flops if flops else entry.bytes)
        amount = count_text(size, "FLOP") if flops else bytes_text(size)
        shown = entry.entry
        what = f"{amount} more in {shown.opcode} {shown.shape.partition('{')[0]}"
        yield size, _said(what, shown.source)


def _said(text: str, source: str) -> str:
    return f"{text} at {_short(source)}" if source else text


def _known(figure: Maybe[int]) -> int:
    return figure.value if isinstance(figure, Measured) else 0
