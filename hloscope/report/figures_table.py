"""The totals of two sides beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from hloscope.model.capture import CostFigures, MemoryFigures
from hloscope.model.units import Bytes, Maybe, Measured, Missing
from hloscope.report.document import Note, Table, Tone
from hloscope.report.numbers import bytes_text, count_text, percent_text, signed

Number = TypeVar("Number", Bytes, float)

_MEMORY_ROWS = (
    ("arguments", "argument", 1),
    ("outputs", "output", 1),
    ("aliased", "alias", -1),
    ("temporaries", "temp", 1),
    ("generated code", "code", 1),
)


def memory_total(figures: MemoryFigures) -> tuple[Bytes, tuple[str, ...]]:
    """Bytes in use on one device, with the names of the parts that nobody gave.

    argument + output - alias + temp + code, of what is known.
    """
    total, missing = 0, []
    for name, field, sign in _MEMORY_ROWS:
        match getattr(figures, field):
            case Measured(count):
                total += sign * count
            case Missing():
                missing.append(name)
    return Bytes(total), tuple(missing)


def memory_table(lhs: MemoryFigures, rhs: MemoryFigures, capacity: Maybe[Bytes]) -> Table:
    """Each part of device memory on both sides, the total, and what the target leaves free."""
    rows = [_row(name, getattr(lhs, field), getattr(rhs, field)) for name, field, _ in _MEMORY_ROWS]
    left, right = Measured(memory_total(lhs)[0]), Measured(memory_total(rhs)[0])
    rows.append(_row("total", left, right))
    if isinstance(capacity, Measured):
        room = [Measured(Bytes(capacity.value - total.value)) for total in (left, right)]
        rows.append(_row(f"headroom of {bytes_text(capacity.value)}", room[0], room[1]))
    return Table(
        columns=("per device", ">lhs", ">rhs", ">delta", ">"),
        rows=tuple(rows),
        tones=tuple(_tone(row) for row in rows),
    )


def memory_notes(lhs: MemoryFigures, rhs: MemoryFigures) -> Iterator[Note]:
    """What the totals leave out, side by side with its reason."""
    for side, figures in (("lhs", lhs), ("rhs", rhs)):
        for name, field, _ in _MEMORY_ROWS:
            match getattr(figures, field):
                case Missing(reason):
                    yield Note(text=f"{side} {name} unknown: {reason}", tone=Tone.QUIET)
                case _:
                    pass


def cost_table(lhs: CostFigures, rhs: CostFigures) -> Table:
    """XLA's own cost analysis of both sides, a loop's body counted once."""
    rows = []
    for name, field, text in (
        ("FLOPs", "flops", count_text),
        ("bytes accessed", "bytes_accessed", bytes_text),
        ("transcendentals", "transcendentals", count_text),
    ):
        rows.append((name, *_compared(getattr(lhs, field), getattr(rhs, field), text)))
    return Table(
        columns=("XLA's analysis, loop bodies once", ">lhs", ">rhs", ">delta", ">"),
        rows=tuple(rows),
        tones=(Tone.PLAIN,) * len(rows),
    )


def _row(name: str, lhs: Maybe[Bytes], rhs: Maybe[Bytes]) -> tuple[str, str, str, str, str]:
    return (name, *_compared(lhs, rhs, bytes_text))


def _compared(
    lhs: Maybe[Number], rhs: Maybe[Number], text: Callable[[float], str]
) -> tuple[str, str, str, str]:
    match lhs, rhs:
        case Measured(left), Measured(right):
            change = right - left
            return text(left), text(right), signed(text(change)), percent_text(change, left)
    return _text(lhs, text), _text(rhs, text), "unknown", ""


def _text(value: Maybe[Number], text: Callable[[float], str]) -> str:
    return text(value.value) if isinstance(value, Measured) else "unknown"


def _tone(row: tuple[str, ...]) -> Tone:
    return Tone.QUIET if row[3] == "0 B" else Tone.PLAIN
