"""The edges of a graph in flat arrays, seen from both ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hloscope.model.canonical import Flow, NodeKind

BACK = 1 << 40  # the slot number of a value that a loop carries round

Numbers = NDArray[np.int64]


class Edges:
    """Who reads whom, by which slot.

    Slots are operand positions from 1, 0 where the order is free, below 0 for the roles of called
    computations, `BACK` for what a loop carries round.
    """

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self.count = len(flow.sources)

    @cached_property
    def below(self) -> tuple[Numbers, Numbers, Numbers]:
        """Where each node's operands start (one entry more than nodes), sources, slots."""
        lengths = np.fromiter(map(len, self._flow.sources), np.int64, self.count)
        first = _starts(lengths)
        everyone = chain.from_iterable(self._flow.sources)
        sources = np.fromiter(everyone, np.int64, int(first[-1]))
        slots = np.arange(1, len(sources) + 1) - np.repeat(first[:-1], lengths)
        slots[np.repeat(np.frombuffer(self._flow.commutative, np.uint8) != 0, lengths)] = 0
        return first, sources, slots

    @cached_property
    def above(self) -> tuple[Numbers, Numbers, Numbers]:
        """Where each node's uses start (one entry more than nodes), users in order, slots.

        Looked-through nodes use nothing.
        """
        first, sources, slots = self.below
        users = np.repeat(np.arange(self.count), np.diff(first))
        kept = ~self._silent()[users]
        roots, callers, roles = self._called()
        back = np.array(list(self._flow.back.items()), np.int64).reshape(-1, 2)
        source = np.concatenate((roots, sources[kept], back[:, 1]))
        user = np.concatenate((callers, users[kept], back[:, 0]))
        slot = np.concatenate((roles, slots[kept], np.full(len(back), BACK)))
        # users in order, loops last; of one user's edges the called ones first, as concatenated
        turn = np.concatenate((callers, users[kept], np.full(len(back), self.count)))
        order = np.lexsort((turn, source))
        return _starts(np.bincount(source, minlength=self.count)), user[order], slot[order]

    @cached_property
    def _uses(self) -> tuple[list[int], list[int], list[int]]:
        first, users, slots = self.above
        return first.tolist(), users.tolist(), slots.tolist()

    def uses(self, node: int) -> Iterator[tuple[int, int]]:
        """(user, slot) of each use of a node."""
        first, users, slots = self._uses
        start, end = first[node], first[node + 1]
        return zip(users[start:end], slots[start:end], strict=True)

    def _silent(self) -> NDArray[np.bool_]:
        """Nodes that are looked through: they use nothing themselves."""
        silent: NDArray[np.bool_] = np.frombuffer(self._flow.kinds, np.uint8) == NodeKind.WIRE
        for node in self._flow.called:
            if called_roots(self._flow, node) is None:
                silent[node] = True
        return silent

    def _called(self) -> tuple[Numbers, Numbers, Numbers]:
        found = [
            (root, node, role)
            for node in self._flow.called
            for root, role in called_roots(self._flow, node) or ()
        ]
        flat = np.array(found, np.int64).reshape(-1, 3)
        return flat[:, 0], flat[:, 1], flat[:, 2]


def called_roots(flow: Flow, node: int) -> tuple[tuple[int, int], ...] | None:
    """What the computations called by a node return, each with a slot below 0 for its role.

    `None` for fusions, calls and tuples, which are looked through: they use nothing themselves. A
    loop or a conditional is a use of what it carries and runs.
    """
    kind = flow.kinds[node]
    called = flow.called.get(node, ())
    if kind == NodeKind.WIRE or (kind == NodeKind.WRAPPER and len(called) < 2):
        return None
    if not called:
        return ()
    kinds, sources, wire = flow.kinds, flow.sources, NodeKind.WIRE
    return tuple(
        (returned, -1 - role)
        for role, (_, root) in enumerate(called)
        for returned in (sources[root] if kinds[root] == wire else (root,))
    )


def _starts(lengths: Numbers) -> Numbers:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
