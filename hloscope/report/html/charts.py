"""What the report's charts of memory show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hloscope.attribute import MemoryBy, group_memory_delta
from hloscope.model.comparison import Comparison
from hloscope.model.ledger import Category, LedgerDelta, MemoryLedger, TimelinePoint
from hloscope.model.units import Measured
from hloscope.report.memory_delta import buffer_text, kind_text, place_text
from hloscope.report.names import cut
from hloscope.report.numbers import bytes_text, signed

_STEPS = 14  # of the waterfall; all others are one together
_LABEL = 44  # characters
_POINTS = 3_000  # of one side's line: more than a wide screen has columns


def waterfall(delta: LedgerDelta) -> dict[str, Any]:
    """Entry by entry from lhs to rhs; the steps add up to the gap."""
    groups = sorted(group_memory_delta(delta, MemoryBy.BUFFER), key=lambda g: (-abs(g.size), g.key))
    steps = []
    for group in groups[:_STEPS]:
        times = f"{group.entries}x " if group.entries > 1 else ""
        text = f"{times}{kind_text(group.example)}: {buffer_text(group.example)}"
        steps.append(_step(text, place_text(group.example), group.size))
    rest = groups[_STEPS:]
    if rest:
        size = sum(group.size for group in rest)
        steps.append(_step(f"{sum(g.entries for g in rest)} others together", "", size))
    return {
        "lhs": delta.lhs.total,
        "rhs": delta.rhs.total,
        "lhsText": bytes_text(delta.lhs.total),
        "rhsText": bytes_text(delta.rhs.total),
        "gapText": signed(bytes_text(delta.total)),
        "steps": steps,
    }


def _step(text: str, place: str, size: int) -> dict[str, Any]:
    return {"label": cut(text, _LABEL), "text": text, "place": place, "bytes": size,
            "amount": signed(bytes_text(size))}  # fmt: skip


def timeline(comparison: Comparison, delta: LedgerDelta) -> dict[str, Any]:
    """Bytes held over both schedules, each over its own share of events."""
    target = comparison.target
    limit = target.chip.usable_memory if target is not None else None
    return {
        "sides": [_track(ledger) for ledger in (delta.lhs, delta.rhs)],
        "capacity": limit.value if isinstance(limit, Measured) else None,
        "capacityText": bytes_text(limit.value) if isinstance(limit, Measured) else "",
    }


def _track(ledger: MemoryLedger) -> dict[str, Any]:
    # without a heap, everything is held from the beginning to the end
    lasting = ledger.total - ledger.of(Category.FRAGMENTATION)
    points = ledger.timeline or (TimelinePoint("", "", lasting), TimelinePoint("", "", lasting))
    last = max(len(points) - 1, 1)
    kept = list(thinned(points))
    return {
        "share": [round(100 * number / last, 3) for number in kept],
        "bytes": [points[number].size for number in kept],
        "text": [bytes_text(points[number].size) for number in kept],
        "at": [points[number].instruction for number in kept],
        "events": len(points),
    }


def thinned(points: Sequence[TimelinePoint]) -> Iterator[int]:
    """Of each stretch the lowest and the highest point, so that no peak is lost."""
    size = -(-2 * len(points) // _POINTS)
    if size <= 2:
        yield from range(len(points))
        return
    for begin in range(0, len(points), size):
        stretch = range(begin, min(begin + size, len(points)))
        low = min(stretch, key=lambda number: points[number].size)
        high = max(stretch, key=lambda number: points[number].size)
        yield from sorted({low, high})
