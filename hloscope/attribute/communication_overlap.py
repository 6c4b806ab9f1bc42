"""What the schedule runs between the start and the done of a collective."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from hloscope.attribute.communication_find import Site
from hloscope.attribute.cost_users import Graph
from hloscope.model.canonical import Ref
from hloscope.model.communication import Overlap
from hloscope.model.cost import CostEntry, CostLedger
from hloscope.model.units import Maybe, Measured, Missing

_NAMES = 3  # kernels to name; the rest is in the sums
_SYNC = Missing("it is synchronous: nothing runs meanwhile")
_NO_SCHEDULE = Missing("the module has no schedule")
_NO_DONE = Missing("its end is not in the same computation")

During = Callable[[Site], Maybe[Overlap]]


def overlap(graph: Graph, costs: CostLedger) -> During:
    """A function from a collective to the kernels that run while it is under way."""
    kernels: defaultdict[Ref, list[CostEntry]] = defaultdict(list)
    for entry in costs.entries:
        kernels[entry.kernel].append(entry)

    def during(site: Site) -> Maybe[Overlap]:
        if not site.form.is_async:
            return _SYNC
        if not graph.module.is_scheduled:
            return _NO_SCHEDULE
        if site.done is None:
            return _NO_DONE
        between = [Ref(site.schedule, n) for n in range(site.start + 1, site.done)]
        return Measured(_sum([ref for ref in between if kernels.get(ref)], kernels, costs))

    return during


def _sum(refs: Sequence[Ref], kernels: dict[Ref, list[CostEntry]], costs: CostLedger) -> Overlap:
    working = [ref for ref in refs if _known(kernels[ref], "flops") or _moves(kernels[ref])]
    ranked = sorted(working, key=lambda ref: (_weight(ref, kernels, costs), ref))
    timed = [costs.times[ref].seconds for ref in working if ref in costs.times]
    seconds: Maybe[float] = Measured(sum(timed))
    if len(timed) < len(working):
        seconds = Missing("some of the kernels have no time")
    return Overlap(
        kernels=len(working),
        names=tuple(_name(kernels[ref], ref) for ref in ranked[:_NAMES]),
        flops=sum(_known(kernels[ref], "flops") for ref in working),
        device_bytes=sum(_known(kernels[ref], "device_bytes") for ref in working),
        seconds=seconds,
    )


def _weight(ref: Ref, kernels: dict[Ref, list[CostEntry]], costs: CostLedger) -> tuple[float, int]:
    time = costs.times.get(ref)
    return (-time.seconds if time else 0.0, -_moves(kernels[ref]))


def _moves(entries: Sequence[CostEntry]) -> int:
    return _known(entries, "bytes_read") + _known(entries, "bytes_written")


def _known(entries: Sequence[CostEntry], field: str) -> int:
    figures: list[Maybe[int]] = [getattr(entry, field) for entry in entries]
    return sum(figure.value for figure in figures if isinstance(figure, Measured))


def _name(entries: Sequence[CostEntry], ref: Ref) -> str:
    return next((entry.name for entry in entries if entry.ref == ref), "")
