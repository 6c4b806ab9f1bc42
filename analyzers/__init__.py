"""Analyzers that ship with hloscope: one file per cause, found by entry point."""
