"""Reads what a colleague sends: HLO text and protos, XLA dumps, XProf profiles, captures."""

from hloscope.sources.captures import from_capture
from hloscope.sources.files import open_file

__all__ = ["from_capture", "open_file"]
