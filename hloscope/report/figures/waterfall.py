"""How the memory of lhs becomes that of rhs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from matplotlib.axes import Axes

from hloscope.attribute import MemoryBy, MemoryDeltaGroup, group_memory_delta
from hloscope.model.ledger import DeltaEntry, DeltaKind, LedgerDelta
from hloscope.report.figures.bars import Bar, draw_bars
from hloscope.report.figures.labels import (
    Unit,
    bytes_unit,
    cut,
    cut_path,
    shape_label,
    side_names,
    space_name,
)
from hloscope.report.figures.style import (
    LESS,
    LHS,
    LINE,
    MORE,
    QUIET,
    RHS,
    axes_of,
    empty,
    finish,
    rows_height,
)
from hloscope.report.numbers import bytes_text, signed

_WIDTH = 54  # characters of a line of a row's label
_NAME_WIDTH = 30  # of them for a buffer's name


def memory_waterfall(
    delta: LedgerDelta,
    top: int = 10,
    ax: Axes | None = None,
    *,
    labels: Sequence[str] = ("lhs", "rhs"),
) -> Axes:
    """From lhs, entry by entry, to rhs; the axis counts from lhs's total, so small gaps show.

    Equal buffers of equal layers are one row. The rows add up to the gap exactly.

    Args:
      delta: what differs.
      top: rows of their own; all others are one row together.
      ax: where to draw; a new figure otherwise.
      labels: what the sides are called.
    """
    groups = sorted(group_memory_delta(delta, MemoryBy.BUFFER), key=lambda g: (-abs(g.size), g.key))
    shown, others = groups[:top], groups[top:]
    ax = axes_of(ax, rows_height(len(shown) + bool(others) + 2))
    space = space_name(delta.lhs.space)
    if not groups:
        return empty(ax, _title(delta, space), "every buffer that lives at peak is on both sides")
    unit = bytes_unit(max(abs(reached) for reached in accumulate(group.size for group in groups)))
    names = side_names(labels)
    bars = list(_bars(delta, shown, others, unit, names))
    draw_bars(ax, bars)
    _connect(ax, bars)
    ax.set_xlabel(f"{space} at peak, {unit.name} more than {names[0]}")
    return finish(ax, _title(delta, space), grid="x")


def _title(delta: LedgerDelta, space: str) -> str:
    gap = signed(bytes_text(delta.total)) if delta.total else "no more and no less"
    parts = f"{len(delta.entries)} buffers and rests differ, {delta.unchanged} buffers do not"
    return f"{gap} of {space} at peak: {parts}"


def _bars(
    delta: LedgerDelta,
    shown: Sequence[MemoryDeltaGroup],
    others: Sequence[MemoryDeltaGroup],
    unit: Unit,
    names: Sequence[str],
) -> Iterator[Bar]:
    yield Bar(names[0], 0, 0, bytes_text(delta.lhs.total), LHS)
    reached = 0.0
    for group in shown:
        size = group.size / unit.size
        colour = MORE if size > 0 else LESS
        yield Bar(_label(group), reached, size, signed(bytes_text(group.size)), colour)
        reached += size
    if others:
        size = sum(group.size for group in others)
        text, count = signed(bytes_text(size)), sum(group.entries for group in others)
        yield Bar(f"{count} others together", reached, size / unit.size, text, QUIET)
    text = f"{bytes_text(delta.rhs.total)} ({signed(bytes_text(delta.total))})"
    yield Bar(names[1], 0, delta.total / unit.size, text, RHS)


def _label(group: MemoryDeltaGroup) -> str:
    """Why and what on one line, which and where on the next."""
    entry = group.example
    times = f" {group.entries}x" if group.entries > 1 else ""
    rest = entry.shown.value is None
    what = entry.shown.name if rest else _shapes(entry)
    first = cut(f"{_why(entry)}{times}: {what}", _WIDTH)
    return first if rest else f"{first}\n{_place(entry)}"


def _place(entry: DeltaEntry) -> str:
    """The buffer's name, its path, and its source line where that fits as well."""
    name = cut(entry.shown.name, _NAME_WIDTH)
    path = cut_path(entry.shown.state or entry.path, _WIDTH - len(name) - 2)
    line = "  ".join(filter(None, (name, path)))
    source = entry.shown.source.rpartition("/")[2]
    return f"{line}  {source}" if source and len(line) + len(source) + 2 <= _WIDTH else line


def _why(entry: DeltaEntry) -> str:
    if entry.kind is DeltaKind.RESIZED:
        parts = ", ".join(str(part) for part, size in entry.parts if size)
        return f"{'grown' if entry.size > 0 else 'shrunk'} ({parts})"
    if entry.kind is DeltaKind.LIFETIME:
        return f"at peak in {'rhs' if entry.rhs else 'lhs'} only"
    return str(entry.kind)


def _shapes(entry: DeltaEntry) -> str:
    lhs, rhs = (shape_label(side.shape) if side else "" for side in (entry.lhs, entry.rhs))
    return f"{lhs} → {rhs}" if lhs and rhs and lhs != rhs else rhs or lhs


def _connect(ax: Axes, bars: Sequence[Bar]) -> None:
    for row, bar in enumerate(bars[:-1]):
        ax.plot([bar.end, bar.end], [row, row + 1], color=LINE, linewidth=0.9, zorder=0.5)
