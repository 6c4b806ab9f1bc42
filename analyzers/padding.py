"""Memory that tiles fill up with nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    DeltaEntry,
    Direction,
    Evidence,
    Finding,
    LedgerEntry,
    Part,
    Remedy,
    Specificity,
    View,
    array,
    bytes_text,
    format_shape,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding(Analyzer):
    """An array takes more memory than its elements, because of its layout.

    What it sees: arrays of both sides whose bytes differ beyond what shape, type and sharding
    explain; arrays of one side alone of which more than half is padding.

    Why it costs: a TPU lays the two minor dimensions out in tiles of 8 (16, 32 for narrower types)
    by 128 elements, so that a minor dimension of 8 takes sixteen times its bytes, in memory and in
    every read and write.

    What it does not see: padding that both sides have alike; registers and the chip's own memory.

    Example: `float32[524288, 8]` with the 8 as minor dimension (`{1,0:T(8,128)}`) takes 256 MiB,
    and 16 MiB with the long dimension as the minor one (`{0,1:T(8,128)}`).

    Attributes:
      smallest: bytes of padding below which nothing is said.
      share: of an array of one side alone, the share that is padding from which it counts.
    """

    smallest: int = 64 << 10
    share: float = 0.5

    name: ClassVar[str] = "padding"
    codes: ClassVar[Mapping[str, str]] = {"PAD001": "a layout pads an array"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Arrays that are padded more on one side."""
        for view in views(comparison):
            found = {p: e for p, e in _entries(comparison) if self._is_padded(view, e)}
            if found:
                yield _finding(view, found)

    def _is_padded(self, view: View, entry: DeltaEntry) -> bool:
        held = view.held(entry)
        if held is None or held.shape is None or not view.grown(entry.size):
            return False
        other = view.there.held(entry)
        if other is not None and other.shape is not None:
            if len(other.shape.dims) != len(held.shape.dims):
                return False  # a stack against an array of its own
            part = dict(entry.parts).get(Part.LAYOUT, 0)
            # more of it than of anything else
            return (
                view.grown(part)
                and max(abs(part) * 2, self.smallest) >= abs(entry.size)
                and (abs(part) >= self.smallest)
            )
        return held.padding >= max(self.smallest, self.share * held.size)


def _entries(comparison: Comparison) -> Iterator[tuple[int, DeltaEntry]]:
    yield from enumerate(comparison.memory.entries if comparison.memory else ())


def _finding(view: View, found: Mapping[int, DeltaEntry]) -> Finding:
    ranked = sorted(found.values(), key=lambda e: -abs(e.size))
    held = [h for entry in ranked if (h := view.held(entry)) is not None]
    refs = {value.ref for h in held for value in h.members}
    readers = {view.flow.nodes[user].kernel for ref in refs
               for node in view.flow.at.get(ref, ()) for user in view.flow.users[node]}  # fmt: skip
    first = held[0]
    worse = view.direction is Direction.WORSE
    return Finding(
        code="PAD001",
        title=f"{_name(first)} is padded {_times(first)}{' on lhs' if not worse else ''} "
        f"by its layout {_layout(first)}" + (f" (and {len(held) - 1} more)" if held[1:] else ""),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=tuple(found),
        cost_entries=view.more_cost_of(refs | readers),
        evidence=tuple(_evidence(view, entry) for entry in ranked[:3]),
        path=first.path,
        unknown=("who asks for the layout: the program, or the compiler for the sake of a reader",),
        remedies=_REMEDIES if worse else (),
        **view.where(h.frame for h in held),
    )  # fmt: skip


_REMEDIES = (
    Remedy(
        "leave the layout to the compiler (jax.experimental.layout.Layout.AUTO)",
        "argument-shardings",
    ),
    Remedy("transpose or reshape so that the minor dimension is a multiple of 128"),
)


def _name(held: LedgerEntry) -> str:
    shape = array(held.shape) if held.shape else held.shape_text
    name = "/".join(held.state) if held.state else held.name
    return f"{shape} '{name}'"


def _times(held: LedgerEntry) -> str:
    if not held.unpadded:
        return f"by {bytes_text(held.padding)}"
    return f"{held.size / held.unpadded:.3g}x"


def _layout(held: LedgerEntry) -> str:
    text = format_shape(held.shape) if held.shape else ""
    return text[text.find("{") :] if "{" in text else "(default)"


def _evidence(view: View, entry: DeltaEntry) -> Evidence:
    here, there = view.held(entry), view.there.held(entry)
    texts = [
        f"{_layout(h)}, {bytes_text(h.size)} for {bytes_text(h.unpadded)}" if h else None
        for h in (here, there)
    ]
    name = _name(here) if here else ""
    return view.seen(f"layout of {name}", *texts)
