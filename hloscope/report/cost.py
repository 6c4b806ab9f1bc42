"""What a cost ledger, or the delta of two, has to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hloscope.attribute import By, CostGroup, group_delta, group_ledger
from hloscope.model.communication import CommunicationLedger
from hloscope.model.cost import CostDelta, CostLedger, Quantity, Reconciliation, Step, Total
from hloscope.model.units import Measured
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import (
    bytes_text,
    count_text,
    percent_text,
    seconds_text,
    short,
    signed,
)


def cost_document(ledger: CostLedger, sent: CommunicationLedger, by: By, top: int) -> Document:
    """One side: totals, how they follow from XLA's, and what costs most."""
    groups = group_ledger(ledger, by)
    return Document(
        headline=Note(text=f"{ledger.label}: one step on one device"),
        lead=tuple(_lead(ledger)),
        sections=(
            Section(title="totals", blocks=(_totals(ledger, sent), *_unknowns(ledger))),
            Section(title="against XLA's cost analysis", blocks=_xla(ledger.reconciliation)),
            Section(title=f"by {by}", blocks=tuple(_groups(groups, by, top))),
        ),
    )


def cost_delta_document(
    delta: CostDelta,
    sent: tuple[CommunicationLedger, CommunicationLedger],
    by: By,
    top: int,
) -> Document:
    """Two sides: totals beside each other, and what carries most of the difference."""
    groups = group_delta(delta, by)
    unknown = [
        *_side_unknowns("lhs", delta.lhs),
        *_side_unknowns("rhs", delta.rhs),
    ]
    return Document(
        headline=Note(text=f"{delta.lhs.label} -> {delta.rhs.label}: one step on one device"),
        lead=tuple(_lead(delta.rhs)),
        sections=(
            Section(title="totals", blocks=(_both_totals(delta, sent), *unknown)),
            Section(title=f"difference by {by}", blocks=tuple(_delta_groups(groups, by, top))),
        ),
    )


def _lead(ledger: CostLedger) -> Iterator[Note]:
    if ledger.target:
        basis = {time.basis.value for time in ledger.times.values()}
        kind = "measured where a profile has them, else " if "measured" in basis else ""
        yield Note(
            text=f"times: {kind}estimates from the published peaks of {ledger.target}; "
            "kernels one after the other",
            tone=Tone.QUIET,
        )
    for note in ledger.notes:
        yield Note(text=note, tone=Tone.QUIET)


def moved(ledger: CostLedger) -> Total:
    """Bytes read and written together."""
    read, written = (ledger.totals[q] for q in (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN))
    return Total(read.known + written.known, tuple(sorted({*read.unknown, *written.unknown})))


def _totals(ledger: CostLedger, sent: CommunicationLedger) -> Table:
    rows = tuple((name, _text(total, form)) for name, total, form in _quantities(ledger, sent))
    return Table(columns=("", ">per step"), rows=rows, tones=(Tone.PLAIN,) * len(rows))


def _quantities(ledger: CostLedger, sent: CommunicationLedger) -> Iterator[tuple[str, Total, str]]:
    yield "FLOPs", ledger.totals[Quantity.FLOPS], "count"
    yield "transcendentals", ledger.totals[Quantity.TRANSCENDENTALS], "count"
    yield "bytes read", ledger.totals[Quantity.BYTES_READ], "bytes"
    yield "bytes written", ledger.totals[Quantity.BYTES_WRITTEN], "bytes"
    yield "of these in device memory", ledger.totals[Quantity.DEVICE_BYTES], "bytes"
    yield "bytes sent", sent.wire_bytes, "bytes"
    yield "time", ledger.seconds, "seconds"


def _plain(value: float, form: str) -> str:
    if form == "bytes":
        return bytes_text(value)
    return seconds_text(value) if form == "seconds" else count_text(value)


def _text(total: Total, form: str) -> str:
    if total.is_exact:
        return _plain(total.known, form)
    return f"at least {_plain(total.known, form)}" if total.known else "unknown"


def _unknowns(ledger: CostLedger) -> Iterator[Note]:
    for reason, count in _reasons(ledger):
        yield Note(text=f"not counted: {count} x {reason}", tone=Tone.BAD)


def _side_unknowns(side: str, ledger: CostLedger) -> Iterator[Note]:
    for reason, count in _reasons(ledger):
        yield Note(text=f"{side}, not counted: {count} x {reason}", tone=Tone.BAD)


def _reasons(ledger: CostLedger) -> Sequence[tuple[str, int]]:
    """Why figures are missing, each reason with the most entries that any total lacks for it."""
    found: dict[str, int] = {}
    for total in (*ledger.totals.values(), *((ledger.seconds,) if ledger.target else ())):
        for reason, count in total.unknown:
            found[reason] = max(found.get(reason, 0), count)
    return sorted(found.items())


def _both_totals(delta: CostDelta, sent: tuple[CommunicationLedger, CommunicationLedger]) -> Table:
    rows = []
    left = _quantities(delta.lhs, sent[0])
    right = _quantities(delta.rhs, sent[1])
    for (name, before, form), (_, after, _) in zip(left, right, strict=True):
        change = after.known - before.known
        texts = _text(before, form), _text(after, form)
        known = "unknown" not in texts
        rows.append(
            (
                name,
                *texts,
                signed(_plain(change, form)) if known else "unknown",
                percent_text(change, before.known) if known and change else "",
            )
        )
    tones = tuple(Tone.BAD if row[3].startswith("+") else Tone.PLAIN for row in rows)
    return Table(columns=("per step", ">lhs", ">rhs", ">delta", ">"), rows=tuple(rows), tones=tones)


def _xla(found: Reconciliation) -> tuple[Block, ...]:
    rows = []
    if found.reported is not None:
        figures = (found.reported.flops, found.reported.bytes_accessed)
        texts = [
            _plain(f.value, form) if isinstance(f, Measured) else "unknown"
            for f, form in zip(figures, ("count", "bytes"), strict=True)
        ]
        rows.append((f"XLA's {found.reported.source}", *texts))
    rows.append(_step("XLA's rules, loop bodies once", found.body_once, "="))
    rows += [_step(step.rule, step, "+") for step in found.steps]
    rows.append(_step("total per step", found.total, "="))
    table = Table(
        columns=("", ">FLOPs", ">bytes"), rows=tuple(rows), tones=(Tone.PLAIN,) * len(rows)
    )
    return (table,)


def _step(name: str, step: Step, sign: str) -> tuple[str, ...]:
    texts = (count_text(step.flops), bytes_text(step.bytes))
    return (name, *(signed(t) if sign == "+" else t for t in texts))


def _groups(groups: Sequence[CostGroup], by: By, top: int) -> Iterator[Block]:
    rows = tuple(_group_row(group, by) for group in groups[:top])
    columns = (by.value, ">FLOPs", ">bytes", ">time", *_extra_columns(by))
    yield Table(columns=columns, rows=rows, tones=(Tone.PLAIN,) * len(rows))
    yield from _rest(groups, top)


def _extra_columns(by: By) -> tuple[str, ...]:
    return (">times", "what") if by is By.INSTRUCTION else (">entries",)


def _group_row(group: CostGroup, by: By, *, delta: bool = False) -> tuple[str, ...]:
    figures = [
        _text(group.flops, "count"),
        _text(group.bytes, "bytes"),
        _text(group.seconds, "seconds"),
    ]
    if delta:
        totals = (group.flops, group.bytes, group.seconds)
        figures = [
            signed(text) if total.known else text
            for text, total in zip(figures, totals, strict=True)
        ]
    extra = (_times(group), _what(group)) if by is By.INSTRUCTION else (str(group.entries),)
    return (group.key, *figures, *extra)


def _times(group: CostGroup) -> str:
    runs = group.example.executions
    return str(runs.value) if isinstance(runs, Measured) else "unknown"


def _what(group: CostGroup) -> str:
    entry = group.example
    target = f" {entry.target}" if entry.target else ""
    where = entry.module_path or entry.source
    return f"{entry.opcode}{target} {short(entry.shape)}" + (f" at {where}" if where else "")


def _delta_groups(groups: Sequence[CostGroup], by: By, top: int) -> Iterator[Block]:
    if not groups:
        yield Note(text="no instruction differs in cost", tone=Tone.GOOD)
        return
    shown = groups[:top]
    rows = tuple(_group_row(group, by, delta=True) for group in shown)
    columns = (by.value, ">FLOPs", ">bytes", ">time", *_extra_columns(by))
    tones = tuple(Tone.BAD if group.bytes.known > 0 else Tone.PLAIN for group in shown)
    yield Table(columns=columns, rows=rows, tones=tones)
    yield from _rest(groups, top)


def _rest(groups: Sequence[CostGroup], top: int) -> Iterator[Note]:
    rest = groups[top:]
    if rest:
        amount = bytes_text(sum(group.bytes.known for group in rest))
        yield Note(text=f"{len(rest)} more, together {amount} (--top shows them)", tone=Tone.QUIET)
