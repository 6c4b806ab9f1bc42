"""Many captures: planned as a product, run side by side, streamed to one table."""

from hloscope.sweep.planning import read_plan
from hloscope.sweep.results import Results
from hloscope.sweep.running import Settings, run_sweep

__all__ = ["Results", "Settings", "read_plan", "run_sweep"]
