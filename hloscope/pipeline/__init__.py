"""Composes the rooms: from what the user typed to what is known about it."""

from __future__ import annotations

from hloscope.pipeline.comparing import canonical_of, common_target, compare
from hloscope.pipeline.opening import OpenOptions, open_pair, open_source

__all__ = [
    "OpenOptions",
    "canonical_of",
    "common_target",
    "compare",
    "open_pair",
    "open_source",
]
