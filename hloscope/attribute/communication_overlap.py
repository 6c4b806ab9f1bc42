"""What the schedule runs between the start and the done of a collective."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from operator import attrgetter
from typing import NamedTuple

from hloscope.attribute.communication_find import Site
from hloscope.attribute.cost_bodies import Run
from hloscope.attribute.cost_users import Graph
from hloscope.model.canonical import Ref
from hloscope.model.communication import Overlap
from hloscope.model.cost import KernelTime, Quantity
from hloscope.model.units import Maybe, Measured, Missing

_NAMES = 3  # kernels to name; the rest is in the sums
_SYNC = Missing("it is synchronous: nothing runs meanwhile")
_NO_SCHEDULE = Missing("the module has no schedule")
_NO_DONE = Missing("its end is not in the same computation")

During = Callable[[Site], Maybe[Overlap]]


class _Kernel(NamedTuple):
    """What one kernel does in one execution, as far as known.

    Attributes:
      moved: bytes read and written, in any memory.
    """

    number: int
    flops: int
    moved: int
    device_bytes: int
    time: KernelTime | None


def overlap(graph: Graph, runs: Sequence[Run], times: Mapping[Ref, KernelTime]) -> During:
    """A function from a collective to the kernels that run while it is under way."""
    working: dict[int, list[_Kernel]] = {}
    by_position = {run.position: run for run in runs}
    inside = _inside(runs)

    def during(site: Site) -> Maybe[Overlap]:
        if not site.form.is_async:
            return _SYNC
        if not graph.module.is_scheduled:
            return _NO_SCHEDULE
        if site.done is None:
            return _NO_DONE
        if site.schedule not in working:
            working[site.schedule] = list(_working(by_position[site.schedule], inside, times))
        kernels = working[site.schedule]
        first = bisect_right(kernels, site.start, key=_number)
        last = bisect_left(kernels, site.done, key=_number)
        return Measured(_sum(graph, site.schedule, kernels[first:last]))

    return during


_number = attrgetter("number")


def _inside(runs: Sequence[Run]) -> Mapping[Ref, tuple[int, int, int]]:
    """Fusion to the figures of what it holds."""
    found: dict[Ref, tuple[int, int, int]] = {}
    for run in runs:
        if run.kernel is not None:
            flops, moved, device = found.get(run.kernel, (0, 0, 0))
            sums = {quantity: one.known for quantity, one in run.body.sums.items()}
            found[run.kernel] = (
                flops + sums[Quantity.FLOPS],
                moved + sums[Quantity.BYTES_READ] + sums[Quantity.BYTES_WRITTEN],
                device + sums[Quantity.DEVICE_BYTES],
            )
    return found


def _working(
    run: Run, inside: Mapping[Ref, tuple[int, int, int]], times: Mapping[Ref, KernelTime]
) -> Iterator[_Kernel]:
    """The kernels of a schedule that compute or move something, in its order."""
    for row in run.body.rows:
        ref = Ref(run.position, row.number)
        flops, moved, device = inside.get(ref, (0, 0, 0))
        flops += _known(row.work.flops)
        moved += _known(row.work.bytes_read) + _known(row.work.bytes_written)
        if flops or moved:
            device += _known(row.device)
            yield _Kernel(row.number, flops, moved, device, times.get(ref))


def _sum(graph: Graph, schedule: int, kernels: Sequence[_Kernel]) -> Overlap:
    instructions = graph.body(schedule).instructions
    timed = [kernel.time.seconds for kernel in kernels if kernel.time is not None]
    seconds: Maybe[float] = Measured(sum(timed))
    if len(timed) < len(kernels):
        seconds = Missing("some of the kernels have no time")
    return Overlap(
        kernels=len(kernels),
        names=tuple(instructions[k.number].name for k in nsmallest(_NAMES, kernels, key=_weight)),
        flops=sum(kernel.flops for kernel in kernels),
        device_bytes=sum(kernel.device_bytes for kernel in kernels),
        seconds=seconds,
    )


def _weight(kernel: _Kernel) -> tuple[float, int, int]:
    return -kernel.time.seconds if kernel.time else 0.0, -kernel.moved, kernel.number


def _known(figure: Maybe[int]) -> int:
    return figure.value if isinstance(figure, Measured) else 0
