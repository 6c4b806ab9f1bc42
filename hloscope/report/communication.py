"""What a communication ledger, or the delta of two, has to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum

from hloscope.model.communication import (
    Collective,
    CollectiveChange,
    CommunicationDelta,
    CommunicationLedger,
)
from hloscope.model.units import Maybe, Measured
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, percent_text, seconds_text, short, signed

_NO_PATH = "(no module path)"


class CommsBy(StrEnum):
    """What to sum collectives by."""

    AXIS = "axis"
    KIND = "kind"
    MODULE = "module"


_KEYS: dict[CommsBy, Callable[[Collective], str]] = {
    CommsBy.AXIS: lambda item: item.axes_text,
    CommsBy.KIND: lambda item: item.kind.value,
    CommsBy.MODULE: lambda item: item.module_path or _NO_PATH,
}


def communication_document(ledger: CommunicationLedger, by: CommsBy, top: int) -> Document:
    """One side: what is sent in one step, summed and one by one."""
    ranked = sorted(ledger.collectives, key=_size)
    return Document(
        headline=Note(text=f"{ledger.label}: what one device sends in one step"),
        lead=(Note(text=_mesh_text(ledger), tone=Tone.QUIET), *_notes(ledger)),
        sections=(
            Section(title=f"by {by}", blocks=(_sums(ledger, by),)),
            Section(title="collectives", blocks=tuple(_listing(ranked, top))),
        ),
    )


def communication_delta_document(delta: CommunicationDelta, by: CommsBy, top: int) -> Document:
    """Two sides: sums beside each other, and what became of each collective."""
    before, after = delta.lhs, delta.rhs
    return Document(
        headline=Note(text=f"{before.label} -> {after.label}: what one device sends in one step"),
        lead=(Note(text=_mesh_text(after), tone=Tone.QUIET), *_notes(before), *_notes(after)),
        sections=(
            Section(title=f"by {by}", blocks=(_both_sums(delta, by),)),
            Section(title="changes", blocks=tuple(_changes(delta, top))),
        ),
    )


def _mesh_text(ledger: CommunicationLedger) -> str:
    if ledger.mesh is None:
        return "mesh unknown: nothing names its axes"
    wide = [f"{name}={size}" for name, size in ledger.mesh.items() if size > 1]
    return f"mesh: {', '.join(wide) or 'one device'}"


def _notes(ledger: CommunicationLedger) -> Iterator[Note]:
    for reason, count in ledger.wire_bytes.unknown:
        yield Note(text=f"not counted: {count} x {reason}", tone=Tone.BAD)


def _size(item: Collective) -> tuple[int, str]:
    sent = item.wire_per_step
    return -sent.value if isinstance(sent, Measured) else 0, item.name


def sums(items: Iterable[Collective], by: CommsBy) -> dict[str, tuple[int, int, int]]:
    """Key to collectives, executions and bytes that one device sends, per step, as far as known."""
    found: dict[str, tuple[int, int, int]] = {}
    for item in items:
        key = _KEYS[by](item)
        number, runs, sent = found.get(key, (0, 0, 0))
        found[key] = (
            number + 1, runs + _known(item.executions), sent + _known(item.wire_per_step)
        )  # fmt: skip
    return dict(sorted(found.items(), key=lambda pair: (-pair[1][2], pair[0])))


def _known(figure: Maybe[int]) -> int:
    return figure.value if isinstance(figure, Measured) else 0


def _sums(ledger: CommunicationLedger, by: CommsBy) -> Table:
    found = sums(ledger.collectives, by)
    rows = [(k, str(n), str(runs), bytes_text(sent)) for k, (n, runs, sent) in found.items()]
    total = ledger.wire_bytes
    least = "" if total.is_exact else "at least "
    rows.append(
        (
            "total",
            str(len(ledger.collectives)),
            str(sum(runs for _, runs, _ in found.values())),
            f"{least}{bytes_text(total.known)}",
        )
    )
    return Table(
        columns=(by.value, ">collectives", ">times", ">sent"),
        rows=tuple(rows),
        tones=(Tone.PLAIN,) * len(rows),
    )


def _listing(ranked: Sequence[Collective], top: int) -> Iterator[Block]:
    if not ranked:
        yield Note(text="no device sends anything")
        return
    rows = tuple(
        (
            item.name,
            item.kind.value,
            short(item.shape),
            item.axes_text,
            _count(item.executions),
            _bytes(item.wire_per_step),
            _meanwhile(item),
        )
        for item in ranked[:top]
    )
    columns = ("collective", "kind", "result", "axes", ">times", ">sent", "meanwhile")
    yield Table(columns=columns, rows=rows, tones=(Tone.PLAIN,) * len(rows))
    if len(ranked) > top:
        yield Note(text=f"{len(ranked) - top} more (--top shows them)", tone=Tone.QUIET)


def _count(figure: Maybe[int]) -> str:
    return str(figure.value) if isinstance(figure, Measured) else "unknown"


def _bytes(figure: Maybe[int]) -> str:
    return bytes_text(figure.value) if isinstance(figure, Measured) else "unknown"


def _meanwhile(item: Collective) -> str:
    if not item.form.is_async:
        return "nothing (synchronous)" if item.form.value == "sync" else item.form.value
    if not isinstance(item.overlap, Measured):
        return item.overlap.reason
    overlap = item.overlap.value
    time = overlap.seconds
    spent = f", {seconds_text(time.value)}" if isinstance(time, Measured) and time.value else ""
    return f"{overlap.kernels} kernels{spent}" if overlap.kernels else "nothing"


def _both_sums(delta: CommunicationDelta, by: CommsBy) -> Table:
    before, after = sums(delta.lhs.collectives, by), sums(delta.rhs.collectives, by)
    keys = sorted({*before, *after}, key=lambda k: (-abs(_change(before, after, k)), k))
    rows = [_both_row(key, before.get(key), after.get(key)) for key in keys]
    rows.append(_total_row(delta))
    return Table(
        columns=(by.value, ">lhs", ">rhs", ">delta", ">"),
        rows=tuple(rows),
        tones=tuple(Tone.BAD if row[3].startswith("+") else Tone.PLAIN for row in rows),
    )


Sums = dict[str, tuple[int, int, int]]


def _change(before: Sums, after: Sums, key: str) -> int:
    return after.get(key, (0, 0, 0))[2] - before.get(key, (0, 0, 0))[2]


def _both_row(
    key: str, before: tuple[int, int, int] | None, after: tuple[int, int, int] | None
) -> tuple[str, ...]:
    one, other = (before or (0, 0, 0))[2], (after or (0, 0, 0))[2]
    change = signed(bytes_text(other - one))
    share = percent_text(other - one, one) if other != one else ""
    return key, bytes_text(one), bytes_text(other), change, share


def _total_row(delta: CommunicationDelta) -> tuple[str, ...]:
    one, other = delta.lhs.wire_bytes, delta.rhs.wire_bytes
    texts = [
        bytes_text(total.known) if total.is_exact else f"at least {bytes_text(total.known)}"
        for total in (one, other)
    ]
    change = other.known - one.known
    return "total", *texts, signed(bytes_text(change)), percent_text(change, one.known)


def _changes(delta: CommunicationDelta, top: int) -> Iterator[Block]:
    if not delta.changes:
        yield Note(text="the same collectives run on both sides", tone=Tone.GOOD)
        return
    rows = tuple(_change_row(change) for change in delta.changes[:top])
    yield Table(
        columns=("change", "kind", "axes", "lhs", "rhs", ">sent"),
        rows=rows,
        tones=tuple(Tone.BAD if row[-1].startswith("+") else Tone.PLAIN for row in rows),
    )
    if len(delta.changes) > top:
        rest = len(delta.changes) - top
        yield Note(text=f"{rest} more (--top shows them)", tone=Tone.QUIET)


def _change_row(change: CollectiveChange) -> tuple[str, ...]:
    sent = change.wire_bytes
    kinds = ", ".join(kind.value for kind in change.kinds)
    return (
        kinds,
        change.item.kind.value,
        change.item.axes_text,
        _side(change.lhs),
        _side(change.rhs),
        signed(bytes_text(sent.value)) if isinstance(sent, Measured) else "unknown",
    )


def _side(item: Collective | None) -> str:
    if item is None:
        return "-"
    return f"{_count(item.executions)} x {short(item.shape)}"
