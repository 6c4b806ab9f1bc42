"""Memory over the schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from hloscope.model.ledger import Category, MemoryLedger, TimelinePoint
from hloscope.model.units import Bytes, Maybe, Measured, Missing
from hloscope.report.figures.labels import Unit, bytes_unit, cut, side_names, space_name
from hloscope.report.figures.style import CLEAR, LHS, QUIET, RHS, SMALL, axes_of, empty, finish
from hloscope.report.numbers import bytes_text

_NAME_WIDTH = 36
_LABEL_SHARE = 42.0  # percent of the width that the longest label takes
_LABEL_STEP = 0.075  # of the axes' height
# where both sides are at the same place, the first drawn stays visible beside the second
_LINES = {LHS: 2.6, RHS: 1.1}
_DOTS = {LHS: 8, RHS: 4}
# the capacity is drawn where that leaves the lines at least this share of the height
_LEAST_HEIGHT = 0.4
_HEADROOM = 0.16  # of the lines' height, for each peak's label
NO_CAPACITY = Missing("no target is known")


class _Track(NamedTuple):
    """One side.

    Attributes:
      points: what is live, in schedule order.
      peak: the first highest of them.
      at: where that lies, in percent of the points.
    """

    ledger: MemoryLedger
    label: str
    colour: str
    points: tuple[TimelinePoint, ...]
    peak: TimelinePoint
    at: float


def memory_over_schedule(
    lhs: MemoryLedger,
    rhs: MemoryLedger | None = None,
    ax: Axes | None = None,
    *,
    labels: Sequence[str] = ("lhs", "rhs"),
    capacity: Maybe[Bytes] = NO_CAPACITY,
) -> Axes:
    """Bytes that live buffers hold while one step runs, with each side's peak marked.

    The schedules of two programs differ in length, so that both are drawn over their own share, in
    percent of their heap's events. A loop's body counts once. What fragmentation adds is in the
    legend: it is taken once, for the whole run.

    Args:
      lhs: a ledger, of the baseline where there are two.
      rhs: the candidate's, in the same memory space.
      ax: where to draw; a new figure otherwise.
      labels: what the sides are called.
      capacity: bytes that a program may use of the device.
    """
    ax = axes_of(ax)
    ledgers = [ledger for ledger in (lhs, rhs) if ledger is not None]
    names = side_names(labels[: len(ledgers)])
    sides = zip(ledgers, names, (LHS, RHS), strict=False)
    title = f"{space_name(lhs.space)} over one step"
    tracks = [_track(*side) for side in sides]
    if not any(track.peak.size for track in tracks):
        return empty(ax, title, "nothing is held")
    unit = bytes_unit(max(track.peak.size for track in tracks))
    for track in tracks:
        _draw(ax, track, unit)
    top = _limits(ax, tracks, unit, capacity)
    _mark_peaks(ax, tracks, unit, top)
    ax.set_xlabel("share of the schedule's allocations and frees, %")
    ax.set_ylabel(f"live, {unit.name}")
    ax.legend(loc="upper left", bbox_to_anchor=(0, -0.14), fontsize=SMALL, frameon=False)
    return finish(ax, title, grid="y")


def _track(ledger: MemoryLedger, label: str, colour: str) -> _Track:
    # without a heap, everything is held from the beginning to the end
    lasting = ledger.total - ledger.of(Category.FRAGMENTATION)
    points = ledger.timeline or (TimelinePoint("", "", lasting),)
    sizes = [point.size for point in points]
    highest = sizes.index(max(sizes))
    peak = points[highest]
    return _Track(ledger, label, colour, points, peak, _share(highest, len(sizes)))


def _share(event: int, events: int) -> float:
    return 100 * event / max(events - 1, 1)


def _draw(ax: Axes, track: _Track, unit: Unit) -> None:
    count, last = len(track.points), track.points[-1]
    ax.step(
        [*(_share(event, count) for event in range(count)), 100],
        [point.size / unit.size for point in (*track.points, last)],
        where="post",
        color=track.colour,
        linewidth=_LINES[track.colour],
        label=_legend(track),
    )


def _legend(track: _Track) -> str:
    held = f"{bytes_text(track.ledger.total)} held"
    lost = track.ledger.of(Category.FRAGMENTATION)
    moment = "at the peak" if track.ledger.at_peak else f"at {track.ledger.instant.instruction}"
    rest = f", {bytes_text(lost)} of it fragmentation" if lost > 0 else ""
    return f"{track.label}: {held} {moment}{rest}"


def _limits(ax: Axes, tracks: Sequence[_Track], unit: Unit, capacity: Maybe[Bytes]) -> float:
    """Sets both axes' ranges and draws the capacity; gives the height of the highest line."""
    sizes = [p.size / unit.size for track in tracks for p in track.points]
    low, high = min(sizes), max(sizes)
    span = (high - low) or abs(high) or 1.0
    # bars would have to begin at 0; lines say what changes, and arguments can dwarf that
    ax.set_xlim(-1, 101)
    top = high + span * (0.08 + _HEADROOM * len(tracks))
    match capacity:
        case Measured(limit):
            line = limit / unit.size
            text = f"the device has {bytes_text(limit)}"
            if line <= low + span / _LEAST_HEIGHT:
                top = max(top, line + 0.04 * span)
            else:
                text += " (beyond this figure)"
            ax.axhline(line, color=QUIET, linestyle="--", linewidth=1.2, label=text)
    ax.set_ylim(low - 0.06 * span, top)
    ax.ticklabel_format(axis="y", style="plain", useOffset=False)
    return top - 0.02 * span


def _mark_peaks(ax: Axes, tracks: Sequence[_Track], unit: Unit, top: float) -> None:
    """A dot on each peak, with its label above all lines."""
    lefts = _on_the_left([track.at for track in tracks])
    # a label's line must not run through the label below: that one begins behind the line
    order = sorted(range(len(tracks)), key=lambda i: (tracks[i].at * (-1 if lefts[i] else 1), i))
    for row, number in enumerate(order):
        _mark(ax, tracks[number], unit, top - row * _LABEL_STEP * (top - ax.get_ylim()[0]),
              left=lefts[number])  # fmt: skip


def _on_the_left(places: Sequence[float]) -> list[bool]:
    """Whether each label, of a line at `places` percent, is to the left of its line."""
    if max(places) <= 100 - _LABEL_SHARE:
        return [False] * len(places)
    if min(places) >= _LABEL_SHARE:
        return [True] * len(places)
    return [place >= _LABEL_SHARE for place in places]


def _mark(ax: Axes, track: _Track, unit: Unit, height: float, *, left: bool) -> None:
    size = track.peak.size / unit.size
    ax.plot(track.at, size, marker="o", markersize=_DOTS[track.colour], color=track.colour)
    ax.plot([track.at, track.at], [size, height], color=track.colour, linewidth=0.8)
    where = cut(track.peak.instruction, _NAME_WIDTH)
    when = f"at {where}" if where else "throughout"
    ax.annotate(
        f"peak {bytes_text(track.peak.size)} {when}",
        xy=(track.at, height),
        xytext=(-4 if left else 4, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontsize=SMALL,
        color=track.colour,
        bbox=CLEAR,
        zorder=5,
    )
