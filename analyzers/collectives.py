"""What devices send each other on one side alone, more of it, or with nothing to hide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    ChangeKind,
    Collective,
    CollectiveChange,
    Comparison,
    Confidence,
    Direction,
    Finding,
    Measured,
    Ref,
    Remedy,
    Specificity,
    View,
    bytes_text,
    frame_of,
    input_changes,
    listed,
    unrolled,
    views,
)

# bits of what a reduction adds up, to tell a wider type from a narrower one
_BITS = {"f64": 64, "f32": 32, "s32": 32, "u32": 32, "bf16": 16, "f16": 16, "s8": 8, "u8": 8}

Found = Mapping[int, CollectiveChange]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collectives(Analyzer):
    """A collective is new, repeated, larger, wider, or no longer runs beside other work.

    What it sees: collectives of the optimized modules that one side alone has, or has more often;
    two that send the same value; the same one over more devices, in a wider type, or with nothing
    between its start and its end.

    Why it costs: what is sent takes time that grows with the bytes and with the devices in a group;
    unless other work runs meanwhile, everything waits for it.

    What it does not see: which of the program's shardings asks for a collective (see the sharding
    findings); how fast the links really are.

    Example: gradients that are summed over devices in float32 where bfloat16 was meant, because a
    product was asked for in float32 (`preferred_element_type`) before the sum.
    """

    name: ClassVar[str] = "collectives"
    codes: ClassVar[Mapping[str, str]] = {
        "COLL001": "a collective that one side alone has, or runs more often",
        "COLL002": "a collective that sends again what another one sends",
        "COLL003": "a collective that no longer runs beside other work",
        "COLL004": "a collective over more devices",
        "COLL005": "a collective in a wider type",
        "COLL006": "a collective that sends more at once",
        "COLL007": "a collective that every turn of a loop runs, and the other side once",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Collectives that changed, by what became of them."""
        # layers that are unrolled repeat nothing, and left no loop
        looped = unrolled(comparison) is None
        for view in views(comparison):
            changes = dict(enumerate(comparison.communication.changes))
            repeated = {p: c for p, c in changes.items() if looped and _is_repeated(view, c)}
            yield from _findings(view, "COLL002", repeated)
            rest = {p: c for p, c in changes.items() if p not in repeated}
            yield from _findings(view, "COLL001", {p: c for p, c in rest.items() if _new(view, c)})
            for code, is_so in _CHANGES.items():
                if looped or code != "COLL007":
                    found = {p: c for p, c in rest.items() if is_so(view, c)}
                    yield from _findings(view, code, found)


_TITLES = {
    "COLL001": ("{n} more: {what}", "{n} fewer: {what}"),
    "COLL002": ("{what} sends again what another one sends", "{what} is no longer repeated"),
    "COLL003": ("nothing runs beside {what} any more", "other work now runs beside {what}"),
    "COLL004": ("{what} over {here} devices instead of {there}",
                "{what} over {there} devices instead of {here}"),
    "COLL005": ("{what} in {here} instead of {there}", "{what} in {there} instead of {here}"),
    "COLL006": ("{what} sends more: {here} instead of {there}",
                "{what} sends less: {there} instead of {here}"),
    "COLL007": ("{what} in every turn of a loop, on lhs once",
                "{what} once, on lhs in every turn of a loop"),
}  # fmt: skip
_SPECIFICITY = {
    "COLL001": Specificity.SYMPTOM,
    "COLL006": Specificity.SYMPTOM,
    "COLL003": Specificity.MECHANISM,
}
_REMEDIES = {
    "COLL001": (Remedy("give values the shardings that the other side has", "constraints"),
                Remedy("shard arguments as the other side does", "argument-shardings")),
    "COLL002": (Remedy("gather or reduce the value once and use the result twice"),),
    "COLL003": (Remedy("compile with the other side's XLA flags", "flags"),),
    "COLL004": (Remedy("reduce over the axes that hold different values alone", "constraints"),),
    "COLL005": (Remedy("cast before the sum: a narrower type sends half", "dtypes"),),
    "COLL006": (Remedy("give values the shardings that the other side has", "constraints"),),
    "COLL007": (Remedy("move it behind the loop: reduce the sum, gather what no turn changes"),),
}  # fmt: skip


def _new(view: View, change: CollectiveChange) -> bool:
    if view.collective(change) is None:
        return False
    if view.there.collective(change) is None:
        return True
    if _every_turn(view, change):
        return False
    often = ChangeKind.MORE_OFTEN if view.name == "rhs" else ChangeKind.LESS_OFTEN
    return often in change.kinds


def _is_repeated(view: View, change: CollectiveChange) -> bool:
    """Whether another collective of this side sends the same value in the same way."""
    item = view.collective(change)
    if item is None or view.there.collective(change) is not None:
        return False
    ours = _sent(view, item)
    changes = view.comparison.communication.changes
    new = {c.ref for change in changes if not view.there.collective(change)
           and (c := view.collective(change)) is not None}  # fmt: skip
    others = (view.comparison.communication.rhs if view.name == "rhs"
              else view.comparison.communication.lhs).collectives  # fmt: skip
    # of several that are new the first one sends for the first time
    return any(
        o.ref != item.ref and (o.ref not in new or o.ref < item.ref)
        and (o.kind, o.axes_text) == (item.kind, item.axes_text)
        and o.loops == item.loops and ours and _sent(view, o) == ours
        for o in others
    )  # fmt: skip


def _sent(view: View, item: Collective) -> frozenset[int]:
    flow = view.flow
    nodes = flow.at.get(item.ref, ())
    return frozenset(flow.origin(o) for n in nodes[:1] for o in flow.nodes[n].operands)


def _both(view: View, change: CollectiveChange) -> tuple[Collective, Collective] | None:
    here, there = view.collective(change), view.there.collective(change)
    return (here, there) if here is not None and there is not None else None


def _waits(view: View, change: CollectiveChange) -> bool:
    both = _both(view, change)
    if both is None:
        return False
    if both[1].form.is_async and not both[0].form.is_async:
        return True
    hidden = [
        item.overlap.value.kernels if isinstance(item.overlap, Measured) else None for item in both
    ]
    return hidden[0] == 0 and bool(hidden[1])


def _larger(view: View, change: CollectiveChange) -> bool:
    both = _both(view, change)
    if both is None:
        return False
    here, there = (item.group_size for item in both)
    return isinstance(here, Measured) and isinstance(there, Measured) and here.value > there.value


def _wider(view: View, change: CollectiveChange) -> bool:
    both = _both(view, change)
    return both is not None and _width(both[0]) > _width(both[1])


def _more(view: View, change: CollectiveChange) -> bool:
    """Whether it sends more per execution, for no other reason that is told."""
    both = _both(view, change)
    if both is None or _wider(view, change) or _larger(view, change):
        return False
    if input_changes(view.comparison, "shape"):
        return False  # programs of other sizes send other sizes
    here, there = (item.wire_bytes for item in both)
    same = both[0].dtype == both[1].dtype and len(both[0].loops) == len(both[1].loops)
    if not same or not isinstance(here, Measured) or not isinstance(there, Measured):
        return False
    return here.value > there.value


def _every_turn(view: View, change: CollectiveChange) -> bool:
    """Whether a loop is around it here alone, and each turn sends as much as the other side."""
    both = _both(view, change)
    return (
        both is not None
        and len(both[0].loops) > len(both[1].loops)
        and both[0].elements >= both[1].elements
    )


_CHANGES = {
    "COLL003": _waits, "COLL004": _larger, "COLL005": _wider, "COLL006": _more,
    "COLL007": _every_turn,
}  # fmt: skip


def _width(item: Collective) -> int:
    return max((_BITS.get(dtype, 0) for dtype in item.dtype.split("/")), default=0)


def _findings(view: View, code: str, found: Found) -> Iterator[Finding]:
    if found:
        yield _finding(view, code, found)


def _finding(view: View, code: str, found: Found) -> Finding:
    items = [item for c in found.values() if (item := view.collective(c)) is not None]
    worse = view.direction is Direction.WORSE
    refs = [item.ref for item in items]
    flow = view.flow
    nodes = [node for ref in refs for node in flow.at.get(ref, ())]
    return Finding(
        code=code,
        title=_title(view, code, found, items),
        confidence=Confidence.STRUCTURAL,
        specificity=_SPECIFICITY.get(code, Specificity.CAUSE),
        direction=view.direction,
        entries=view.more_memory_of(nodes),
        cost_entries=view.cost_of([*refs, *_around(view, code, nodes)]),
        communication_entries=tuple(found),
        evidence=tuple(view.seen(item.kind, _text(item), _text(view.there.collective(change)))
                       for change, item in list(zip(found.values(), items, strict=True))[:4]),
        path=tuple((items[0].module_path or "").split("/")) if items[0].module_path else (),
        unknown=("which sharding asks for it",) if code == "COLL001" else (),
        remedies=_REMEDIES[code] if worse else (),
        **view.where(frame_of(flow, node) for node in nodes),
    )  # fmt: skip


def _around(view: View, code: str, nodes: Iterable[int]) -> Iterator[Ref]:
    """Kernels that make or read what is sent: they are as wide as it is."""
    if code == "COLL005":
        for node in nodes:
            yield from (view.flow.nodes[o].kernel for o in view.flow.nodes[node].operands)
            yield from (view.flow.nodes[u].kernel for u in view.flow.users[node])


def _title(view: View, code: str, found: Found, items: list[Collective]) -> str:
    names = (f"{i.kind} {_made(i)} over {i.axes_text}" for i in items)
    what = listed(list(dict.fromkeys(names)), 2)
    change = next(iter(found.values()))
    both = _both(view, change) or (items[0], items[0])
    if code in ("COLL005", "COLL006"):
        what = listed(list(dict.fromkeys(f"{i.kind} over {i.axes_text}" for i in items)), 2)
    values = [_value(code, item) for item in both]
    worse, better = _TITLES[code]
    text = worse if view.direction is Direction.WORSE else better
    number = f"{len(items)} collective{'s' if items[1:] else ''}"
    return text.format(n=number, what=what, here=values[0], there=values[1])


def _value(code: str, item: Collective) -> str:
    if code == "COLL005":
        return item.dtype
    if code == "COLL006":
        return _made(item)
    return str(item.group_size.value) if isinstance(item.group_size, Measured) else "unknown"


def _made(item: Collective) -> str:
    """What comes out; of several arrays their number, which the compiler combined."""
    if not item.shape.startswith("("):
        return item.shape
    return f"of {item.shape.count('[')} arrays in {item.dtype}"


def _text(item: Collective | None) -> str | None:
    if item is None:
        return None
    sent = item.wire_per_step
    size = bytes_text(sent.value) if isinstance(sent, Measured) else "unknown bytes"
    loops = f" in {'/'.join(item.loops)}" if item.loops else ""
    return f"{item.shape} over {item.axes_text}{loops}, {size} sent in a step, {item.form}"
