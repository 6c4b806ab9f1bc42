"""What a difference in work, traffic and communication is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hloscope.attribute import By, CostGroup, group_delta
from hloscope.model.communication import CollectiveChange, CommunicationDelta
from hloscope.model.cost import CostDelta, CostLedger, Quantity, Total
from hloscope.model.units import Maybe, Measured
from hloscope.report.document import Block, Note, Table, Tone
from hloscope.report.numbers import (
    bytes_text,
    count_text,
    percent_text,
    seconds_text,
    short,
    signed,
    without_layout,
)

FIRST = 10


def cost_delta_blocks(delta: CostDelta, *, everything: bool = False) -> Iterator[Block]:
    """Totals of one step on both sides, then the instructions that differ most."""
    yield _totals(delta)
    groups = group_delta(delta, By.LAYERS)
    shown = groups if everything else groups[:FIRST]
    if shown:
        yield Table(
            columns=(">bytes moved", ">FLOPs", ">time", "instruction, where"),
            rows=tuple(_row(group) for group in shown),
            tones=(Tone.PLAIN,) * len(shown),
        )
    if len(groups) > len(shown):
        yield Note(text=f"... and {len(groups) - len(shown)} more (--all)", tone=Tone.QUIET)
    for note in sorted({*delta.lhs.notes, *delta.rhs.notes}):
        yield Note(text=f"note: {note}", tone=Tone.QUIET)


def has_collectives(delta: CommunicationDelta) -> bool:
    """Whether either side communicates at all."""
    return bool(delta.lhs.collectives or delta.rhs.collectives)


def moved_total(ledger: CostLedger) -> Total:
    """Bytes that one device reads and writes in a step."""
    return _sum(ledger.totals[Quantity.BYTES_READ], ledger.totals[Quantity.BYTES_WRITTEN])


def communication_blocks(delta: CommunicationDelta, *, everything: bool = False) -> Iterator[Block]:
    """Bytes that one device sends in one step, then the collectives that differ."""
    lhs, rhs = delta.lhs.wire_bytes, delta.rhs.wire_bytes
    yield Note(
        text=f"{len(delta.lhs.collectives)} -> {len(delta.rhs.collectives)} collectives; "
        f"a device sends {_bytes(lhs)} -> {_bytes(rhs)} a step"
    )
    shown = delta.changes if everything else delta.changes[:FIRST]
    if shown:
        yield Table(
            columns=(">bytes sent", "change: collective over axes, where"),
            rows=tuple(_collective(change) for change in shown),
            tones=(Tone.PLAIN,) * len(shown),
        )
    if len(delta.changes) > len(shown):
        rest = len(delta.changes) - len(shown)
        yield Note(text=f"... and {rest} more (--all)", tone=Tone.QUIET)


def _totals(delta: CostDelta) -> Table:
    lhs, rhs = delta.lhs.totals, delta.rhs.totals
    moved = [moved_total(delta.lhs), moved_total(delta.rhs)]
    rows = (
        _total("FLOPs", lhs[Quantity.FLOPS], rhs[Quantity.FLOPS], _flops),
        _total("bytes moved", moved[0], moved[1], bytes_text),
        _total(
            "transcendentals",
            lhs[Quantity.TRANSCENDENTALS],
            rhs[Quantity.TRANSCENDENTALS],
            count_text,
        ),
        _seconds(delta.lhs.seconds, delta.rhs.seconds),
    )
    return Table(
        columns=("a step, loops as often as they run", ">lhs", ">rhs", ">delta", ">"),
        rows=rows,
        tones=(Tone.PLAIN,) * len(rows),
    )


def _total(
    name: str, lhs: Total, rhs: Total, text: Callable[[float], str]
) -> tuple[str, str, str, str, str]:
    change = rhs.known - lhs.known
    return (
        name,
        least_text(lhs, text(lhs.known)),
        least_text(rhs, text(rhs.known)),
        signed(text(change)),
        percent_text(change, lhs.known),
    )


def _flops(count: float) -> str:
    return count_text(count, "FLOP")


def _seconds(lhs: Total, rhs: Total) -> tuple[str, str, str, str, str]:
    if not (lhs.known or rhs.known) and not (lhs.is_exact and rhs.is_exact):
        return "time", "unknown", "unknown", "unknown", ""
    change = rhs.known - lhs.known
    return (
        "time, one after the other (estimate)",
        least_text(lhs, seconds_text(lhs.known)),
        least_text(rhs, seconds_text(rhs.known)),
        signed(seconds_text(change)),
        percent_text(change, lhs.known),
    )


def least_text(total: Total, text: str) -> str:
    """A sum that leaves something out is a lower bound and says so."""
    return text if total.is_exact else f">={text}"


def _sum(first: Total, second: Total) -> Total:
    return Total(first.known + second.known, first.unknown + second.unknown)


def _row(group: CostGroup) -> tuple[str, str, str, str]:
    entry = group.example
    times = entry.executions
    often = f" {times.value}x" if isinstance(times, Measured) and times.value > 1 else ""
    layers = f"in {group.kernels} places: " if group.kernels > 1 else ""
    what = f"{layers}{entry.name} {short(without_layout(entry.shape))}{often}"
    return (
        least_text(group.bytes, signed(bytes_text(group.bytes.known))),
        least_text(group.flops, signed(count_text(group.flops.known))),
        _time(group.seconds),
        _two_lines(what, entry.module_path, entry.source),
    )


def _time(total: Total) -> str:
    """A delta in seconds; without any chip's peaks there is nothing to estimate."""
    if not total.known and not total.is_exact:
        return "unknown"
    return least_text(total, signed(seconds_text(total.known)))


def _two_lines(what: str, path: str | None, source: str) -> str:
    where = " ".join(part for part in (path or "", source) if part)
    return f"{what}\n{where}" if where else what


def _collective(change: CollectiveChange) -> tuple[str, str]:
    item = change.item
    what = f"{', '.join(change.kinds)}: {item.kind} {item.shape} over {item.axes_text}"
    return _maybe(change.wire_bytes), _two_lines(what, item.module_path, item.source)


def _maybe(value: Maybe[int]) -> str:
    return signed(bytes_text(value.value)) if isinstance(value, Measured) else "unknown"


def _bytes(total: Total) -> str:
    return least_text(total, bytes_text(total.known))
