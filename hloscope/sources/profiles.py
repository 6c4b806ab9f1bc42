"""XProf profiles: the modules that ran, and how long each instruction took."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from hloscope.errors import HloscopeError
from hloscope.hlo import read_buffers, read_proto
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.hlo import MeasuredTimes, Module
from hloscope.model.source import Source, SourceKind
from hloscope.sources.choice import Candidate, choose, numbered

_METADATA_PLANE = "/host:metadata"
_DEVICE = "/device:"
_HOST = "/host:CPU"  # where the CPU backend's operations are recorded
_OPS_LINE = "XLA Ops"
_OP, _MODULE = "hlo_op", "hlo_module"
_PICOSECONDS = 1e-12
# an event's name on TPU is the instruction's text
_NAME = re.compile(r"%?([\w.\-]+)")


class Profile(NamedTuple):
    """A profile found in a folder."""

    path: Path
    notes: tuple[str, ...]


def find_profile(folder: Path) -> Profile | None:
    """The `.xplane.pb` of a run folder, or of the only run of a log folder.

    Raises:
      HloscopeError: the log folder has several runs.
    """
    here = sorted([*folder.glob("*.xplane.pb"), *folder.glob("*.xplane.pb.gz")])
    if not here:
        runs = sorted({p.parent for p in folder.glob("plugins/profile/*/*.xplane.pb*")})
        if len(runs) > 1:
            listed = ", ".join(f"'{run.name}'" for run in runs)
            raise HloscopeError(
                f"it holds {len(runs)} profile runs: {listed}",
                where=str(folder),
                remedy=f"give one of them: {runs[0]}",
            )
        here = sorted(runs[0].glob("*.xplane.pb*")) if runs else []
    if not here:
        return None
    rest = len(here) - 1
    notes = (f"'{here[0].name}' was read; the run has {rest} more hosts",) if rest else ()
    return Profile(here[0], notes)


def is_profile(data: bytes) -> bool:
    """Whether `data` is an XSpace."""
    try:
        space = pb.XSpace.FromString(data)
    except DecodeError:
        return False
    return any(plane.name.startswith("/") for plane in space.planes)


def open_profile(path: Path, data: bytes, wanted: str | None) -> Source:
    """The module of a profile, with device times where the profile has device events.

    Raises:
      HloscopeError: the profile is damaged or holds no module, or several could be meant.
    """
    try:
        space = pb.XSpace.FromString(data)
    except DecodeError as error:
        raise HloscopeError(
            f"the profile is damaged: {error}", where=str(path), remedy="copy it again"
        ) from None
    protos = _protos(space)
    if not protos:
        raise HloscopeError(
            "the profile holds no HLO module",
            where=str(path),
            remedy="profile again with a JAX that records HLO protos (0.4.14 or later)",
        )
    names = numbered([name for name, _ in protos])
    candidates = [
        Candidate(name, len(proto), f"{len(proto):,} bytes")
        for name, (_, proto) in zip(names, protos, strict=True)
    ]
    number, note = choose(candidates, wanted, str(path))
    proto = protos[number][1]
    module = read_proto(proto)
    times, time_notes = measured(space, module)
    return Source(
        label=str(path),
        kind=SourceKind.PROFILE,
        module=module,
        buffers=read_buffers(proto),
        proto=proto,
        times=times,
        notes=tuple(filter(None, (note, *time_notes))),
    )


def _protos(space: pb.XSpace) -> list[tuple[str, bytes]]:
    """(name, serialized HloProto) of each module in the metadata plane, by name."""
    found: list[tuple[str, bytes]] = []
    for plane in space.planes:
        if plane.name != _METADATA_PLANE:
            continue
        for _, event in sorted(plane.event_metadata.items()):
            values = [s.bytes_value for s in event.stats if s.WhichOneof("value") == "bytes_value"]
            found += [(event.name, value) for value in values if value]
    return sorted(found)


def measured(space: pb.XSpace, module: Module) -> tuple[MeasuredTimes | None, tuple[str, ...]]:
    """Time per instruction of `module`, of the first device that ran it."""
    names = frozenset(i.name for c in module.computations for i in c.instructions)
    devices = sorted((p for p in space.planes if p.name.startswith(_DEVICE)), key=lambda p: p.name)
    hosts = [p for p in space.planes if p.name == _HOST]
    found = [(plane, times) for plane in devices if (times := _plane(plane, module.name, names))]
    if not found:
        found = [(plane, times) for plane in hosts if (times := _plane(plane, module.name, names))]
    if not found:
        return None, ("the profile has no device events of this module",)
    plane, events = found[0]
    rest = len(found) - 1
    notes = (f"times are of '{plane.name}', one of {rest + 1} devices",) if rest else ()
    seconds = {name: picoseconds * _PICOSECONDS for name, (picoseconds, _) in events.items()}
    occurrences = {name: count for name, (_, count) in events.items()}
    return MeasuredTimes(seconds=seconds, occurrences=occurrences, source=plane.name), notes


Times = dict[str, tuple[int, int]]


def _plane(plane: pb.XPlane, module: str, names: frozenset[str]) -> Times:
    """Instruction name to (picoseconds, occurrences), by name."""
    stats = {key: value.name for key, value in plane.stat_metadata.items()}
    lines = [line for line in plane.lines if line.name == _OPS_LINE] or list(plane.lines)
    totals: Times = {}
    for line in lines:
        for event in line.events:
            metadata = plane.event_metadata.get(event.metadata_id)
            if metadata is None:
                continue
            name = _instruction(event, metadata, stats, module)
            if name in names:
                time, count = totals.get(name, (0, 0))
                more = event.num_occurrences or 1
                totals[name] = (time + event.duration_ps, count + more)
    return dict(sorted(totals.items()))


def _instruction(
    event: pb.XEvent, metadata: pb.XEventMetadata, stats: Mapping[int, str], module: str
) -> str:
    """The instruction that an event is about, empty where it is about another module."""
    said = _said((*metadata.stats, *event.stats), stats)
    if _MODULE in said and said[_MODULE].partition("(")[0] != module:
        return ""
    if _OP in said:
        return said[_OP]
    match = _NAME.match(metadata.display_name or metadata.name)
    return match[1] if match is not None else ""


def _said(values: Iterable[pb.XStat], stats: Mapping[int, str]) -> dict[str, str]:
    """The texts of the two stats that name an instruction and its module."""
    said: dict[str, str] = {}
    for stat in values:
        name = stats.get(stat.metadata_id, "")
        if name in (_OP, _MODULE):
            kind = stat.WhichOneof("value")
            # a reference points at another stat's name, where the text is kept once
            said[name] = stats.get(stat.ref_value, "") if kind == "ref_value" else stat.str_value
    return said
