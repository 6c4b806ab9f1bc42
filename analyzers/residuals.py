"""Values that a loop keeps for every turn until a later loop reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    FORM,
    Analyzer,
    Comparison,
    Confidence,
    Dataflow,
    Direction,
    Finding,
    Measured,
    NodeKind,
    Remedy,
    Specificity,
    Stack,
    View,
    array,
    bytes_text,
    frame_of,
    listed,
    scanned_from,
    stacks,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals(Analyzer):
    """A loop stacks intermediate values of every turn for the backward pass.

    What it sees: arrays that one loop fills slice by slice and that something other than the
    program's result reads later, where they hold memory at peak on one side and not, or less of
    it, on the other.

    Why it costs: a residual of one layer times the number of layers lives from the forward to the
    backward loop, which is where memory is at its peak; it is written once and read once besides.

    What it does not see: residuals of layers that are unrolled, which are buffers of their own;
    what recomputing them instead would cost.

    Example: `jax.grad` of a scan over layers keeps every input of every nonlinearity, unless the
    layer is wrapped in `jax.checkpoint`, which keeps the layer's own input alone:

        x, _ = jax.lax.scan(jax.checkpoint(layer, prevent_cse=False), x, weights)
    """

    name: ClassVar[str] = "residuals"
    codes: ClassVar[Mapping[str, str]] = {
        "LOOP003": "a loop stacks values of every turn for a later loop",
        "LOOP005": "a loop stacks the same value twice",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Stacks that hold memory on one side that the other does not hold."""
        for view in views(comparison):
            yield from _residuals(view)
            yield from _twice(view)


_REMEDIES = (
    Remedy(
        "recompute them: jax.checkpoint (nn.remat, nnx.remat) around the loop's body", "barriers"
    ),
    Remedy("keep only what a policy names: jax.checkpoint_policies.save_only_these_names"),
)


def _residuals(view: View) -> Iterator[Finding]:
    flow = view.flow
    twice = {stack.slot for group in _groups(flow) for stack in group[1:]}
    kept = [s for s in stacks(flow) if _is_residual(flow, s) and s.slot not in twice]
    by_loop: dict[int, dict[Stack, tuple[int, ...]]] = {}
    for stack in kept:
        grown = _grown(view, stack)
        if grown:
            by_loop.setdefault(stack.loop, {})[stack] = grown
    for loop, found in sorted(by_loop.items()):
        yield _finding(view, loop, found)


def _is_residual(flow: Dataflow, stack: Stack) -> bool:
    """Whether something reads the filled stack, and it is not just what the loop read."""
    if scanned_from(flow, stack.update, stack.loop) is not None:
        return False
    return any(
        flow.nodes[user].kind is NodeKind.SLOT and user in flow.invariant
        for user in _read_by(flow, stack.result)
    )


def _forms(flow: Dataflow, node: int) -> list[int]:
    """A value, with the copies of it in other forms and types that later loops read."""
    kept = FORM | {"convert", "transpose"}
    return [node, *(user for user in _read_by(flow, node) if flow.opcode(user) in kept)]


def _read_by(flow: Dataflow, node: int) -> list[int]:
    """What reads a value, through changes of its form and type."""
    found, waiting, seen = [], [node], {node}
    while waiting:
        for user in flow.users[waiting.pop()]:
            if user not in seen:
                seen.add(user)
                found.append(user)
                if flow.opcode(user) in FORM | {"convert", "transpose"}:
                    waiting.append(user)
    return found


def _grown(view: View, stack: Stack) -> tuple[int, ...]:
    """Entries of the memory delta in which this side has more of the stack."""
    memory = view.comparison.memory
    entries = memory.entries if memory else ()
    found = view.memory_of((stack.slot, stack.write, *_forms(view.flow, stack.result)))
    return tuple(position for position in found if view.grown(entries[position].size))


def _finding(view: View, loop: int, found: Mapping[Stack, tuple[int, ...]]) -> Finding:
    flow = view.flow
    worse = view.direction is Direction.WORSE
    largest = sorted(found, key=lambda s: (-_size(view, found[s]), s.slot))
    shapes = _shapes(flow, largest)
    turns = _turns(flow, loop)
    frames = [frame_of(flow, stack.update) for stack in largest]
    return Finding(
        code="LOOP003",
        title=f"a loop{turns} {'keeps' if worse else 'no longer keeps'} {_number(len(found))} "
        f"for a later pass: {shapes}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.MECHANISM,
        direction=view.direction,
        entries=tuple(p for positions in found.values() for p in positions),
        cost_entries=view.cost_of(
            flow.nodes[s.write].kernel
            for s in found
            if flow.nodes[s.write].kernel not in view.partners
        ),
        evidence=(
            view.seen("stacked values held at peak",
                f"{len(found)}, {bytes_text(sum(_size(view, p) for p in found.values()))}",
                _kept_there(view)),
            *(view.seen(f"stacked: {array(flow.nodes[s.slot].shape)}",
                flow.instruction(s.update).metadata.op_name or flow.instruction(s.update).opcode)
              for s in largest[:3]),
        ),
        unknown=("what recomputing them would cost",) if worse else (),
        remedies=_REMEDIES if worse else (),
        **view.where(frames),
    )  # fmt: skip


def _kept_there(view: View) -> str:
    there = view.there
    kept = [s for s in stacks(there.flow) if _is_residual(there.flow, s)]
    return f"{len(kept)} stacked values in all"


def _size(view: View, positions: tuple[int, ...]) -> int:
    memory = view.comparison.memory
    return sum(abs(memory.entries[p].size) for p in positions) if memory else 0


def _number(count: int) -> str:
    return "a value of every turn" if count == 1 else f"{count} values of every turn"


def _shapes(flow: Dataflow, found: list[Stack]) -> str:
    counted: dict[str, int] = {}
    for stack in found:
        text = array(flow.nodes[stack.slot].shape)
        counted[text] = counted.get(text, 0) + 1
    return listed([text if n == 1 else f"{n}x {text}" for text, n in counted.items()])


def _turns(flow: Dataflow, loop: int) -> str:
    trips = flow.loops[loop].trips
    return f" of {trips.value} turns" if isinstance(trips, Measured) else ""


def _groups(flow: Dataflow) -> list[list[Stack]]:
    """Stacks of one loop that hold the same value, also in another type."""
    found: dict[tuple[int, int], list[Stack]] = {}
    for stack in stacks(flow):
        value = flow.value_of[flow.origin(stack.update, FORM | {"convert"})]
        found.setdefault((stack.loop, value), []).append(stack)
    return [group for group in found.values() if len(group) > 1]


def _twice(view: View) -> Iterator[Finding]:
    flow = view.flow
    there = sum(len(group) - 1 for group in _groups(view.there.flow))
    groups = _groups(flow)
    extra = [stack for group in groups for stack in group[1:]]
    entries = tuple(dict.fromkeys(p for stack in extra for p in _grown(view, stack)))
    if len(extra) <= there or not entries:
        return
    worse = view.direction is Direction.WORSE
    yield Finding(
        code="LOOP005",
        title=f"a loop {'stacks' if worse else 'no longer stacks'} the same value twice: "
        f"{_shapes(flow, extra)}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=entries,
        cost_entries=view.cost_of(
            flow.nodes[s.write].kernel
            for s in extra
            if flow.nodes[s.write].kernel not in view.partners
        ),
        evidence=(view.seen("stacks that repeat another one", str(len(extra)), str(there)),),
        remedies=(Remedy("return the value once and use it twice", "drop-outputs"),)
        if worse
        else (),
        **view.where(frame_of(flow, stack.update) for stack in extra),
    )
