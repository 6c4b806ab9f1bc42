"""What a loop carries and copies in every turn."""

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
    StackFrame,
    View,
    array,
    bytes_text,
    frame_of,
    listed,
    slot_behind,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryCopies(Analyzer):
    """A loop copies something that it carries, whole, in every turn.

    What it sees: copies in a loop's body of a whole array of its carry, where the other side has
    no such copy or a smaller one.

    Why it costs: an array that is carried is meant to be updated in place; a copy reads and writes
    all of it in every turn, and needs the memory once more while the loop runs.

    What it does not see: why the compiler could not update in place, beyond what else reads the
    array; a copy between memory spaces alone, which is a transfer and not a second copy.

    Example: a body that writes a slice and returns an element of the old array as well, so that old
    and new array live at once:

        new = jax.lax.dynamic_update_slice(carry, row, (i,))
        return new, carry[i]  # reads the array from before the update

    Attributes:
      smallest: bytes of the smallest array looked at.
    """

    smallest: int = 4096

    name: ClassVar[str] = "carry copies"
    codes: ClassVar[Mapping[str, str]] = {
        "LOOP004": "an array that a loop carries is copied in every turn",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Copies of carried arrays that one side alone has."""
        for view in views(comparison):
            found = _copies(view, self.smallest)
            if found:
                yield _finding(view, found)


def _copies(view: View, smallest: int) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Copy to the slot that it copies and the entries of the cost delta where it costs more."""
    flow = view.flow
    carried = {node for loop in flow.loops for node in loop.after}
    found = {}
    for number, node in enumerate(flow.nodes):
        if not node.loops or flow.opcode(number) not in ("copy", "copy-start"):
            continue
        slot = slot_behind(flow, node.operands[0])
        if slot is None or not (number in carried or _same_space(flow, number)):
            continue
        entries = tuple(p for p in view.cost_of([node.kernel]) if _more(view, p, smallest))
        if entries:
            found[number] = slot, entries
    return found


def _same_space(flow: Dataflow, node: int) -> bool:
    shapes = [flow.nodes[node].shape, flow.nodes[flow.nodes[node].operands[0]].shape]
    arrays = [s.elements[0] if s.dtype == "tuple" and s.elements else s for s in shapes]
    spaces = {a.layout.memory_space if a.layout else 0 for a in arrays}
    return len(spaces) == 1


def _more(view: View, position: int, smallest: int) -> bool:
    moved = view.comparison.cost.entries[position].bytes
    return isinstance(moved, Measured) and view.grown(moved.value) and abs(moved.value) >= smallest


_REMEDIES = (
    Remedy("read the array before it is written, or read the new one"),
    Remedy("close over what the loop only reads instead of carrying it", "drop-outputs"),
)


def _finding(view: View, found: Mapping[int, tuple[int, tuple[int, ...]]]) -> Finding:
    flow = view.flow
    worse = view.direction is Direction.WORSE
    slots = dict.fromkeys(slot for slot, _ in found.values())
    shapes = listed([*dict.fromkeys(array(flow.nodes[slot].shape) for slot in slots)])
    costs = tuple(p for _, positions in found.values() for p in positions)
    entries = view.comparison.cost.entries
    moved = sum(e.bytes.value for p in set(costs) if isinstance((e := entries[p]).bytes, Measured))
    return Finding(
        code="LOOP004",
        title=f"a loop {'copies' if worse else 'no longer copies'} what it carries in every turn: "
        f"{shapes}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.MECHANISM,
        direction=view.direction,
        entries=view.more_memory_of(found),
        cost_entries=costs,
        evidence=(
            view.seen("copies of carried arrays in loop bodies",
                f"{len(found)}, {bytes_text(abs(moved))} moved in a step", "none of these"),
            *(view.seen(f"{array(flow.nodes[slot].shape)} is read by", text)
              for slot in list(slots)[:3] if (text := _reads(flow, slot))),
        ),
        path=view.path_of(costs),
        unknown=("why the compiler does not update the array in place",) if worse else (),
        remedies=_REMEDIES if worse else (),
        **view.where(f for slot in slots for f in _frames(flow, slot)),
    )  # fmt: skip


def _readers(flow: Dataflow, slot: int) -> list[int]:
    """What reads the array in the body, through copies."""
    found, waiting, seen = [], [slot], {slot}
    while waiting:
        for user in flow.users[waiting.pop()]:
            if user in seen or flow.nodes[user].kind is not NodeKind.OPERATION:
                continue
            seen.add(user)
            if flow.opcode(user) in FORM:
                waiting.append(user)
            else:
                found.append(user)
    return sorted(found)


def _reads(flow: Dataflow, slot: int) -> str:
    names = dict.fromkeys(flow.opcode(node) for node in _readers(flow, slot))
    return listed(list(names))


def _frames(flow: Dataflow, slot: int) -> Iterator[StackFrame | None]:
    return (frame_of(flow, node) for node in _readers(flow, slot))
