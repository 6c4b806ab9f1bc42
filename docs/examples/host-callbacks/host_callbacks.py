"""Calls from the program back into Python."""

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
    Remedy,
    Side,
    instructions,
    sides,
    source_frame,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCallbacks(Analyzer):
    """The step calls back into Python on one side alone.

    What it sees: custom calls whose target names a callback: `jax.debug.print`,
    `jax.pure_callback`, `jax.experimental.io_callback`.

    Why it costs: the device waits for the host in every step.

    What it does not see: how long the host takes.

    Example: a `jax.debug.print` that was left in the loss.
    """

    name: ClassVar[str] = "host callbacks"
    codes: ClassVar[Mapping[str, str]] = {"HOST001": "the step calls back into Python"}

    target: str = "callback"

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """At most one finding."""
        lhs, rhs = sides(comparison)
        before, after = self._count(lhs), self._count(rhs)
        if before == after:
            return
        more = after > before
        frames = [source_frame(s.module, i) for s in (rhs, lhs) for _, i in self._calls(s)]
        yield Finding(
            code="HOST001",
            title=f"rhs calls back into Python {after} times a step, lhs {before} times",
            confidence=Confidence.STRUCTURAL,
            direction=Direction.WORSE if more else Direction.BETTER,
            evidence=(Evidence("callbacks", str(before), str(after)),),
            rhs_frames=frames[0] if more else (),
            lhs_frames=() if more else frames[0],
            unknown=("how long the host takes",),
            remedies=(Remedy("remove the callback, or move it out of the step"),),
        )

    def _count(self, side: Side) -> int:
        return len(self._calls(side))

    def _calls(self, side: Side) -> list:
        return [
            (ref, instruction)
            for ref, instruction in instructions(side.module, "custom-call")
            if self.target in (instruction.attr("custom_call_target") or "")
        ]
