"""Which buffers hold memory at one instant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hloscope import hlo
from hloscope.attribute.memory_schedule import Schedule
from hloscope.model.buffers import Allocation, HeapEventKind, HeapTrace

NOTHING = -1  # no event: before the trace starts


class Slot(NamedTuple):
    """A piece of an allocation that is held.

    Attributes:
      buffers: ids of every buffer that uses it in turn, the one in use first.
      size: bytes.
      traced: whether the heap trace moves it; otherwise it is held throughout.
    """

    offset: int
    size: int
    buffers: tuple[int, ...]
    traced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """How far each heap trace is replayed; `None` for to its own peak.

    Attributes:
      position: schedule position of the instruction that is running.
    """

    schedule: Schedule
    position: int | None

    def stop(self, trace: HeapTrace | None, sizes: Mapping[int, int]) -> int:
        """The event that the trace is replayed up to, `NOTHING` for none of it."""
        if trace is None:
            return NOTHING
        if self.position is not None:
            return self._during(trace, sizes, self.position)
        top = hlo.peak(trace, sizes)
        return NOTHING if top is None else top.event

    def _during(self, trace: HeapTrace, sizes: Mapping[int, int], position: int) -> int:
        """The event after which most is held while the instruction at `position` runs.

        Only events that take memory say when they happen: XLA names a freed buffer's maker.
        """
        best, most, latest = NOTHING, -1, NOTHING
        for state in hlo.HeapReplay(trace, sizes).states():
            event = trace.events[state.event]
            if event.kind is not HeapEventKind.FREE:
                ref = self.schedule.find(event.computation, event.instruction)
                order = self.schedule.order(ref) if ref is not None else -1
                if order > position:
                    break
                if order == position and state.size > most:
                    best, most = state.event, state.size
            latest = state.event
        return best if best != NOTHING else latest


def slots(
    allocation: Allocation, trace: HeapTrace | None, stop: int, sizes: Mapping[int, int]
) -> Iterator[Slot]:
    """What is held inside a temporary allocation after event `stop`; slots never overlap."""
    offsets = {a.logical_buffer_id: a.offset for a in allocation.assigned}
    taken: list[tuple[int, int]] = []
    if trace is not None and stop != NOTHING:
        for buffer, ids in _live(trace, stop, sizes):
            offset = offsets.get(buffer, 0)
            taken.append((offset, offset + sizes.get(buffer, 0)))
            yield Slot(offset, sizes.get(buffer, 0), ids, traced=True)
    taken.sort()
    traced = {e.buffer_id for e in trace.events} if trace is not None else set()
    fixed: dict[tuple[int, int], list[int]] = {}
    for assigned in allocation.assigned:
        if assigned.logical_buffer_id not in traced and assigned.size:
            slot = (assigned.offset, assigned.offset + assigned.size)
            fixed.setdefault(slot, []).append(assigned.logical_buffer_id)
    # largest first: a smaller one inside it shares its memory
    for start, end in sorted(fixed, key=lambda slot: (slot[0] - slot[1], slot[0])):
        at = bisect_left(taken, (start, end))
        # what is taken does not overlap, so only the neighbours can be in the way
        if not any(
            start < other_end and other < end for other, other_end in taken[max(at - 1, 0) : at + 1]
        ):
            taken.insert(at, (start, end))
            yield Slot(start, end - start, tuple(fixed[start, end]), traced=False)


def _live(
    trace: HeapTrace, stop: int, sizes: Mapping[int, int]
) -> list[tuple[int, tuple[int, ...]]]:
    """Canonical buffers live after event `stop`, each with its users, the latest live one first."""
    replay = hlo.HeapReplay(trace, sizes).run_to(stop)
    live = set(replay.live)
    freed = {e.buffer_id for e in trace.events[: stop + 1] if e.kind is HeapEventKind.FREE}
    using: dict[int, int] = {}
    for event in trace.events[: stop + 1]:
        if event.kind is not HeapEventKind.FREE and event.buffer_id not in freed:
            using[replay.root(event.buffer_id)] = event.buffer_id
    whole = hlo.HeapReplay(trace, sizes).run_to(len(trace.events) - 1)
    kin: dict[int, dict[int, None]] = {b: {using.get(b, b): None} for b in sorted(live)}
    for event in trace.events:
        root = whole.root(event.buffer_id)
        if root in kin:
            kin[root].setdefault(event.buffer_id)
    return [(buffer, tuple(ids)) for buffer, ids in kin.items()]
