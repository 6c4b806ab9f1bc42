"""Bytes sent by mesh axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes

from hloscope.model.communication import CommunicationDelta, CommunicationLedger, Kind
from hloscope.model.units import Measured
from hloscope.report.figures.labels import bytes_unit, cut, side_names
from hloscope.report.figures.style import CLEAR, SERIES, SMALL, axes_of, empty, finish, rows_height
from hloscope.report.numbers import bytes_text, signed

_WIDTH = 40
_THICKNESS = 0.62
_Sent = dict[str, Counter[Kind]]


def communication_by_axis(
    communication: CommunicationDelta | CommunicationLedger, ax: Axes | None = None
) -> Axes:
    """Bytes that one device sends in one step over each mesh axis, by kind of collective.

    Args:
      communication: a ledger, or a difference, whose sides have a row each.
      ax: where to draw; a new figure otherwise.
    """
    ledgers = _ledgers(communication)
    sent = [_sent(ledger) for ledger in ledgers]
    axes = sorted({axis for side in sent for axis in side}, key=lambda a: (-_most(sent, a), a))
    ax = axes_of(ax, rows_height(len(axes) * len(ledgers)))
    title = _title(communication)
    if not axes:
        return empty(ax, title, "no collective whose bytes are known")
    rows = [(axis, side) for axis in axes for side in range(len(ledgers))]
    unit = bytes_unit(max(_most(sent, axis) for axis in axes))
    kinds = sorted({kind for side in sent for counts in side.values() for kind in counts})
    for kind, colour in zip(kinds, SERIES * len(kinds), strict=False):
        before = [_before(sent[side], axis, kinds, kind) / unit.size for axis, side in rows]
        widths = [sent[side].get(axis, Counter())[kind] / unit.size for axis, side in rows]
        ax.barh(_places(rows, len(ledgers)), widths, left=before, color=colour,
                height=_THICKNESS, label=str(kind))  # fmt: skip
    names = side_names([ledger.label for ledger in ledgers], _WIDTH)
    _name_rows(ax, rows, sent, unit.size, names)
    ax.set_xlabel(_axis(ledgers, names, unit.name))
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=SMALL, frameon=False)
    return finish(ax, title, grid="x")


def _ledgers(
    communication: CommunicationDelta | CommunicationLedger,
) -> tuple[CommunicationLedger, ...]:
    if isinstance(communication, CommunicationDelta):
        return communication.lhs, communication.rhs
    return (communication,)


def _sent(ledger: CommunicationLedger) -> _Sent:
    sent: _Sent = {}
    for item in ledger.collectives:
        match item.wire_per_step:
            case Measured(size) if size:
                sent.setdefault(item.axes_text, Counter())[item.kind] += size
    return sent


def _most(sent: Sequence[_Sent], axis: str) -> int:
    return max(side.get(axis, Counter()).total() for side in sent)


def _before(sent: _Sent, axis: str, kinds: Sequence[Kind], kind: Kind) -> int:
    """Bytes of the kinds that are stacked before `kind`."""
    counts = sent.get(axis, Counter())
    return sum(counts[earlier] for earlier in kinds[: kinds.index(kind)])


def _places(rows: Sequence[tuple[str, int]], sides: int) -> list[float]:
    """Rows of one axis close to each other, a gap before the next axis."""
    return [number + 0.35 * (number // sides) for number in range(len(rows))]


def _name_rows(
    ax: Axes,
    rows: Sequence[tuple[str, int]],
    sent: Sequence[_Sent],
    unit: float,
    names: Sequence[str],
) -> None:
    places = _places(rows, len(names))
    ax.set_yticks(places, [f"{axis}: {names[side]}" for axis, side in rows])
    ax.set_ylim(places[-1] + 0.6, -0.6)
    ends = [sent[side].get(axis, Counter()).total() for axis, side in rows]
    for place, end in zip(places, ends, strict=True):
        ax.annotate(
            bytes_text(end),
            xy=(end / unit, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            bbox=CLEAR,
        )
    ax.set_xlim(0, max(ends) / unit * 1.18)


def _title(communication: CommunicationDelta | CommunicationLedger) -> str:
    if isinstance(communication, CommunicationDelta):
        gap = communication.rhs.wire_bytes.known - communication.lhs.wire_bytes.known
        if not gap:
            return "one device sends as much in one step as before"
        return f"{signed(bytes_text(gap))} sent by one device in one step"
    return f"{bytes_text(communication.wire_bytes.known)} sent by one device in one step"


def _axis(ledgers: Sequence[CommunicationLedger], names: Sequence[str], unit: str) -> str:
    lines = [f"bytes sent over each mesh axis, {unit}"]
    for ledger, name in zip(ledgers, names, strict=True):
        count = sum(number for _, number in ledger.wire_bytes.unknown)
        if count:
            reason = cut(ledger.wire_bytes.unknown[0][0], _WIDTH)
            lines.append(f"{name}: {count} not counted; {reason}")
    return "\n".join(lines)
