"""Whether two programs compute the same from equal weights, run on this machine's CPU."""

from __future__ import annotations

from hloscope.parity.asking import ParityOptions, compare_values

__all__ = ["ParityOptions", "compare_values"]
