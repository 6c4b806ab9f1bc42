"""Lays the reasons of a difference out in a few lines of a given width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import lt
from textwrap import wrap

from hloscope.report.document import Reason, Why
from hloscope.report.names import cut

# what a reader takes in at a glance
LINES = 8
# of them for findings that need more than a line: what is cut off may be the cause itself
SPARE = 3
_LEAST_TEXT = 20  # columns


def why_lines(why: Why, width: int) -> tuple[str, ...]:
    """At most `LINES` lines: reasons, what is left, the next command (which may be wider)."""
    kept = bool(why.rest or why.hidden or len(why.reasons) > 1) + bool(why.command)
    columns = _columns(why.reasons)
    shown = why.reasons[: LINES - kept - SPARE]
    needed = [len(list(_reason(reason, columns, width, LINES))) for reason in shown]
    lines = [
        line
        for reason, room in zip(shown, _shares(needed, LINES - kept), strict=True)
        for line in _reason(reason, columns, width, room)
    ]
    rest = _rest(why, len(why.reasons) - len(shown) + why.hidden)
    if rest:
        lines.append(cut(rest, width))
    if why.command:
        lines.append(f"next: {why.command}")
    return tuple(lines)


def _shares(needed: Sequence[int], room: int) -> list[int]:
    """Lines for each: one, and then one more in turn for those that need it, within `room`."""
    shares = [1] * len(needed)
    while room > sum(shares) and any(map(lt, shares, needed)):
        for number, wanted in enumerate(needed):
            if shares[number] < wanted and room > sum(shares):
                shares[number] += 1
    return shares


def _columns(reasons: tuple[Reason, ...]) -> tuple[int, int]:
    return (
        max((len(reason.amount) for reason in reasons), default=0),
        max((len(reason.confidence) for reason in reasons), default=0),
    )


def _reason(reason: Reason, columns: tuple[int, int], width: int, room: int) -> Iterator[str]:
    """The reason on at most `room` lines; what does not fit is cut."""
    head = f"{reason.amount:>{columns[0]}}  {reason.confidence:<{columns[1]}}  ".lstrip(
        "" if columns[0] else " "
    )
    lines = wrap(reason.text, max(width - len(head), _LEAST_TEXT), break_on_hyphens=False)
    for number, line in enumerate(lines[:room]):
        last = number == room - 1 < len(lines) - 1
        text = (
            cut(f"{line} {lines[number + 1]}", max(width - len(head), _LEAST_TEXT))
            if last
            else line
        )
        yield (head if not number else " " * len(head)) + text


def _rest(why: Why, more: int) -> str:
    plural = "s" if more > 1 else ""
    parts = [why.rest, f"{more} more finding{plural}: --all" if more else ""]
    return "; ".join(part for part in parts if part)
