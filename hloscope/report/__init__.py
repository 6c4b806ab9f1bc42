"""Turns results into something to look at: a format-neutral document, then a rendering of it."""

from hloscope.report.document import Document, Note, Section, Table

__all__ = ["Document", "Note", "Section", "Table"]
