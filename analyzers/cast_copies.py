"""Copies of arguments in another type, kept beside the arguments themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    ANNOTATED,
    Analyzer,
    Category,
    Comparison,
    Confidence,
    Direction,
    Finding,
    Instruction,
    NodeKind,
    Ref,
    Remedy,
    Specificity,
    View,
    listed,
    origin,
    views,
)

_FLOATS = frozenset({"bf16", "f16", "f32", "f64"})
# a value that is another one in another form or type
_CAST = ANNOTATED | {"convert", "transpose", "all-gather", "all-gather-done", "all-gather-start"}
# arrays of fewer elements are no copies of weights
_LEAST_COPY = 1024
_SHOWN = 4  # arguments named one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class CastCopies(Analyzer):
    """A copy of an argument in another float type is held at peak.

    What it sees: casts of whole arguments whose result memory holds at peak, of arguments that the
    other side does not cast as a whole: weights kept in f32 and computed with in bf16, or the other
    way round.

    Why it costs: the copy is there beside the argument, for as long as anything reads it, and is
    written and read once more.

    What it does not see: casts that are fused into what reads them, which hold nothing; copies of
    arguments that the other side does not take.

    Example: a scan over stacked f32 weights that casts each layer's slice to bf16 gets the cast of
    all layers in front of the loop, since the cast does not depend on the turn.
    """

    name: ClassVar[str] = "cast copies"
    codes: ClassVar[Mapping[str, str]] = {"PRE002": "copies of arguments in another type are kept"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """At most one finding for each side."""
        for view in views(comparison):
            yield from _kept_copies(view)


class _Copied(NamedTuple):
    """An argument of which memory holds a copy in another type."""

    position: int
    argument: int
    types: tuple[str, str]
    dims: tuple[int, ...]
    instruction: Instruction


def _kept_copies(view: View) -> Iterator[Finding]:
    """Casts of whole arguments that hold memory at peak on this side, and more than there."""
    found = list(_copies(view))
    if not found:
        return
    worse = view.direction is Direction.WORSE
    names = [_argument_name(view, each.argument) for each in found]
    types = sorted({each.types for each in found})
    casts = listed([f"{new} of {old}" for old, new in types])
    yield Finding(
        code="PRE002",
        title=f"rhs {'keeps' if worse else 'no longer keeps'} copies in another type of "
        f"{listed(list(dict.fromkeys(names)))}: {casts}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=tuple(each.position for each in found),
        cost_entries=_cast_cost(view),
        evidence=tuple(
            view.seen(f"{name} as {each.types[1]}[{','.join(map(str, each.dims))}]",
                "held at peak", "not held")
            for name, each in zip(names[:_SHOWN], found[:_SHOWN], strict=True)
        ),
        unknown=("whether the argument could be given in the type that is computed in",)
        if worse
        else (),
        remedies=(
            Remedy("give the arguments in the type that is computed in", "dtypes"),
            Remedy("keep the cast in the loop: a barrier around the slice", "barriers"),
        )
        if worse
        else (),
        **view.where(origin(view.module, each.instruction) for each in found),
    )  # fmt: skip


def _casts(view: View) -> Iterator[int]:
    """Nodes that are an argument in another float type, whole."""
    flow = view.flow
    parameters = frozenset(flow.parameters)
    paired = view.comparison.inputs is not None
    for node, found in enumerate(flow.nodes):
        if found.kind is not NodeKind.OPERATION or flow.opcode(node) != "convert":
            continue
        if found.shape.dtype not in _FLOATS or prod(found.shape.dims) < _LEAST_COPY:
            continue
        source = flow.origin(node, _CAST)
        given = flow.nodes[source].shape
        if source not in parameters or (paired and flow.nodes[source].ref not in view.partners):
            continue  # what the other side does not take it cannot keep in another type
        if given.dtype != found.shape.dtype and given.dtype in _FLOATS:
            yield node


def _copies(view: View) -> Iterator[_Copied]:
    flow, memory = view.flow, view.comparison.memory
    if memory is None:
        return
    seen: set[int] = set()
    other = _cast_there(view)
    for cast in _casts(view):
        source = flow.origin(cast, _CAST)
        if (flow.nodes[source].ref, flow.nodes[cast].shape.dtype) in other:
            continue
        nodes = _forms(view, cast)
        for position in view.memory_of(nodes):
            entry = memory.entries[position]
            held = view.held(entry)
            if position in seen or held is None or held.category is not Category.TEMPORARY:
                continue
            if view.grown(entry.size):
                seen.add(position)
                types = flow.nodes[source].shape.dtype, flow.nodes[cast].shape.dtype
                dims = flow.nodes[cast].shape.dims
                yield _Copied(position, source, types, dims, flow.instruction(cast))


def _cast_there(view: View) -> set[tuple[Ref, str]]:
    """Arguments of this side whose partners are cast, whole, on the other, and to what."""
    flow = view.there.flow
    return {
        (partner, flow.nodes[cast].shape.dtype)
        for cast in _casts(view.there)
        if (partner := view.there.partners.get(flow.nodes[flow.origin(cast, _CAST)].ref))
    }


def _forms(view: View, node: int) -> list[int]:
    """A value and what only has another form of it."""
    flow = view.flow
    found, waiting = [node], [node]
    while waiting:
        for user in flow.users[waiting.pop()]:
            same = flow.nodes[user].kind is NodeKind.OPERATION and flow.opcode(user) in ANNOTATED
            if same and user not in found:
                found.append(user)
                waiting.append(user)
    return found


def _argument_name(view: View, node: int) -> str:
    number = view.flow.instruction(node).parameter
    capture = view.source.capture
    leaves = {leaf.parameter: leaf.path for leaf in capture.inputs} if capture else {}
    return leaves.get(number) or view.flow.instruction(node).name


def _cast_cost(view: View) -> tuple[int, ...]:
    """Cost of casts that this side alone has, with the kernels around them."""
    nodes = [view.flow.nodes[cast] for cast in _casts(view)]
    refs = {ref for node in nodes for ref in (node.ref, node.kernel)}
    return view.cost_of(ref for ref in refs if ref not in view.partners)
