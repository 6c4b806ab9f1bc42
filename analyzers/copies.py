"""Copies and transposes that one side alone makes."""

from __future__ import annotations

from collections import Counter
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
    LeafChange,
    Measured,
    NodeKind,
    Ref,
    Remedy,
    Shape,
    Specificity,
    StackFrame,
    View,
    array,
    bytes_text,
    format_shape,
    frame_of,
    input_changes,
    listed,
    output_changes,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies(Analyzer):
    """The compiler copies or transposes arrays on one side that it leaves alone on the other.

    What it sees: kernels of the optimized modules that do nothing but copy, transpose or re-lay an
    array, beyond those of the other side for arrays of the same type and extents; arguments and
    results whose layout differs.

    Why it costs: a copy reads and writes all of an array without computing anything, and mostly
    needs the memory for it.

    What it does not see: transposes inside other kernels, which cost little; transfers between
    memory spaces, which run beside other work.

    Example: heads in the middle of an array, `[batch, heads, seq, dim]`, against
    `[batch, seq, heads, dim]`, each with its own transposes around the same products.

    Attributes:
      smallest: bytes moved in a step below which nothing is said.
    """

    smallest: int = 64 << 10

    name: ClassVar[str] = "copies"
    codes: ClassVar[Mapping[str, str]] = {
        "COPY001": "arrays are copied",
        "COPY002": "arrays are transposed, or brought into another layout",
        "COPY003": "an argument or result has another layout",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Copies of one side alone, then layouts of arguments and results."""
        for view in views(comparison):
            plain, turned = _added(view)
            yield from self._findings(view, "COPY001", plain)
            yield from self._findings(view, "COPY002", turned)
        changed = _relaid(comparison)
        if changed:
            yield _layouts(comparison, changed)

    def _findings(self, view: View, code: str, found: Mapping[Ref, Shape]) -> Iterator[Finding]:
        costs = view.cost_of(found)
        entries = view.comparison.cost.entries
        moved = sum(e.value for p in costs if isinstance(e := entries[p].bytes, Measured))
        if found and view.grown(moved) and abs(moved) >= self.smallest:
            yield _finding(view, code, found, (costs, moved))


# what a kernel may do and still compute nothing
_IDLE = frozenset(
    {"copy", "transpose", "bitcast", "reshape", "parameter", "constant", "copy-start"}
)
# what moves bytes; a reshape that is no bitcast is one
_MOVES = frozenset({"copy", "transpose", "reshape"})
_NOUNS = {"COPY001": "copy", "COPY002": "transpose or re-layout"}


def _added(view: View) -> tuple[dict[Ref, Shape], dict[Ref, Shape]]:
    """Kernels that only copy, and that transpose, with what they make."""
    here, there = _movers(view), _movers(view.there)
    left = Counter((array(shape), turns) for shape, turns in there.values())
    plain, turned = dict[Ref, Shape](), dict[Ref, Shape]()
    for ref, (shape, turns) in here.items():
        left[array(shape), turns] -= 1
        if left[array(shape), turns] < 0 and (
            ref not in view.partners or view.partners[ref] not in there
        ):
            (turned if turns else plain)[ref] = shape
    return plain, turned


def _movers(view: View) -> dict[Ref, tuple[Shape, bool]]:
    """Kernels that compute nothing: what each makes, and whether it changes the order in memory."""
    flow = view.flow
    busy: set[Ref] = set()
    found: dict[Ref, tuple[Shape, bool]] = {}
    for number, node in enumerate(flow.nodes):
        opcode = flow.opcode(number)
        if node.kind is not NodeKind.OPERATION:
            continue
        if opcode not in _IDLE:
            busy.add(node.kernel)
        elif opcode in _MOVES and node.operands:
            source = flow.nodes[node.operands[0]].shape
            turns = opcode != "copy" or _order(source) != _order(node.shape)
            # from one memory space to another as it lies is a transfer
            if turns or _space(source) == _space(node.shape):
                known = found.get(node.kernel)
                found[node.kernel] = node.shape, turns or bool(known and known[1])
    return {ref: made for ref, made in found.items() if ref not in busy}


def _space(shape: Shape) -> int:
    return shape.layout.memory_space if shape.layout else 0


def _order(shape: Shape) -> tuple[int, ...]:
    return shape.layout.minor_to_major if shape.layout else ()


def _finding(
    view: View, code: str, found: Mapping[Ref, Shape], claimed: tuple[tuple[int, ...], int]
) -> Finding:
    costs, moved = claimed
    flow, worse = view.flow, view.direction is Direction.WORSE
    nodes = [n for ref in found for n in flow.at.get(ref, ())]
    ranked = sorted(found, key=lambda ref: (-_bytes(view, costs, ref), ref))
    shapes = listed(list(dict.fromkeys(array(found[ref]) for ref in ranked)))
    noun = _NOUNS[code] if len(found) == 1 else _PLURALS[code]
    return Finding(
        code=code,
        title=f"{len(found)} {noun} {'more' if worse else 'fewer'}: {shapes}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.SYMPTOM,
        direction=view.direction,
        entries=view.more_memory_of(nodes),
        cost_entries=costs,
        evidence=(
            view.seen("bytes that they move in a step", bytes_text(abs(moved))),
            *(view.seen(view.instruction(ref).name, _laid(view, ref)) for ref in ranked[:3]),
        ),
        path=view.path_of(costs),
        unknown=("what asks for the other order",),
        remedies=_REMEDIES if worse else (),
        **view.where(_frames(view, ranked)),
    )  # fmt: skip


_PLURALS = {"COPY001": "copies", "COPY002": "transposes or re-layouts"}
_REMEDIES = (
    Remedy("keep one order of dimensions from producer to reader"),
    Remedy("donate what is copied only to be returned", "donate"),
)


def _bytes(view: View, costs: tuple[int, ...], ref: Ref) -> int:
    entries = view.comparison.cost.entries
    return sum(
        abs(entry.bytes.value)
        for entry in (entries[p] for p in costs)
        if (cost := view.cost(entry)) and cost.kernel == ref and isinstance(entry.bytes, Measured)
    )


def _laid(view: View, ref: Ref) -> str:
    ins = view.instruction(ref)
    operands = [view.instruction(Ref(ref.computation, o)).shape for o in ins.operands[:1]]
    return " -> ".join(format_shape(shape) for shape in (*operands, ins.shape))


def _frames(view: View, refs: list[Ref]) -> Iterator[StackFrame | None]:
    """Of the copies, or of what reads them where the compiler made them."""
    flow = view.flow
    for ref in refs:
        for node in flow.at.get(ref, ()):
            yield frame_of(flow, node)
            yield from (frame_of(flow, user) for user in flow.users[node][:2])


def _relaid(comparison: Comparison) -> list[LeafChange]:
    """Arguments and results of equal shape and type that lie otherwise in memory."""
    changed = (*input_changes(comparison, "layout"), *output_changes(comparison, "layout"))
    return [c for c in changed if (c.lhs.shape, c.lhs.dtype) == (c.rhs.shape, c.rhs.dtype)
            and c.lhs.layout and c.rhs.layout]  # fmt: skip


def _layouts(comparison: Comparison, changed: list[LeafChange]) -> Finding:
    rhs = views(comparison)[0]
    numbers = {c.rhs.parameter for c in changed}
    memory = comparison.memory
    entries = tuple(
        p for p, e in enumerate(memory.entries if memory else ())
        if e.rhs and e.lhs and (e.rhs.parameter in numbers or e.rhs.outputs)
        and e.lhs.unpadded == e.rhs.unpadded
    )  # fmt: skip
    names = listed([f"'{c.rhs.path or 'result'}'" for c in changed])
    first = changed[0]
    size = sum(memory.entries[p].size for p in entries) if memory else 0
    worse, better = Direction.WORSE, Direction.BETTER
    return Finding(
        code="COPY003",
        title=f"{names} {'lies' if len(changed) == 1 else 'lie'} in another layout "
        f"({first.lhs.layout} -> {first.rhs.layout})",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.MECHANISM,
        direction=worse if size > 0 else better if size < 0 else Direction.NEUTRAL,
        entries=entries,
        cost_entries=rhs.cost_of(_reading(rhs, numbers)),
        evidence=tuple(
            Evidence(f"layout of {c.rhs.path or 'result'}", c.lhs.layout, c.rhs.layout)
            for c in changed[:4]
        ),
        unknown=("whether the program or the compiler chose it",),
        remedies=(Remedy("ask for lhs' layout, or for none"),),
    )


def _reading(view: View, numbers: set[int | None]) -> set[Ref]:
    """Kernels that only bring an argument into another order."""
    flow = view.flow
    movers = _movers(view)
    return {
        flow.nodes[user].kernel
        for number, node in enumerate(flow.parameters)
        if number in numbers
        for user in flow.users[node]
        if flow.nodes[user].kernel in movers
    }
