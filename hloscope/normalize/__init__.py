"""Removing noise from a module, one named pass per kind of noise."""

from __future__ import annotations

from hloscope.model.canonical import CanonicalModule
from hloscope.normalize.canonicalize import NormalizeOptions, normalize
from hloscope.normalize.passes import PASS_NAMES, PASSES, Pass

__all__ = ["PASSES", "PASS_NAMES", "NormalizeOptions", "Pass", "fingerprint", "normalize"]


def fingerprint(canonical: CanonicalModule) -> str:
    """32 hex digits, equal exactly when two canonical modules are equal.

    The same in every process and on every machine; covers layouts and the schedule where the
    module was normalized strictly.
    """
    return canonical.fingerprint
