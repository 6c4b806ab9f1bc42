"""The order of a module's computations."""

from __future__ import annotations

from hloscope.model.hlo import Computation


def in_call_order(
    computations: tuple[Computation, ...], entry: int | None
) -> tuple[tuple[Computation, ...], int | None]:
    """Callees before callers, the entry last, in the order in which instructions call them.

    XLA's text and its proto of one module order computations differently; this order is the same
    for both. What the entry does not reach comes first, by name.
    """
    callees = [
        [callee for i in c.instructions if i.called for _, callee in i.called] for c in computations
    ]
    reached: list[int] = [] if entry is None else _post_order(entry, callees, set())
    seen = set(reached)
    apart: list[int] = []
    for number in _by_name(computations, callees):
        if number not in seen:
            apart += _post_order(number, callees, seen)
            seen.update(apart)
    order = apart + reached
    if order == list(range(len(computations))):
        return computations, entry
    place = {number: position for position, number in enumerate(order)}
    moved = tuple(_moved(computations[number], place) for number in order)
    return moved, None if entry is None else place[entry]


def _by_name(computations: tuple[Computation, ...], callees: list[list[int]]) -> list[int]:
    """All computations: those that nothing calls first, by name; text and proto have no order."""
    called = {callee for listed in callees for callee in listed}
    return sorted(range(len(computations)), key=lambda n: (n in called, computations[n].name))


def _post_order(start: int, callees: list[list[int]], seen: set[int]) -> list[int]:
    """Computations reached from `start` and not `seen`, callees first."""
    order: list[int] = []
    entered = {start}
    stack = [(start, iter(callees[start]))]
    while stack:
        number, rest = stack[-1]
        for callee in rest:
            if callee not in seen and callee not in entered:
                entered.add(callee)
                stack.append((callee, iter(callees[callee])))
                break
        else:
            order.append(number)
            stack.pop()
    return order


def _moved(computation: Computation, place: dict[int, int]) -> Computation:
    return computation._replace(
        instructions=tuple(
            [
                i._replace(called=tuple((role, place[n]) for role, n in i.called))
                if i.called
                else i
                for i in computation.instructions
            ]
        )
    )
