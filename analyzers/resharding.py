"""Exchanges that bring an array from one sharding to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Collective,
    CollectiveChange,
    Comparison,
    Confidence,
    Direction,
    Finding,
    Kind,
    NodeKind,
    Remedy,
    Source,
    Specificity,
    StackFrame,
    View,
    constraints,
    frame_of,
    listed,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resharding(Analyzer):
    """An array is brought from one sharding to another in the middle of the program.

    What it sees: all-to-alls and permutes that one side alone has; all-gathers whose result a
    device cuts down to a part again; the partitioner's own warning that it had to replicate an
    array to go from one sharding to another.

    Why it costs: every device sends most of its part; where the partitioner knows no exchange for
    the two shardings it gathers all of the array on every device first, which takes its whole size.

    What it does not see: which of the two shardings is the unwanted one.

    Example: activations that are cut along the batch before a layer and along the features in it:

        h = jax.lax.with_sharding_constraint(h, P(None, "x"))  # was P("x", None)
    """

    name: ClassVar[str] = "resharding"
    codes: ClassVar[Mapping[str, str]] = {
        "SHARD006": "an exchange between two shardings of one array",
        "SHARD007": "an array replicated to get from one sharding to another",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Exchanges of one side alone; full rematerializations first."""
        for view in views(comparison):
            new = {
                position: change
                for position, change in enumerate(comparison.communication.changes)
                if view.collective(change) and not view.there.collective(change)
            }
            warnings = _warned(view.source) - _warned(view.there.source)
            cut = {p: c for p, c in new.items() if _is_cut(view, view.collective(c))}
            moved = {p: c for p, c in new.items() if _moves(view.collective(c))}
            if warnings or cut:
                yield _finding(view, "SHARD007", cut or _gathers(view, new), sorted(warnings))
            if moved:
                yield _finding(view, "SHARD006", moved, [])


_WARNING = "nvoluntary full rematerialization"
# what cuts a device's part out of a gathered array
_CUTS = frozenset({"dynamic-slice", "slice"})
_FORM = frozenset({"copy", "bitcast", "reshape", "transpose", "convert"})


def _warned(source: Source) -> frozenset[str]:
    said = source.capture.provenance.warnings if source.capture else ()
    return frozenset(text for text in said if _WARNING in text)


def _moves(item: Collective | None) -> bool:
    return item is not None and item.kind in (Kind.ALL_TO_ALL, Kind.PERMUTE, Kind.RAGGED_ALL_TO_ALL)


def _gathers(view: View, new: Mapping[int, CollectiveChange]) -> dict[int, CollectiveChange]:
    found = {p: (view.collective(c), c) for p, c in new.items()}
    return {p: c for p, (item, c) in found.items() if item and item.kind is Kind.ALL_GATHER}


def _is_cut(view: View, item: Collective | None) -> bool:
    """Whether all that reads a gathered array is a slice at the device's own place."""
    if item is None or item.kind is not Kind.ALL_GATHER:
        return False
    flow = view.flow
    waiting = [n for n in flow.at.get(item.ref, ()) if flow.nodes[n].kind is NodeKind.OPERATION]
    cut = False
    while waiting:
        for user in flow.users[waiting.pop()]:
            opcode = flow.opcode(user)
            if opcode in _FORM:
                waiting.append(user)
            elif opcode not in _CUTS or not _by_device(view, user):
                return False
            else:
                cut = True
    return cut


def _by_device(view: View, node: int) -> bool:
    """Whether where a slice begins depends on which device runs it."""
    flow = view.flow
    waiting, seen = [*flow.nodes[node].operands[1:]], set[int]()
    while waiting and len(seen) < 60:
        at = waiting.pop()
        if flow.opcode(at) in ("partition-id", "replica-id"):
            return True
        if at not in seen:
            seen.add(at)
            waiting += flow.nodes[at].operands
    return False


def _finding(
    view: View, code: str, found: Mapping[int, CollectiveChange], warnings: list[str]
) -> Finding:
    flow = view.flow
    items = [item for c in found.values() if (item := view.collective(c)) is not None]
    nodes = [node for item in items for node in flow.at.get(item.ref, ())]
    asked = _new_constraints(view)
    what = listed(list(dict.fromkeys(f"{i.kind} {i.shape} over {i.axes_text}" for i in items)), 2)
    return Finding(
        code=code,
        title=_title(code, what, len(items), view.direction),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE if code == "SHARD007" else Specificity.MECHANISM,
        direction=view.direction,
        entries=view.more_memory_of(nodes),
        cost_entries=view.cost_of(item.ref for item in items),
        communication_entries=tuple(found),
        evidence=(
            *(view.seen(item.kind, f"{item.shape} over {item.axes_text}") for item in items[:3]),
            *(view.seen("the partitioner said", text[:300]) for text in warnings[:2]),
            *(view.seen(f"constraint on {array}", spec) for array, spec, _ in asked[:3]),
        ),
        path=view.path_of(view.cost_of(item.ref for item in items)),
        unknown=("which of the two shardings is meant",),
        remedies=(Remedy("keep one sharding from the producer to the reader", "constraints"),)
        if view.direction is Direction.WORSE else (),
        **view.where([*(frame for _, _, frame in asked), *(frame_of(flow, n) for n in nodes)]),
    )  # fmt: skip


def _title(code: str, what: str, count: int, direction: Direction) -> str:
    worse = direction is Direction.WORSE
    if code == "SHARD007":
        how = "is replicated" if worse else "is no longer replicated"
        return f"an array {how} to get from one sharding to another" + (f": {what}" if what else "")
    number = "an exchange" if count == 1 else f"{count} exchanges"
    return f"{number} {'more' if worse else 'fewer'} to change shardings: {what}"


def _new_constraints(view: View) -> list[tuple[str, str, StackFrame | None]]:
    there = {(c.array, c.spec) for c in constraints(view.there.written)}
    return [
        (c.array, c.spec, frame_of(view.written, c.node))
        for c in constraints(view.written)
        if (c.array, c.spec) not in there
    ]
