"""Pairing the instructions of two canonical modules."""

from __future__ import annotations

from hloscope.match.matching import match

__all__ = ["match"]
