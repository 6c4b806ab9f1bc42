"""Horizontal bars with a text at each end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from hloscope.report.figures.style import CLEAR, SMALL

_THICKNESS = 0.62
_CHARACTER = 0.0105  # of the axes' width, of a text's character on a figure of its own
_GAP = 0.02
_MOST_TEXT = 0.4  # of the axes' width, on each side


class Bar(NamedTuple):
    """One row: a bar from `start` over `length`, both in the axis' unit."""

    label: str
    start: float
    length: float
    text: str
    colour: str

    @property
    def end(self) -> float:
        """Where the bar ends."""
        return self.start + self.length


def draw_bars(ax: Axes, bars: Sequence[Bar]) -> None:
    """Draws rows from top to bottom, with room for the texts at their ends."""
    rows = range(len(bars))
    ax.barh(
        list(rows),
        [bar.length for bar in bars],
        left=[bar.start for bar in bars],
        color=[bar.colour for bar in bars],
        height=_THICKNESS,
    )
    ax.set_yticks(list(rows), [bar.label for bar in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.axvline(0, color="black", linewidth=0.8)
    for row, bar in enumerate(bars):
        # a bar to the left has its text on the left, where no other bar of its row can be
        left = bar.length < 0
        ax.annotate(
            bar.text,
            xy=(bar.end, row),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=SMALL,
            bbox=CLEAR,
        )
        if not bar.length:
            ax.plot(bar.end, row, marker="|", markersize=14, markeredgewidth=3, color=bar.colour)
    _room(ax, bars)


def _room(ax: Axes, bars: Sequence[Bar]) -> None:
    """Sets the range: the bars' own, and what their texts take on either side."""
    ends = [0.0, *(x for bar in bars for x in (bar.start, bar.end))]
    low, high = min(ends), max(ends)
    left = _share(bar.text for bar in bars if bar.length < 0)
    right = _share(bar.text for bar in bars if bar.length >= 0)
    whole = ((high - low) or 1.0) / (1 - left - right)
    ax.set_xlim(low - whole * left, high + whole * right)
    ax.ticklabel_format(axis="x", style="plain", useOffset=False)


def _share(texts: Iterable[str]) -> float:
    """The share of the axes' width that the longest text takes."""
    longest = max((len(text) for text in texts), default=0)
    return min(_GAP + _CHARACTER * longest, _MOST_TEXT)
