"""Memory ledgers and their difference as documents."""

from __future__ import annotations

from hloscope.attribute import (
    SPACES,
    MemoryBy,
    MemoryDeltaGroup,
    MemoryGroup,
    group_memory,
    group_memory_delta,
)
from hloscope.model.ledger import (
    Category,
    DeltaEntry,
    DeltaKind,
    LedgerDelta,
    LedgerEntry,
    MemoryLedger,
    Shortfall,
)
from hloscope.model.units import Measured
from hloscope.report.document import Block, Document, Note, Section, Table, Tone
from hloscope.report.numbers import bytes_text, percent_text, signed

_ORDER = tuple(Category)
_WHAT_WIDTH = 56  # what fits beside two columns of figures on 80 columns


def memory_document(
    ledger: MemoryLedger, label: str, by: MemoryBy, top: int, short: Shortfall | None
) -> Document:
    """One side: totals by category, then the largest entries."""
    space = SPACES.get(ledger.space, f"memory space {ledger.space}")
    headline = f"{_short(label)} holds {bytes_text(ledger.total)} of {space} {_when(ledger)}"
    sections = [
        Section(title="by category", blocks=(_categories(ledger), *_notes(ledger))),
        Section(title=f"largest by {by}", blocks=_largest(ledger, by, top)),
    ]
    if short is not None:
        sections.insert(0, _shortfall(short))
    return Document(headline=Note(text=headline), lead=(), sections=tuple(sections))


def memory_delta_document(
    delta: LedgerDelta, labels: tuple[str, str], by: MemoryBy, top: int
) -> Document:
    """Two sides: totals by category, then what the difference is due to."""
    space = SPACES.get(delta.lhs.space, f"memory space {delta.lhs.space}")
    if delta.total:
        lhs, rhs = (_short(label) for label in labels)
        text = f"{rhs} holds {_amount(delta.total)} of {space} than {lhs}"
        tone = Tone.BAD if delta.total > 0 else Tone.GOOD
    else:
        text, tone = f"both hold {bytes_text(delta.rhs.total)} of {space}", Tone.PLAIN
    lead = (
        Note(text=f"lhs at {_where(delta.lhs)}; rhs at {_where(delta.rhs)}", tone=Tone.QUIET),
        Note(
            text=f"{len(delta.entries)} entries differ, {delta.unchanged} do not; "
            f"unattributed: {bytes_text(delta.unattributed)}",
            tone=Tone.QUIET,
        ),
    )
    sections = (
        Section(title="by category", blocks=(_two_categories(delta),)),
        Section(title="by cause", blocks=(_kinds(delta),)),
        Section(title=f"largest differences by {by}", blocks=_differences(delta, by, top)),
    )
    return Document(headline=Note(text=text, tone=tone), lead=lead, sections=sections)


def _short(label: str) -> str:
    """A file's name without its folders; a program's spec has none."""
    return label.rsplit("/", 1)[-1]


def _amount(total: int) -> str:
    return f"{bytes_text(abs(total))} {'more' if total > 0 else 'less'}"


def _when(ledger: MemoryLedger) -> str:
    return (
        f"at its peak, {_where(ledger)}" if ledger.at_peak else f"at {ledger.instant.instruction}"
    )


def _where(ledger: MemoryLedger) -> str:
    return ledger.instant.instruction or "any instant (nothing is allocated over time)"


def _categories(ledger: MemoryLedger) -> Table:
    rows, tones = [], []
    for category in _ORDER:
        size = ledger.of(category)
        count = sum(1 for e in ledger.entries if e.category is category)
        if not count and category is not Category.UNATTRIBUTED:
            continue
        padding = sum(e.padding for e in ledger.entries if e.category is category)
        rows.append((str(category), bytes_text(size), bytes_text(padding), str(count)))
        tones.append(Tone.PLAIN if size else Tone.QUIET)
    total = sum(e.padding for e in ledger.entries)
    rows.append(("total", bytes_text(ledger.total), bytes_text(total), str(len(ledger.entries))))
    return Table(
        columns=("category", ">bytes", ">of it padding", ">entries"),
        rows=tuple(rows),
        tones=(*tones, Tone.PLAIN),
    )


def _notes(ledger: MemoryLedger) -> tuple[Note, ...]:
    texts = list(ledger.notes)
    if ledger.space == 0 and not isinstance(ledger.figures.code, Measured):
        texts.append(f"code is not counted: {ledger.figures.code.reason}")
    if ledger.unplaced:
        texts.append(f"{ledger.unplaced} buffers have no module path")
    return tuple(Note(text=text, tone=Tone.QUIET) for text in texts)


def _largest(ledger: MemoryLedger, by: MemoryBy, top: int) -> tuple[Block, ...]:
    groups = group_memory(ledger, by)
    shown = groups[:top]
    rows = tuple(_group_row(group, by) for group in shown)
    table = Table(columns=(">bytes", ">count", "what"), rows=rows, tones=(Tone.PLAIN,) * len(rows))
    return (table, *_rest_note(len(groups) - len(shown), sum(g.size for g in groups[top:])))


def _rest_note(count: int, size: int) -> tuple[Note, ...]:
    if not count:
        return ()
    return (Note(text=f"{count} more, {bytes_text(size)} together (--top)", tone=Tone.QUIET),)


def _group_row(group: MemoryGroup, by: MemoryBy) -> tuple[str, str, str]:
    what = _what(group.example) if by is MemoryBy.BUFFER else group.key
    return (bytes_text(group.size), str(group.entries), what)


def _what(entry: LedgerEntry) -> str:
    """Two or three short lines: the buffer, where it belongs, its life."""
    if entry.value is None:
        return entry.name
    lines = [f"{entry.category} {_cut(entry.shape_text, _WHAT_WIDTH - len(entry.category) - 1)}"]
    place = "/".join(entry.state or entry.path)
    source = entry.source.rsplit("/", 1)[-1]
    lines.append(_cut("  ".join(filter(None, (entry.name, place, source))), _WHAT_WIDTH))
    life = f"{entry.first} .. {entry.last}" if entry.last else entry.first
    padding = f", {bytes_text(entry.padding)} of it padding" if entry.padding else ""
    lines.append(_cut(f"{life}{padding}", _WHAT_WIDTH))
    return "\n".join(lines)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _shortfall(short: Shortfall) -> Section:
    available = short.available.value if isinstance(short.available, Measured) else 0
    lines = [
        f"needs {bytes_text(short.needed)}, the device has {bytes_text(available)}: "
        f"{bytes_text(short.over)} must go",
        "largest first, until that is covered:",
    ]
    rows = tuple((bytes_text(e.size), _what(e)) for e in short.candidates)
    table = Table(columns=(">bytes", "what"), rows=rows, tones=(Tone.PLAIN,) * len(rows))
    notes = tuple(Note(text=line, tone=Tone.BAD) for line in lines)
    return Section(title="does not fit", blocks=(*notes, table))


def _two_categories(delta: LedgerDelta) -> Table:
    rows, tones = [], []
    for category in (*_ORDER, None):
        wanted = (category,) if category is not None else _ORDER
        before, after = delta.lhs.of(*wanted), delta.rhs.of(*wanted)
        if category is not None and not before and not after:
            continue
        change = after - before
        rows.append(
            (
                str(category or "total"),
                bytes_text(before),
                bytes_text(after),
                signed(bytes_text(change)),
                percent_text(change, before),
            )
        )
        tones.append(_tone(change))
    return Table(
        columns=("category", ">lhs", ">rhs", ">change", ">"), rows=tuple(rows), tones=tuple(tones)
    )


def _kinds(delta: LedgerDelta) -> Table:
    counts = {kind: sum(1 for e in delta.entries if e.kind is kind) for kind in DeltaKind}
    rows = [
        (str(kind), signed(bytes_text(size)), str(counts[kind]))
        for kind, size in delta.by_kind().items()
    ]
    rows.append(("total", signed(bytes_text(delta.total)), str(len(delta.entries))))
    tones = [_tone(size) for size in delta.by_kind().values()]
    return Table(
        columns=("cause", ">bytes", ">entries"), rows=tuple(rows), tones=(*tones, Tone.PLAIN)
    )


def _differences(delta: LedgerDelta, by: MemoryBy, top: int) -> tuple[Block, ...]:
    groups = group_memory_delta(delta, by)
    shown = groups[:top]
    rows = tuple(
        (signed(bytes_text(group.size)), str(group.entries), _difference(group, by))
        for group in shown
    )
    table = Table(
        columns=(">bytes", ">count", "what"),
        rows=rows,
        tones=tuple(_tone(group.size) for group in shown),
    )
    return (table, *_rest_note(len(groups) - len(shown), sum(g.size for g in groups[top:])))


def _difference(group: MemoryDeltaGroup, by: MemoryBy) -> str:
    if by is not MemoryBy.BUFFER:
        return group.key
    entry = group.example
    lines = [_cut(" ".join(filter(None, (str(entry.kind), _why(entry)))), _WHAT_WIDTH)]
    was = entry.lhs.shape_text if entry.lhs is not None and entry.rhs is not None else ""
    if was and was != entry.shown.shape_text:
        lines.append(_cut(f"was {was}", _WHAT_WIDTH))
    return "\n".join((*lines, _what(entry.shown)))


def _why(entry: DeltaEntry) -> str:
    parts = ", ".join(f"{part} {signed(bytes_text(size))}" for part, size in entry.parts)
    return f"({parts or entry.note})" if parts or entry.note else ""


def _tone(change: int) -> Tone:
    if not change:
        return Tone.QUIET
    return Tone.BAD if change > 0 else Tone.GOOD
