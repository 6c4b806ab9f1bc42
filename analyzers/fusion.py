"""Kernels that were split, merged, left alone or given work that another one does too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    CostDeltaEntry,
    Direction,
    Finding,
    Maybe,
    Measured,
    NodeKind,
    Ref,
    Remedy,
    Shape,
    Specificity,
    View,
    array,
    bytes_text,
    frame_of,
    listed,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusions(Analyzer):
    """The same operations are grouped into other kernels.

    What it sees: a kernel of one side whose operations stand in several kernels on the other;
    operations that need no kernel of their own and have one; costly operations that several kernels
    of one side work out, each again.

    Why it costs: what one kernel hands to the next goes through memory, where inside a kernel it
    stays in registers. Work that two kernels both do is done twice.

    What it does not see: whether a larger kernel would have been faster; what runs in which
    memory space.

    Example: a barrier, a reshape between tiled dimensions, or a second reader of a result in the
    middle of an elementwise chain, which keeps the compiler from fusing across it:

        y = jax.lax.optimization_barrier(jnp.exp(x))  # y is written to memory and read again

    Attributes:
      smallest: bytes moved in a step below which nothing is said.
    """

    smallest: int = 64 << 10

    name: ClassVar[str] = "fusion"
    codes: ClassVar[Mapping[str, str]] = {
        "FUS001": "one kernel's work is split over several",
        "FUS002": "kernels work out the same again",
        "FUS003": "operations that could be fused stand alone",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Splits of rhs, then of lhs, which rhs merges."""
        for view in views(comparison):
            splits = [s for s in _splits(view) if self._matters(view, s)]
            alone = [s for s in splits if s.alone]
            yield from _findings(view, "FUS003", alone)
            yield from _findings(view, "FUS001", [s for s in splits if not s.alone])
            yield from _repeated(view)

    def _matters(self, view: View, split: _Split) -> bool:
        moved = _moved(view, split)
        return view.grown(moved) and abs(moved) >= self.smallest


# says nothing of which kernel does what: free, or part of any kernel
_TRIVIAL = frozenset({
    "parameter", "constant", "bitcast", "broadcast", "iota", "tuple", "get-tuple-element",
    "reshape", "convert", "copy", "slice", "copy-start", "transpose",
})  # fmt: skip
# what costs so much that working it out twice counts
_COSTLY = frozenset({
    "dot", "convolution", "exponential", "tanh", "log", "logistic", "power", "divide", "rsqrt",
    "sqrt", "cosine", "sine", "erf", "reduce", "reduce-window", "sort", "gather",
    "exponential-minus-one",
})  # fmt: skip
# kernels of their own for a good reason
_WHOLE = frozenset({"dot", "convolution", "custom-call", "sort", "scatter", "gather"})


class _Split(NamedTuple):
    """A kernel of the other side, with the kernels of this side that hold what it does.

    Attributes:
      alone: whether operations that could be fused stand by themselves here.
    """

    whole: Ref
    parts: tuple[Ref, ...]
    alone: bool


def _splits(view: View) -> Iterator[_Split]:
    """Kernels of the other side whose operations several kernels of this side hold."""
    homes = {flow_node.ref: flow_node.kernel for flow_node in view.flow.nodes
             if flow_node.kind is NodeKind.OPERATION}  # fmt: skip
    there = view.there.flow
    partners = view.there.partners
    parts: dict[Ref, dict[Ref, None]] = {}
    for number, node in enumerate(there.nodes):
        if node.kind is NodeKind.OPERATION and there.opcode(number) not in _TRIVIAL:
            partner = partners.get(node.ref)
            if partner in homes:
                parts.setdefault(node.kernel, {})[homes[partner]] = None
    for whole, kernels in parts.items():
        if len(kernels) > 1:
            alone = any(_is_alone(view, ref) for ref in kernels)
            yield _Split(whole, tuple(kernels), alone)


def _is_alone(view: View, ref: Ref) -> bool:
    opcode = view.instruction(ref).opcode
    return opcode != "fusion" and opcode not in _WHOLE and not opcode.startswith("all-")


def _moved(view: View, split: _Split) -> int:
    """Bytes moved by the parts less those of the whole, rhs - lhs."""
    return sum(_bytes(e) for e in _entries(view, split))


def _entries(view: View, split: _Split) -> list[CostDeltaEntry]:
    entries = view.comparison.cost.entries
    return [entries[p] for p in _positions(view, split)]


def _positions(view: View, split: _Split) -> set[int]:
    return {*view.cost_of(split.parts), *view.there.cost_of([split.whole])}


def _bytes(entry: CostDeltaEntry) -> int:
    return _known(entry.bytes)


def _known(figure: Maybe[int]) -> int:
    return figure.value if isinstance(figure, Measured) else 0


def _findings(view: View, code: str, splits: list[_Split]) -> Iterator[Finding]:
    if not splits:
        return
    splits = sorted(splits, key=lambda s: (-abs(_moved(view, s)), s.whole))
    flow, worse = view.flow, view.direction is Direction.WORSE
    nodes = [n for s in splits for ref in s.parts for n in flow.at.get(ref, ())]
    positions = {p for s in splits for p in _positions(view, s)}
    moved = sum(_bytes(view.comparison.cost.entries[p]) for p in positions)
    names = [f"'{view.there.instruction(s.whole).name}'" for s in splits]
    yield Finding(
        code=code,
        title=_title(view, code, splits),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.SYMPTOM,
        direction=view.direction,
        entries=view.more_memory_of(nodes),
        cost_entries=tuple(sorted(positions)),
        evidence=(
            *(view.seen(f"the work of {name}",
                        _names(view, s.parts), "one kernel")
              for name, s in list(zip(names, splits, strict=True))[:3]),
            view.seen("bytes moved beyond the other side's", bytes_text(abs(moved))),
        ),
        unknown=("why the compiler groups it so",),
        remedies=_REMEDIES if worse else (),
        **view.where(frame_of(flow, n) for n in nodes),
    )  # fmt: skip


_REMEDIES = (
    Remedy("drop barriers and casts between the parts", "barriers"),
    Remedy("compile with the other side's XLA flags", "flags"),
)


def _made(shape: Shape) -> str:
    """What a kernel makes; the first of several arrays."""
    if shape.dtype != "tuple" or not shape.elements:
        return array(shape)
    return f"{array(shape.elements[0])} and {len(shape.elements) - 1} more"


def _names(view: View, kernels: Iterable[Ref]) -> str:
    return listed([f"'{view.instruction(ref).name}'" for ref in dict.fromkeys(kernels)])


def _title(view: View, code: str, splits: list[_Split]) -> str:
    worse = view.direction is Direction.WORSE
    first = splits[0]
    made = _made(view.there.instruction(first.whole).shape)
    more = f" (and {len(splits) - 1} more)" if splits[1:] else ""
    parts = len(first.parts)
    if code == "FUS003":
        alone = [view.instruction(r).opcode for r in first.parts if _is_alone(view, r)]
        names = listed(list(dict.fromkeys(alone)))
        if worse:
            stand = "stands" if len(set(alone)) == 1 else "stand"
            return f"{names} {stand} alone instead of in the kernel for {made}{more}"
        return f"{names} fused into the kernel for {made}{more}"
    if worse:
        return f"the kernel for {made} is split into {parts}{more}"
    return f"{parts} kernels are merged into one for {made}{more}"


def _copies(view: View) -> dict[int, list[int]]:
    """Costly values that are worked out several times, with the nodes that do."""
    flow = view.flow
    found: dict[int, dict[Ref, int]] = {}
    for number, node in enumerate(flow.nodes):
        if node.kind is NodeKind.OPERATION and flow.opcode(number) in _COSTLY and node.shape.dims:
            found.setdefault(flow.value_of[number], {}).setdefault(node.ref, number)
    return {value: [*kernels.values()] for value, kernels in found.items() if len(kernels) > 1}


def _repeated(view: View) -> Iterator[Finding]:
    flow = view.flow
    others = [nodes for nodes in _copies(view.there).values() if len(nodes) > 1]
    there = Counter(_kind(view.there, n) for nodes in others for n in nodes[1:])
    repeated = {view.there.flow.nodes[n].ref for nodes in others for n in nodes}
    extra, twice = [], _copies(view)
    for nodes in twice.values():
        for node in nodes[1:]:
            if view.partners.get(flow.nodes[node].ref) in repeated:
                continue
            there[_kind(view, node)] -= 1
            if there[_kind(view, node)] < 0:
                extra.append(node)
    positions = _exact(view, {flow.nodes[n].ref for n in extra})
    entries = view.comparison.cost.entries
    work = sum(_known(e.flops) + _known(e.transcendentals) for e in (entries[p] for p in positions))
    if not extra or not view.grown(work):
        return
    worse = view.direction is Direction.WORSE
    ranked = sorted(extra, key=lambda n: (-len(flow.nodes[n].shape.dims), n))
    names = listed(
        list(dict.fromkeys(f"{flow.opcode(n)} {array(flow.nodes[n].shape)}" for n in ranked))
    )
    yield Finding(
        code="FUS002",
        title=f"{len(extra)} operation{'s are' if extra[1:] else ' is'} "
        f"{'worked out again' if worse else 'no longer worked out twice'}: {names}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.SYMPTOM,
        direction=view.direction,
        cost_entries=positions,
        evidence=tuple(
            view.seen(f"kernels that work out {flow.opcode(n)} {array(flow.nodes[n].shape)}",
                      _names(view, (flow.nodes[m].kernel for m in twice[flow.value_of[n]])), "one")
            for n in ranked[:3]
        ),
        unknown=("whether reading the value back would have been slower",),
        remedies=_REMEDIES[1:] if worse else (),
        **view.where(frame_of(flow, n) for n in ranked),
    )  # fmt: skip


def _kind(view: View, node: int) -> tuple[str, str]:
    return view.flow.opcode(node), array(view.flow.nodes[node].shape)


def _exact(view: View, refs: set[Ref]) -> tuple[int, ...]:
    """Entries of the cost delta of these instructions alone, not of the kernels around them."""
    entries = view.comparison.cost.entries
    return tuple(p for p, e in enumerate(entries) if (c := view.cost(e)) and c.ref in refs)
