"""Units as types, with a value that may be unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NewType, TypeAlias, TypeVar

Bytes = NewType("Bytes", int)
Flops = NewType("Flops", int)
Seconds = NewType("Seconds", float)

T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True)
class Measured(Generic[T]):
    """A number that a compiler, a dump or a profile gave."""

    value: T


@dataclass(frozen=True, slots=True)
class Missing:
    """A number that nobody gave. Never zero, never summed; the reason is shown instead."""

    reason: str


Maybe: TypeAlias = Measured[T] | Missing
