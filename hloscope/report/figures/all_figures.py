"""Every figure that a comparison has data for."""

from __future__ import annotations

import io
from collections.abc import Iterator

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hloscope.model.comparison import Comparison
from hloscope.model.units import Measured
from hloscope.report.figures.communication_axes import communication_by_axis
from hloscope.report.figures.cost_modules import cost_by_module
from hloscope.report.figures.memory_schedule import NO_CAPACITY, memory_over_schedule
from hloscope.report.figures.waterfall import memory_waterfall

FORMATS = ("png", "svg", "pdf")


def comparison_figures(comparison: Comparison) -> dict[str, Figure]:
    """Figures by name, of everything that is known of both sides."""
    figures = {}
    for name, ax in _axes(comparison):
        figure = ax.get_figure(root=True)
        assert figure is not None  # noqa: S101 - each is made on a figure of its own
        figures[name] = figure
    return figures


def _axes(comparison: Comparison) -> Iterator[tuple[str, Axes]]:
    labels = (comparison.lhs.label, comparison.rhs.label)
    memory = comparison.memory
    if memory is not None:
        capacity = comparison.target.chip.usable_memory if comparison.target else NO_CAPACITY
        yield (
            "memory_over_schedule",
            memory_over_schedule(memory.lhs, memory.rhs, labels=labels, capacity=capacity),
        )
        yield "memory_waterfall", memory_waterfall(memory, labels=labels)
    for quantity in ("bytes", "flops"):
        yield f"cost_{quantity}_by_module", cost_by_module(comparison.cost, quantity)
    if any(isinstance(item.wire_per_step, Measured)
           for side in (comparison.communication.lhs, comparison.communication.rhs)
           for item in side.collectives):  # fmt: skip
        yield "communication_by_axis", communication_by_axis(comparison.communication)


def figure_bytes(figure: Figure, file_format: str) -> bytes:
    """A figure as the content of a file of one of `FORMATS`; the same figure, the same bytes."""
    # without a date, and with ids that follow from the content
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "hloscope"}):
        figure.savefig(buffer, format=file_format, metadata=metadata)
    return buffer.getvalue()
