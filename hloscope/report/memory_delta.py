"""Which buffers a difference in memory is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hloscope.attribute import MemoryBy, MemoryDeltaGroup, group_memory_delta
from hloscope.model.ledger import DeltaEntry, DeltaKind, LedgerDelta
from hloscope.report.document import Block, Note, Table, Tone
from hloscope.report.numbers import bytes_text, short, signed, without_layout

FIRST = 10


def memory_delta_blocks(delta: LedgerDelta, *, everything: bool = False) -> Iterator[Block]:
    """The entries that carry most of the gap, and the share of it that they explain."""
    if not delta.entries:
        yield Note(text="every buffer that lives at peak is on both sides", tone=Tone.GOOD)
        return
    # rests such as fragmentation rank by their bytes too: hiding the largest would be dishonest
    groups = sorted(group_memory_delta(delta, MemoryBy.BUFFER), key=lambda g: (-abs(g.size), g.key))
    shown = groups if everything else groups[:FIRST]
    yield Note(text=_share(delta, shown))
    yield Table(
        columns=(">bytes", "why: buffer, where"),
        rows=tuple(_row(group) for group in shown),
        tones=(Tone.PLAIN,) * len(shown),
    )
    if len(groups) > len(shown):
        rest = sum(group.size for group in groups[len(shown) :])
        yield Note(
            text=f"... and {len(groups) - len(shown)} more, {signed(bytes_text(rest))} (--all)",
            tone=Tone.QUIET,
        )
    yield Note(
        text=f"unattributed: {bytes_text(delta.unattributed)}",
        tone=Tone.BAD if delta.unattributed else Tone.QUIET,
    )


def _share(delta: LedgerDelta, shown: Sequence[MemoryDeltaGroup]) -> str:
    explained = sum(group.size for group in shown)
    constants = delta.by_kind().get(DeltaKind.CONSTANTS, 0)
    apart = f", {constants:+,} of them constants, which XLA counts apart" if constants else ""
    text = f"at peak {signed(bytes_text(delta.total))} ({delta.total:+,} bytes{apart})"
    if not delta.total:
        return f"{text}: what was won and lost cancels out"
    if explained == delta.total:
        return f"{text}, all of it here:"
    return f"{text}; these are {signed(bytes_text(explained))} of it:"


def _row(group: MemoryDeltaGroup) -> tuple[str, str]:
    entry = group.example
    times = f"{group.entries}x " if group.entries > 1 else ""
    what = f"{times}{kind_text(entry)}: {buffer_text(entry)}"
    where = place_text(entry)
    return signed(bytes_text(group.size)), f"{what}\n{where}" if where else what


def kind_text(entry: DeltaEntry) -> str:
    """Why the entry differs: its kind, parts and note."""
    parts = [str(part) for part, size in entry.parts if size]
    reason = f"{entry.kind} ({', '.join(parts)})" if parts else str(entry.kind)
    return f"{reason}; {entry.note}" if entry.note else reason


def buffer_text(entry: DeltaEntry) -> str:
    """The buffer with its shape, or with both where they differ."""
    lhs, rhs = entry.lhs, entry.rhs
    if not (lhs and rhs) or lhs.shape_text == rhs.shape_text:
        return f"{entry.shown.name} {short(without_layout(entry.shown.shape_text))}".rstrip()
    before, after = (without_layout(side.shape_text) for side in (lhs, rhs))
    if before == after:  # the layout is all that differs
        before, after = lhs.shape_text, rhs.shape_text
    return f"{entry.shown.name} {short(before)} -> {short(after)}"


def place_text(entry: DeltaEntry) -> str:
    """Module or state path, and the source line."""
    path = "/".join(entry.shown.state or entry.path)
    return " ".join(part for part in (path, entry.shown.source) if part)
