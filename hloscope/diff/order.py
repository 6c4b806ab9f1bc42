"""The order of changes and regions, by what a record says alone, so that mirroring can redo it."""

from __future__ import annotations

from collections.abc import Iterable

from hloscope.model.canonical import Ref
from hloscope.model.changes import Change, HeaderChange, Instance, Place, Region, ScheduleChange

# behind every real place
_NOWHERE = Ref(1 << 62, 0)

Key = tuple[object, ...]


def instance_key(instance: Instance) -> Key:
    """By the earlier of the two places, whichever side it is on; then by name."""
    lhs, rhs = instance.lhs or _NOWHERE, instance.rhs or _NOWHERE
    names = sorted((instance.lhs_name or "", instance.rhs_name or ""))
    return (min(lhs, rhs), max(lhs, rhs), *names, lhs, rhs)


def ordered_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sorted by first place."""
    return tuple(sorted(changes, key=_change_key))


def ordered_regions(regions: Iterable[Region]) -> tuple[Region, ...]:
    """Largest difference in bytes first, then in FLOPs, then most bytes, then first place."""
    return tuple(sorted(regions, key=_region_key))


def ordered_header(changes: Iterable[HeaderChange]) -> tuple[HeaderChange, ...]:
    """Sorted by class and name."""
    return tuple(sorted(changes, key=_header_key))


def ordered_schedule(changes: Iterable[ScheduleChange]) -> tuple[ScheduleChange, ...]:
    """Most moved first, then by name."""
    return tuple(
        sorted(changes, key=lambda c: (-c.moved, min(c.lhs, c.rhs), max(c.lhs, c.rhs), c.lhs))
    )


def _change_key(change: Change) -> Key:
    texts = [_text(change.lhs), _text(change.rhs)]
    return (*instance_key(change.instances[0])[:4], *sorted(texts), *texts)


def _text(place: Place | None) -> tuple[str, ...]:
    """What tells two values of one instruction apart: what makes them and who reads them."""
    return () if place is None else (place.text, *place.operands, *place.users)


def _region_key(region: Region) -> Key:
    return (
        -abs(region.rhs_bytes - region.lhs_bytes),
        -abs(region.rhs_flops - region.lhs_flops),
        # what costs the same on both sides ranks by what it touches
        -max(region.lhs_bytes, region.rhs_bytes),
        *_change_key(region.heads[0]),
    )


def _header_key(change: HeaderChange) -> Key:
    texts = change.lhs or "", change.rhs or ""
    return (change.change_class.value, change.name, min(texts), max(texts), *texts)
