"""Figures of ledgers and their differences, drawn by matplotlib without pyplot's state."""

from hloscope.report.figures.all_figures import FORMATS, comparison_figures, figure_bytes
from hloscope.report.figures.communication_axes import communication_by_axis
from hloscope.report.figures.cost_modules import QUANTITIES, cost_by_module
from hloscope.report.figures.memory_schedule import memory_over_schedule
from hloscope.report.figures.waterfall import memory_waterfall

__all__ = [
    "FORMATS",
    "QUANTITIES",
    "communication_by_axis",
    "comparison_figures",
    "cost_by_module",
    "figure_bytes",
    "memory_over_schedule",
    "memory_waterfall",
]
