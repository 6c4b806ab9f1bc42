"""Edits of StableHLO modules with MLIR's bindings; runs in a child process."""
