"""What the difference costs: a line for each quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hloscope.model.capture import OutOfMemory
from hloscope.model.comparison import Comparison
from hloscope.model.cost import Quantity, Total
from hloscope.model.source import Source
from hloscope.report.cost_delta import has_collectives, least_text, moved_total
from hloscope.report.document import Block, Note, Section, Table, Tone
from hloscope.report.figures_table import memory_total
from hloscope.report.numbers import (
    bytes_text,
    count_text,
    maybe_bytes,
    percent_text,
    seconds_text,
    signed,
)

Row = tuple[str, str, str, str, str]


def gap_section(comparison: Comparison) -> Section:
    """Memory at peak, then what a step moves, sends, computes and takes."""
    rows = [row for row in _rows(comparison) if row is not None]
    table = Table(
        columns=("one device", ">lhs", ">rhs", ">delta", ">"),
        rows=tuple(row for row, _ in rows),
        tones=tuple(tone for _, tone in rows),
    )
    return Section(title="gap", blocks=(table, *_notes(comparison)))


def _rows(comparison: Comparison) -> Iterator[tuple[Row, Tone] | None]:
    yield _memory(comparison)
    cost, sent = comparison.cost, comparison.communication
    yield _row("bytes moved a step", moved_total(cost.lhs), moved_total(cost.rhs), bytes_text)
    if has_collectives(sent):
        yield _row("bytes sent a step", sent.lhs.wire_bytes, sent.rhs.wire_bytes, bytes_text)
    flops = [side.totals[Quantity.FLOPS] for side in (cost.lhs, cost.rhs)]
    yield _row("FLOPs a step", flops[0], flops[1], lambda count: count_text(count, "FLOP"))
    yield _row("time a step (estimate)", cost.lhs.seconds, cost.rhs.seconds, seconds_text)


def _memory(comparison: Comparison) -> tuple[Row, Tone] | None:
    """XLA's own totals, which leave constants out; the ledgers' where a side is no capture."""
    lhs, rhs = comparison.lhs.capture, comparison.rhs.capture
    if lhs is not None and rhs is not None:
        sizes = [memory_total(side.memory)[0] for side in (lhs, rhs)]
    elif comparison.memory is not None:
        sizes = [side.total for side in (comparison.memory.lhs, comparison.memory.rhs)]
    else:
        return ("device memory at peak", "unknown", "unknown", "unknown", ""), Tone.QUIET
    return _row("device memory at peak", Total(sizes[0]), Total(sizes[1]), bytes_text)


def _row(
    name: str, lhs: Total, rhs: Total, text: Callable[[float], str]
) -> tuple[Row, Tone] | None:
    """`None` for what neither side knows anything of."""
    unknown = [not total.known and not total.is_exact for total in (lhs, rhs)]
    if all(unknown):
        return None
    left, right = (
        "unknown" if nothing else least_text(total, text(total.known))
        for total, nothing in zip((lhs, rhs), unknown, strict=True)
    )
    if any(unknown):
        return (name, left, right, "unknown", ""), Tone.QUIET
    change = rhs.known - lhs.known
    share = percent_text(change, lhs.known) if change else ""
    return (name, left, right, signed(text(change)), share), _tone(change)


def _tone(change: float) -> Tone:
    if not change:
        return Tone.QUIET
    return Tone.BAD if change > 0 else Tone.GOOD


def _notes(comparison: Comparison) -> Iterator[Block]:
    lhs, rhs = comparison.lhs.capture, comparison.rhs.capture
    if lhs is not None and rhs is not None:
        missing = {part for side in (lhs, rhs) for part in memory_total(side.memory)[1]}
        if missing:
            yield Note(text=f"memory without {', '.join(sorted(missing))}", tone=Tone.QUIET)
    for side, source in (("lhs", comparison.lhs), ("rhs", comparison.rhs)):
        if source.capture is not None and source.capture.out_of_memory is not None:
            yield _does_not_fit(side, source, source.capture.out_of_memory)


def _does_not_fit(side: str, source: Source, refusal: OutOfMemory) -> Note:
    return Note(
        text=f"{side} DOES NOT FIT ({source.label}): needs {maybe_bytes(refusal.needed)}, "
        f"there is {maybe_bytes(refusal.available)}",
        tone=Tone.BAD,
    )
