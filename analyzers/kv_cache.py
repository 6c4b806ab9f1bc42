"""State that is written anew instead of updated in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    ANNOTATED,
    Analyzer,
    Comparison,
    Confidence,
    Dataflow,
    Direction,
    Finding,
    Measured,
    NodeKind,
    Ref,
    Remedy,
    Specificity,
    View,
    arguments,
    array,
    bytes_text,
    frame_of,
    listed,
    scanned_from,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCache(Analyzer):
    """A cache, or other state, is rewritten whole where the other side updates a slice in place.

    What it sees: an array that comes in as an argument, or is a loop's, and goes out again: through
    a `dynamic_update_slice` on one side, and through a concatenation or a `where` over all of it on
    the other. It follows calls, loops, and the slices that a loop over layers takes of stacked
    state.

    Why it costs: an update in place writes one row. A concatenation or a `where` reads and writes
    all of the cache for every token, and a cache that really grows cannot take over the memory of
    the one that came in.

    What it does not see: whether the rewritten array is a cache of keys and values; any state that
    is updated in place on the other side counts.

    Example: a cache that is masked instead of indexed:

        cache = jnp.where(jnp.arange(length)[None, :, None, None] == i, row, cache)

    against `jax.lax.dynamic_update_slice_in_dim(cache, row, i, axis=1)`.
    """

    name: ClassVar[str] = "kv cache"
    codes: ClassVar[Mapping[str, str]] = {
        "KV001": "state is rewritten whole instead of updated in place",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """State that one side updates in place and the other rewrites."""
        for view in views(comparison):
            in_place = Counter(w.state for w in _writes(view.there.written) if w.how == _SLICE)
            in_place -= Counter(w.state for w in _writes(view.written) if w.how == _SLICE)
            found = [w for w in _writes(view.written) if w.how != _SLICE and in_place[w.state] > 0]
            if found:
                yield _finding(view, found)


_SLICE = "dynamic-update-slice"
# what writes an array anew out of the old one, all of it
_REWRITES = frozenset({"select", "concatenate", "pad", "add"})
_SLICES = frozenset({"slice", "dynamic-slice"})
_FORM = ANNOTATED | {"transpose", "convert"}


class _Write(NamedTuple):
    """How an array that comes in goes out again.

    Attributes:
      state: what it is part of: an argument's number and the array's rank, which both sides share.
      how: the opcode that makes the new array.
      node: of that, in the program as it was written.
    """

    state: tuple[int, int]
    how: str
    node: int


def _writes(flow: Dataflow) -> tuple[_Write, ...]:
    """The writes of a program to state that it was given."""
    number_of = {node: number for number, node in enumerate(flow.parameters)}
    kept = _kept(flow)
    found = []
    for node in sorted(kept):
        opcode = flow.opcode(node)
        if opcode == _SLICE or opcode in _REWRITES:
            for old in _old(flow, node, opcode):
                state = _state(flow, old, number_of)
                if state is not None and _is_kept_size(flow, node, old):
                    found.append(_Write((state, len(flow.nodes[node].shape.dims)), opcode, node))
                    break
    return tuple(found)


def _kept(flow: Dataflow) -> frozenset[int]:
    """What is returned, or handed to a loop's next turn, or stacked by one."""
    waiting = [*flow.outputs, *(after for loop in flow.loops for after in loop.after)]
    found: set[int] = set()
    while waiting:
        node = flow.origin(waiting.pop(), _FORM)
        if node in found:
            continue
        found.add(node)
        if flow.opcode(node) == _SLICE:  # the slice written into a stack may be the state itself
            waiting += flow.nodes[node].operands[:2]
    return frozenset(found)


def _old(flow: Dataflow, node: int, opcode: str) -> tuple[int, ...]:
    """Operands that may be the array from before."""
    operands = flow.nodes[node].operands
    found = {_SLICE: operands[:1], "select": operands[1:]}.get(opcode, operands)
    origins = [flow.origin(operand, _FORM) for operand in found]
    # the tail that a window keeps of the old array
    return tuple(
        flow.origin(flow.nodes[o].operands[0], _FORM)
        if opcode in ("concatenate", "pad") and flow.opcode(o) in _SLICES
        and scanned_in(flow, o) is None else o
        for o in origins
    )  # fmt: skip


def scanned_in(flow: Dataflow, node: int) -> int | None:
    """The stack that a value is this turn's slice of, in the innermost loop around it."""
    loops = flow.nodes[node].loops
    return scanned_from(flow, node, loops[-1]) if loops else None


def _state(flow: Dataflow, old: int, number_of: Mapping[int, int]) -> int | None:
    """The argument that an array comes from, also as a loop's carry or as a slice of a turn."""
    for _ in range(10):
        if old in number_of:
            return number_of[old]
        whole = scanned_in(flow, old)
        if whole is not None:
            old = whole
        elif flow.nodes[old].kind is NodeKind.SLOT:
            old = flow.origin(flow.nodes[old].operands[0], _FORM)
        else:
            return None
    return None


def _is_kept_size(flow: Dataflow, node: int, old: int) -> bool:
    """Whether most of the new array is the old one."""
    new, before = (flow.nodes[n].shape.dims for n in (node, old))
    if len(before) != len(new):
        before = before[len(before) - len(new) :]
    differ = [(a, b) for a, b in zip(new, before, strict=False) if a != b]
    return len(new) > 0 and len(differ) <= 1 and all(b <= a <= 2 * b for a, b in differ)


def _finding(view: View, found: list[_Write]) -> Finding:
    flow = view.written
    worse = view.direction is Direction.WORSE
    given = {argument.number: argument.name for argument in arguments(view.source)}
    names = listed(list(dict.fromkeys(f"'{given.get(w.state[0], w.state[0])}'" for w in found)))
    how = listed(sorted({w.how for w in found}))
    kernels = _kernels(view, found)
    others = _kernels(
        view.there,
        [
            w
            for w in _writes(view.there.written)
            if w.how == _SLICE and w.state in {f.state for f in found}
        ],
    )
    costs = (*view.cost_of(kernels), *view.there.cost_of(others))
    nodes = [n for ref in kernels for n in view.flow.at.get(ref, ())]
    memory = view.comparison.memory
    entries = memory.entries if memory else ()
    return Finding(
        code="KV001",
        title=f"{names} {'is' if len({w.state for w in found}) == 1 else 'are'} "
        + (f"rewritten whole ({how}) instead of updated in place" if worse
           else f"updated in place instead of rewritten whole ({how})"),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=tuple(p for p in (*view.memory_of(nodes), *_outputs(view, found))
                      if view.grown(entries[p].size)),
        cost_entries=costs,
        evidence=(
            *(view.seen(f"new '{given.get(w.state[0], w.state[0])}' comes from",
                        f"{w.how} {array(flow.nodes[w.node].shape)}", _SLICE) for w in found[:3]),
            view.seen("bytes moved by what writes it", *(_moved(*m) for m in (
                (view, kernels), (view.there, others)))),
        ),
        unknown=("whether the caller needs the cache's own length",),
        remedies=_REMEDIES if worse else (),
        **view.where(frame_of(flow, w.node) for w in found),
    )  # fmt: skip


_REMEDIES = (
    Remedy("allocate the cache at its full length and write rows with dynamic_update_slice"),
    Remedy("donate the cache, so that it is updated in its own memory", "donate"),
)


def _kernels(view: View, found: list[_Write]) -> list[Ref]:
    """Kernels of the optimized module that do what operations of the written one ask for."""
    written = view.written
    wanted = {
        (written.instruction(w.node).metadata.op_name, frame_of(written, w.node)) for w in found
    }
    opcodes = {w.how for w in found}
    flow = view.flow
    exact, alike = list[Ref](), list[Ref]()
    for number, node in enumerate(flow.nodes):
        if node.kind is NodeKind.OPERATION and flow.opcode(number) in opcodes:
            metadata = flow.instruction(number).metadata
            place = (metadata.op_name, frame_of(flow, number))
            (exact if place in wanted else alike).append(node.kernel)
    return list(dict.fromkeys((exact or alike or []) + _makers(view, found)))


def _makers(view: View, found: list[_Write]) -> list[Ref]:
    """Kernels that hand the new state out, its copies among them."""
    flow = view.flow
    kernels = []
    for place in _places(view, found):
        node = flow.outputs[place] if place < len(flow.outputs) else -1
        while node >= 0 and flow.nodes[node].kind is NodeKind.OPERATION:
            kernels.append(flow.nodes[node].kernel)
            known = flow.opcode(node) in _FORM and flow.nodes[node].operands
            node = flow.nodes[node].operands[0] if known else -1
    return kernels


def _places(view: View, found: list[_Write]) -> set[int]:
    """Positions of the results that the writes make."""
    flow = view.written
    made = {w.node for w in found}
    return {k for k, node in enumerate(flow.outputs) if flow.origin(node, _FORM) in made}


def _outputs(view: View, found: list[_Write]) -> tuple[int, ...]:
    """Entries that hold results made by the writes."""
    memory, places = view.comparison.memory, _places(view, found)
    entries = memory.entries if memory else ()
    return tuple(p for p, e in enumerate(entries) if (h := view.held(e)) and places & {*h.outputs})


def _moved(view: View, kernels: list[Ref]) -> str | None:
    ledger = view.comparison.cost.rhs if view.name == "rhs" else view.comparison.cost.lhs
    total = 0
    for entry in ledger.entries:
        figures = (entry.executions, entry.bytes_read, entry.bytes_written)
        if entry.ref in kernels and all(isinstance(f, Measured) for f in figures):
            times, *moved = (f.value for f in figures if isinstance(f, Measured))
            total += times * sum(moved)
    return bytes_text(total) if kernels else None
