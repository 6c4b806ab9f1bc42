"""A program that the compiler refuses because it does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Maybe,
    Measured,
    OutOfMemory,
    Remedy,
    Source,
    Specificity,
    array,
    bytes_text,
    listed,
    sides,
)

_LARGEST = 5  # of what is held at peak


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfMemoryAtCompile(Analyzer):
    """One side does not fit into the device's memory, as its compiler says.

    What it sees: a capture whose compile ended with the compiler's refusal (RESOURCE_EXHAUSTED),
    where the other side's did not.

    Why it costs: the program cannot run.

    What it does not see: what made it grow, which the other findings say; programs that fit when
    compiled and run out of memory beside something else.

    Example: a batch of eight times the tokens needs 47 GiB of a device's 15.75 GiB; the largest
    arrays at peak say where to begin.
    """

    name: ClassVar[str] = "out of memory"
    codes: ClassVar[Mapping[str, str]] = {"OOM001": "one side does not fit into device memory"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding where exactly one side was refused."""
        lhs, rhs = (_refusal(source) for source in (comparison.lhs, comparison.rhs))
        if rhs is not None and lhs is None:
            yield _finding(comparison, rhs, Direction.WORSE)
        elif lhs is not None and rhs is None:
            yield _finding(comparison, lhs, Direction.BETTER)


def _refusal(source: Source) -> OutOfMemory | None:
    return source.capture.out_of_memory if source.capture else None


def _finding(comparison: Comparison, refusal: OutOfMemory, direction: Direction) -> Finding:
    worse = direction is Direction.WORSE
    amounts = f"{_text(refusal.needed)} needed, {_text(refusal.available)} available"
    return Finding(
        code="OOM001",
        title=f"rhs does not fit into device memory: {amounts}"
        if worse
        else f"rhs fits into device memory, lhs does not: {amounts}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.SYMPTOM,
        direction=direction,
        evidence=tuple(_evidence(comparison, refusal, worse=worse)),
        unknown=("what made it grow; the other findings say what differs",),
        remedies=(
            Remedy("shard, rematerialize, donate or shrink what is largest at peak", "barriers"),
        )
        if worse
        else (),
        first=True,
    )


def _text(figure: Maybe[int]) -> str:
    return bytes_text(figure.value) if isinstance(figure, Measured) else "an unknown amount"


def _evidence(comparison: Comparison, refusal: OutOfMemory, *, worse: bool) -> Iterator[Evidence]:
    if isinstance(refusal.needed, Measured) and isinstance(refusal.available, Measured):
        over = f"over by {bytes_text(refusal.needed.value - refusal.available.value)}"
        yield Evidence("device memory", *(("fits", over) if worse else (over, "fits")))
    largest = []
    for side in sides(comparison):
        entries = side.memory.entries if side.memory else ()
        held = sorted((e for e in entries if e.shape is not None), key=lambda e: (-e.size, e.name))
        shapes = [f"{array(e.shape)} {bytes_text(e.size)}" for e in held[:_LARGEST] if e.shape]
        largest.append(listed(shapes, _LARGEST) or None)
    if any(largest):
        yield Evidence("largest at peak", *largest)
