"""What the child process is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Fields as of `asking.ParityOptions`."""

    target: str
    tolerance: float | None
    seed: int
    bound: int
