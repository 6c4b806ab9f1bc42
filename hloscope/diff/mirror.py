"""The same diff seen from the other side."""

from __future__ import annotations

from dataclasses import replace

from hloscope.diff.order import (
    instance_key,
    ordered_changes,
    ordered_header,
    ordered_regions,
    ordered_schedule,
)
from hloscope.model.changes import (
    Change,
    ChangeClass,
    FieldChange,
    HeaderChange,
    Instance,
    ModuleDiff,
    Region,
    ScheduleChange,
)

_OTHER = {ChangeClass.ADDED: ChangeClass.REMOVED, ChangeClass.REMOVED: ChangeClass.ADDED}


def mirrored(diff: ModuleDiff) -> ModuleDiff:
    """What `compare` says with the sides exchanged."""
    return replace(
        diff,
        regions=ordered_regions(_region(region) for region in diff.regions),
        header=ordered_header(_header(change) for change in diff.header),
        schedule=ordered_schedule(
            ScheduleChange(c.rhs, c.lhs, c.moved, c.first[::-1]) for c in diff.schedule
        ),
        lhs_instructions=diff.rhs_instructions,
        rhs_instructions=diff.lhs_instructions,
        lhs_only=diff.rhs_only,
        rhs_only=diff.lhs_only,
    )


def _region(region: Region) -> Region:
    return replace(
        region,
        heads=ordered_changes(_change(change) for change in region.heads),
        followers=ordered_changes(_change(change) for change in region.followers),
        classes=_classes(region.classes),
        lhs_bytes=region.rhs_bytes,
        rhs_bytes=region.lhs_bytes,
        lhs_flops=region.rhs_flops,
        rhs_flops=region.lhs_flops,
    )


def _change(change: Change) -> Change:
    return replace(
        change,
        classes=_classes(change.classes),
        lhs=change.rhs,
        rhs=change.lhs,
        fields=tuple(FieldChange(f.change_class, f.name, f.rhs, f.lhs) for f in change.fields),
        instances=tuple(sorted((_turned(i) for i in change.instances), key=instance_key)),
    )


def _header(change: HeaderChange) -> HeaderChange:
    return replace(
        change,
        lhs=change.rhs,
        rhs=change.lhs,
        parameter=change.parameter and _turned(change.parameter),
        output=change.output and _turned(change.output),
    )


def _turned(instance: Instance) -> Instance:
    return Instance(instance.rhs, instance.lhs, instance.rhs_name, instance.lhs_name)


def _classes(classes: tuple[ChangeClass, ...]) -> tuple[ChangeClass, ...]:
    order = list(ChangeClass)
    return tuple(sorted((_OTHER.get(kind, kind) for kind in classes), key=order.index))
