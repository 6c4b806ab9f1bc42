"""From what differs to why: analyzers found, run, and their claims settled."""

from hloscope.explain.loading import Installed, installed
from hloscope.explain.running import explain

__all__ = ["Installed", "explain", "installed"]
