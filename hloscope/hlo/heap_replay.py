"""Replays heap traces: which buffers hold memory after each event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hloscope.model.buffers import HeapEvent, HeapEventKind, HeapTrace


class HeapState(NamedTuple):
    """The heap after one event.

    Attributes:
      event: position in the trace.
      size: bytes held.
      grown: whether the event took memory.
    """

    event: int
    size: int
    grown: bool


class HeapReplay:
    """One trace, replayed event by event.

    ALLOC takes a buffer's memory, FREE drops one reference to it, SHARE_WITH adds one to the
    canonical buffer, and takes its memory again where it had been given back. Memory is given
    back with the last reference. Source of the rules: `HeapSimulatorTrace` in XLA's hlo.proto.

    Attributes:
      live: canonical buffer to the event that took its memory.
      canonical: shared buffer to its canonical one.
    """

    def __init__(self, trace: HeapTrace, sizes: Mapping[int, int]) -> None:
        self.trace = trace
        self.sizes = sizes
        self.live: dict[int, int] = {}
        self.canonical: dict[int, int] = {}
        self._references: dict[int, int] = {}
        self._size = 0

    def root(self, buffer: int) -> int:
        """The canonical buffer, through shares of shares."""
        while buffer in self.canonical:
            buffer = self.canonical[buffer]
        return buffer

    def states(self) -> Iterator[HeapState]:
        """Replays the trace; `live` and `canonical` hold at each step."""
        for number, event in enumerate(self.trace.events):
            before = self._size
            self._apply(number, event)
            yield HeapState(number, self._size, self._size > before)

    def run_to(self, event: int) -> HeapReplay:
        """Replays up to and with one event."""
        for state in self.states():
            if state.event == event:
                break
        return self

    def _apply(self, number: int, event: HeapEvent) -> None:
        if event.kind is HeapEventKind.SHARE_WITH:
            root = self.root(event.share_with)
            if root != event.buffer_id:
                self.canonical[event.buffer_id] = root
            self._refer(root, number)
        elif event.kind is HeapEventKind.ALLOC:
            self._refer(event.buffer_id, number)
        else:
            self._drop(self.root(event.buffer_id))

    def _refer(self, buffer: int, number: int) -> None:
        count = self._references.get(buffer, 0)
        self._references[buffer] = count + 1
        if count == 0:
            self.live[buffer] = number
            self._size += self.sizes.get(buffer, 0)

    def _drop(self, buffer: int) -> None:
        count = self._references.get(buffer, 0) - 1
        if count < 0:
            return  # freed once more than taken: nothing is held, so nothing is given back
        self._references[buffer] = count
        if count == 0:
            del self.live[buffer]
            self._size -= self.sizes.get(buffer, 0)


def peak(trace: HeapTrace, sizes: Mapping[int, int]) -> HeapState | None:
    """The first instant at which the trace holds most, `None` for an empty trace."""
    best: HeapState | None = None
    for state in HeapReplay(trace, sizes).states():
        if best is None or state.size > best.size:
            best = state
    return best
