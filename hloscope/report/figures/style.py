"""How every figure looks: colours, sizes, fresh axes."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's palette, which stays apart under every common colour blindness
# (https://jfly.uni-koeln.de/color/)
LHS = "#0072B2"
RHS = "#D55E00"
MORE = "#E69F00"
LESS = "#009E73"
QUIET = "#8C8C8C"
LINE = "#BFBFBF"
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")

# behind a text, so that lines end beside it
CLEAR = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}

SMALL = 8.0
NORMAL = 9.0
WIDTH = 9.5
_DPI = 130
_MARGIN = 1.5  # inches that titles and axis labels take
_ROW = 0.42  # inches of a row with two lines of text


class ShownFigure(Figure):
    """A figure that shows itself in a notebook, whether or not pyplot is loaded."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", metadata={"Software": None})
        return data.getvalue()


def axes_of(ax: Axes | None, height: float = 4.6) -> Axes:
    """The axes given, or new ones on a figure of their own, which no pyplot state knows of."""
    if ax is not None:
        return ax
    return ShownFigure(figsize=(WIDTH, height), dpi=_DPI, layout="constrained").add_subplot()


def rows_height(rows: int) -> float:
    """Inches that a figure with one bar in each row needs."""
    return _MARGIN + _ROW * max(rows, 2)


def finish(ax: Axes, title: str, *, grid: str) -> Axes:
    """Title, text sizes, frame, and a grid across the axis `grid`."""
    ax.set_title(title, loc="left", fontsize=NORMAL + 1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)
    ax.xaxis.label.set_fontsize(NORMAL)
    ax.yaxis.label.set_fontsize(NORMAL)
    ax.grid(axis="x" if grid == "x" else "y", color=LINE, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def empty(ax: Axes, title: str, text: str) -> Axes:
    """Axes that hold a sentence, because there is nothing to draw."""
    ax.set_title(title, loc="left", fontsize=NORMAL + 1)
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", fontsize=NORMAL, transform=ax.transAxes)
    return ax
