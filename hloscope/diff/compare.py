"""From a pairing to the ranked list of what differs."""

from __future__ import annotations

from hloscope.diff.fold import Folder
from hloscope.diff.header import header_changes
from hloscope.diff.items import collect
from hloscope.diff.joined import Joined
from hloscope.diff.regions import regions
from hloscope.diff.schedule import schedule_changes
from hloscope.diff.weights import Flops, Trips
from hloscope.diff.writer import Writer
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import HeaderChange, ModuleDiff, Region, ScheduleChange, Verdict
from hloscope.model.pairing import Pairing

# instructions that nothing tells apart can be wired differently all the same
UNNAMED = "the fingerprints differ, yet no single instruction does: wiring among equals differs"


def compare(
    lhs: CanonicalModule,
    rhs: CanonicalModule,
    pairing: Pairing,
    *,
    flops: Flops | None = None,
    trips: Trips | None = None,
) -> ModuleDiff:
    """Everything that differs between two modules, grouped, folded and ranked.

    Args:
      lhs: the baseline.
      rhs: the candidate.
      pairing: who corresponds to whom.
      flops: operations of one run of an instruction; by default a local estimate.
      trips: the trip count of a loop; by default read from the module.

    Returns:
      The diff. `compare(rhs, lhs, pairing.mirrored())` is its mirror (see `mirrored`).
    """
    if lhs.full_fingerprint == rhs.full_fingerprint:
        return _nothing(lhs, rhs, pairing)
    joined = Joined(lhs, rhs, pairing)
    groups = regions(joined, collect(joined))
    found = Writer(joined, flops, trips).regions(Folder(joined).fold_regions(groups))
    header, schedule = header_changes(joined), schedule_changes(joined)
    return _diff(joined, found, header, schedule)


def _nothing(lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing) -> ModuleDiff:
    same = lhs.module == rhs.module
    return ModuleDiff(
        verdict=Verdict.IDENTICAL if same else Verdict.SAME_GRAPH,
        regions=(),
        header=(),
        schedule=(),
        lhs_instructions=lhs.module.instruction_count,
        rhs_instructions=rhs.module.instruction_count,
        paired=len(pairing.pairs),
        lhs_only=len(pairing.lhs_only),
        rhs_only=len(pairing.rhs_only),
        notes=_notes(lhs, rhs, pairing),
    )


def _diff(
    joined: Joined,
    found: tuple[Region, ...],
    header: tuple[HeaderChange, ...],
    schedule: tuple[ScheduleChange, ...],
) -> ModuleDiff:
    lhs, rhs = joined.lhs.canonical, joined.rhs.canonical
    alike = lhs.graph_fingerprint == rhs.graph_fingerprint
    return ModuleDiff(
        verdict=Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT if alike else Verdict.DIFFERENT,
        regions=found,
        header=header,
        schedule=schedule,
        lhs_instructions=lhs.module.instruction_count,
        rhs_instructions=rhs.module.instruction_count,
        paired=len(joined.pairing.pairs),
        lhs_only=len(joined.pairing.lhs_only),
        rhs_only=len(joined.pairing.rhs_only),
        notes=_notes(lhs, rhs, joined.pairing, *([] if found or header or schedule else [UNNAMED])),
    )


def _notes(
    lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing, *more: str
) -> tuple[str, ...]:
    return tuple(sorted({*lhs.notes, *rhs.notes, *pairing.notes, *more}))
