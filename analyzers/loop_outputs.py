"""Values that a program only reads and still returns or stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Dataflow,
    Direction,
    Evidence,
    Finding,
    NodeKind,
    Ref,
    Remedy,
    Specificity,
    Stack,
    StackFrame,
    View,
    aliases,
    arguments,
    array,
    frame_of,
    listed,
    refills,
    results,
    scanned_from,
    stacks,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOutputs(Analyzer):
    """A value that nothing changes is returned, or stacked by a loop, all the same.

    What it sees: results of the program that are an argument unchanged, and arrays that a loop
    fills, slice by slice, with slices of an array that it only reads. Both are followed through
    calls, loops, reshapes and copies, in the program as it was written.

    Why it costs: a result needs memory of its own unless its argument is donated to it, so that
    returning the parameters of sixteen layers is a second copy of them; a stack is written turn by
    turn besides.

    What it does not see: a value that is changed and comes out equal, such as a weight plus zero.

    Example: a loop over layers that returns the state of its module, as `nnx.scan` with
    `nnx.state(module)` among its results does:

        def body(x, weights):
            return layer(x, weights), weights  # returned as they came
    """

    name: ClassVar[str] = "loop outputs"
    codes: ClassVar[Mapping[str, str]] = {
        "LOOP001": "a result is an argument that nothing changed",
        "LOOP002": "a loop stacks slices of an array that it only reads",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Results and stacks of one side that the other does not have."""
        for view in views(comparison):
            yield from _returned(view)
            yield from _stacked(view)


_REMEDIES = (
    Remedy("return only what the program changes, and keep the rest at the caller", "drop-outputs"),
    Remedy("donate the argument, so that the result takes its memory over", "donate"),
)


def unchanged_results(view: View) -> dict[int, int]:
    """Result position to the number of the argument that it is, where they share no memory."""
    flow = view.written
    number_of = {node: number for number, node in enumerate(flow.parameters)}
    taken = {result: number for number, result in aliases(view.module).items()}
    filled = {stack.result: stack for stack in stacks(flow)}
    found = {}
    for position, node in enumerate(flow.outputs):
        number = number_of.get(_original(flow, node, filled))
        if number is not None and taken.get(position) != number:
            found[position] = number
    return found


def _original(flow: Dataflow, node: int, filled: Mapping[int, Stack]) -> int:
    """Where a result comes from, also through a loop that stacks it again slice by slice."""
    at = flow.origin(node)
    while at in filled:
        whole = scanned_from(flow, filled[at].update, filled[at].loop)
        if whole is None or flow.nodes[whole].shape.dims != flow.nodes[at].shape.dims:
            break
        at = flow.origin(whole)
    return at


def _returned(view: View) -> Iterator[Finding]:
    here = unchanged_results(view)
    there = {view.there.partners.get(a.ref): a for a in arguments(view.there.source)}
    given = {argument.number: argument for argument in arguments(view.source)}
    others = {*unchanged_results(view.there).values()}
    known = {n for n, a in given.items() if a.ref in there and there[a.ref].number in others}
    kept_by_alias = {
        n for n, a in given.items() if a.ref in there and there[a.ref].result is not None
    }
    new = {k: n for k, n in here.items() if n in given and n not in known | kept_by_alias}
    if not new:
        return
    made = {result.position: result for result in results(view.source)}
    entries = _holding(view, frozenset(new))
    names = listed([f"'{given[n].name}'" for n in dict.fromkeys(new.values())])
    shapes = listed([array(given[n].shape) for n in new.values()])
    scanned = _is_scanned(view.written, new.values())
    yield Finding(
        code="LOOP001",
        title=_title(names, len(new), view.direction, scanned=scanned),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=entries,
        cost_entries=view.cost_of(made[k].ref for k in new if k in made),
        evidence=(
            view.seen("results that are an argument unchanged", f"{len(new)}: {shapes}", "none"),
            *((view.seen("a loop reads them slice by slice", "yes", None),) if scanned else ()),
        ),
        unknown=("whether the caller needs them back",),
        remedies=_REMEDIES if view.direction is Direction.WORSE else (),
        **view.where(_reading_frames(view.written, new.values())),
    )


def _title(names: str, count: int, direction: Direction, *, scanned: bool) -> str:
    it = "it" if count == 1 else "them"
    given = f"argument {names} is" if count == 1 else f"arguments {names} are"
    loop = f"; a loop only reads {it}" if scanned else ""
    if direction is Direction.WORSE:
        return f"{given} returned unchanged, a second copy of {it}{loop}"
    return f"{given} no longer returned unchanged{loop}"


def _holding(view: View, positions: frozenset[int]) -> tuple[int, ...]:
    """Memory of the results, with what the other side keeps elsewhere and this side puts there."""
    memory = view.comparison.memory
    if memory is None:
        return ()
    found = []
    members: set[Ref] = set()
    for number, entry in enumerate(memory.entries):
        held = view.held(entry)
        if held is not None and positions & {*held.outputs}:
            found.append(number)
            members.update(value.ref for value in held.members)
    for number, entry in enumerate(memory.entries):
        other = view.there.held(entry)
        if view.held(entry) is not None or other is None or other.value is None:
            continue
        if view.there.partners.get(other.value.ref) in members:
            found.append(number)
    return tuple(found)


def _is_scanned(flow: Dataflow, numbers: Iterable[int]) -> bool:
    return any(True for _ in _slices(flow, numbers))


def _slices(flow: Dataflow, numbers: Iterable[int]) -> Iterator[int]:
    """Slices that loops take of some arguments, turn by turn."""
    wanted = {flow.parameters[n] for n in numbers if n < len(flow.parameters)}
    for number, node in enumerate(flow.nodes):
        is_slice = node.kind is NodeKind.OPERATION and flow.opcode(number) == "dynamic-slice"
        if node.loops and is_slice and scanned_from(flow, number, node.loops[-1]) in wanted:
            yield number


def _reading_frames(flow: Dataflow, numbers: Iterable[int]) -> list[StackFrame | None]:
    return [frame_of(flow, node) for node in _slices(flow, numbers)]


def _stacked(view: View) -> Iterator[Finding]:
    written, there = _read_only(view.written), _read_only(view.there.written)
    missing = Counter(_shape(view.there.written, s) for s in there)
    new = []
    for stack in written:
        shape = _shape(view.written, stack)
        if missing[shape]:
            missing[shape] -= 1
        else:
            new.append(stack)
    nodes, kernels = _compiled(view)
    entries, costs = view.memory_of(nodes), view.cost_of(kernels)
    entries = tuple(p for p in entries if _more(view, p))
    if not new or not (entries or costs):
        return
    flow = view.written
    worse = view.direction is Direction.WORSE
    shapes = listed([_shape(flow, stack) for stack in new])
    yield Finding(
        code="LOOP002",
        title=f"a loop {'stacks' if worse else 'no longer stacks'} what it only reads: {shapes}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=entries,
        cost_entries=costs,
        evidence=(
            view.seen("read-only arrays that loops stack again, as written",
                f"{len(written)}: {shapes}", str(len(there)) if there else "none"),
            *_as_compiled(view),
        ),
        unknown=("whether the caller needs them back",) if worse else (),
        remedies=_REMEDIES[:1] if worse else (),
        **view.where(frame_of(flow, stack.write) for stack in new),
    )  # fmt: skip


def _shape(flow: Dataflow, stack: Stack) -> str:
    return array(flow.nodes[stack.slot].shape)


def _more(view: View, position: int) -> bool:
    memory = view.comparison.memory
    return memory is not None and view.grown(memory.entries[position].size)


def _read_only(flow: Dataflow) -> list[Stack]:
    found = []
    for stack in stacks(flow):
        whole = scanned_from(flow, stack.update, stack.loop)
        if whole is not None and flow.nodes[whole].shape.dims == flow.nodes[stack.slot].shape.dims:
            found.append(stack)
    return found


def _compiled(view: View) -> tuple[list[int], list[Ref]]:
    """What the compiler made of the stacks: nodes that hold them, kernels that fill them."""
    flow = view.flow
    filled, copied = _read_only(flow), refills(flow)
    nodes = [n for s in filled for n in (s.slot, s.result, s.write)]
    nodes += [n for r in copied for n in (r.slot, r.result, r.copy)]
    kernels = [flow.nodes[s.write].kernel for s in filled]
    kernels += [flow.nodes[r.copy].kernel for r in copied]
    return nodes, [ref for ref in kernels if ref not in view.partners]


def _as_compiled(view: View) -> Iterator[Evidence]:
    counts = [len(refills(v.flow)) for v in (view, view.there)]
    if counts[0] != counts[1]:
        yield view.seen(
            "read-only arrays copied whole in every turn, as compiled", *map(str, counts)
        )
