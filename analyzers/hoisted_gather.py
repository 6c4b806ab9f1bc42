"""Collectives that run before a loop for all of its turns at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    CollectiveChange,
    Comparison,
    Confidence,
    Constraint,
    Direction,
    Finding,
    Remedy,
    Specificity,
    View,
    bytes_text,
    constraints,
    frame_of,
    listed,
    unrolled,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoistedGather(Analyzer):
    """Weights of all layers are gathered before the loop over layers.

    What it sees: a collective that stands outside a loop on one side and inside it on the other.

    Why it costs: a gather inside the loop needs room for one layer's weights; before the loop it
    needs room for those of all layers, for as long as the loop runs, and nothing of the loop can
    run beside it.

    What it does not see: whether the compiler moved it out of the loop or the program asks for it
    there; the constraints that it shows are those outside loops.

    Example: a sharding constraint on the stacked weights, where one on the slice of a turn is
    meant, gathers sixteen layers at once:

        weights = jax.lax.with_sharding_constraint(weights, P())  # before the scan
        x, _ = jax.lax.scan(layer, x, weights)
    """

    name: ClassVar[str] = "hoisted gather"
    codes: ClassVar[Mapping[str, str]] = {
        "SHARD005": "a collective for all turns of a loop runs before it",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Collectives that left a loop, or went into one."""
        if unrolled(comparison) is not None:
            return  # no loop on one side: nothing was moved out of it
        for view in views(comparison):
            found = {
                position: change
                for position, change in enumerate(comparison.communication.changes)
                if _is_outside(view, change)
            }
            if found:
                yield _finding(view, found)


def _is_outside(view: View, change: CollectiveChange) -> bool:
    here, there = view.collective(change), view.there.collective(change)
    if here is None or there is None or len(here.loops) >= len(there.loops):
        return False
    # what is as large in every turn was not cut into turns: the loop is around it
    return here.elements > there.elements


def _finding(view: View, found: Mapping[int, CollectiveChange]) -> Finding:
    flow = view.flow
    items = [item for c in found.values() if (item := view.collective(c)) is not None]
    others = [item for c in found.values() if (item := view.there.collective(c)) is not None]
    nodes = [node for item in items for node in flow.at.get(item.ref, ())]
    memory = view.comparison.memory
    entries = memory.entries if memory else ()
    held = tuple(p for p in view.memory_of(nodes) if view.grown(entries[p].size))
    worse = view.direction is Direction.WORSE
    what = listed([f"{item.kind} {item.shape}" for item in items])
    asked = _asked(view)
    readers = {flow.nodes[user].kernel for node in nodes for user in flow.users[node]}
    return Finding(
        code="SHARD005",
        title=f"{what} for all turns at once, before the loop"
        if worse
        else f"{what} no longer before the loop for all turns at once",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=held,
        cost_entries=tuple({
            *view.cost_of({item.ref for item in items} | readers),
            *view.there.cost_of(item.ref for item in others),
        }),
        communication_entries=tuple(found),
        evidence=(
            *(view.seen(f"{a.kind} over {a.axes_text}", f"{a.shape} outside the loop",
                        f"{b.shape} inside the loop")
              for a, b in list(zip(items, others, strict=True))[:3]),
            view.seen("held at peak", bytes_text(sum(abs(entries[p].size) for p in held)), None),
            *(view.seen(f"constraint outside loops on {c.array}", c.spec) for c in asked[:3]),
        ),
        path=tuple((items[0].module_path or "").split("/")) if items[0].module_path else (),
        unknown=() if asked else ("what moved it out of the loop",),
        remedies=_REMEDIES if worse else (),
        **view.where([*(frame_of(view.written, c.node) for c in asked),
                      *(frame_of(flow, node) for node in nodes)]),
    )  # fmt: skip


_REMEDIES = (
    Remedy("constrain the slice of a turn, inside the loop, instead of the stack", "constraints"),
    Remedy("an optimization barrier on the slice keeps its gather in the loop", "barriers"),
)


def _asked(view: View) -> list[Constraint]:
    """Constraints outside loops that the other side does not have."""
    there = {(c.array, c.spec) for c in constraints(view.there.written)
             if not view.there.written.nodes[c.node].loops}  # fmt: skip
    return [
        c
        for c in constraints(view.written)
        if not view.written.nodes[c.node].loops and (c.array, c.spec) not in there
    ]
