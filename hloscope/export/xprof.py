"""A log folder that XProf opens as if the program had been profiled."""

from __future__ import annotations

import re

from hloscope.errors import HloscopeError
from hloscope.export.files import Files
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.source import Source

# where XProf looks for runs, and the plane and stat in which profilers leave the modules that ran:
# `kMetadataPlaneName` and `StatType::kHloProto` of xprof/utils/xplane_schema
RUN = "plugins/profile/{run}/hloscope.xplane.pb"
_PLANE = "/host:metadata"
_STAT = "Hlo Proto"
_NOT_IN_A_NAME = re.compile(r"[^\w.\-]+")


def xprof(side: Source) -> Files:
    """One run with one module: its memory viewer and its graph viewer work, nothing was timed.

    Raises:
      HloscopeError: the side was not read from an HloProto.
    """
    space = pb.XSpace()
    plane = space.planes.add(name=_PLANE)
    plane.stat_metadata[1].id = 1
    plane.stat_metadata[1].name = _STAT
    event = plane.event_metadata[1]
    event.id, event.name = 1, f"{side.module.name}(1)"
    event.stats.add(metadata_id=1, bytes_value=_hlo_proto(side))
    path = RUN.format(run=_NOT_IN_A_NAME.sub("_", side.module.name) or "module")
    notes = () if side.buffers is not None else ("no buffer assignment: no memory viewer",)
    return Files(
        contents={path: space.SerializeToString(deterministic=True)},
        opens_with="xprof --logdir {out}",
        notes=notes,
    )


def _hlo_proto(side: Source) -> bytes:
    """The side's HloProto, made around the module where there is a bare `HloModuleProto`."""
    if side.proto is None:
        raise HloscopeError(
            "XProf reads HLO protos, and this side was read from text",
            where=side.label,
            remedy="give a capture, a profile, or a dump with --xla_dump_hlo_as_proto",
        )
    if side.buffers is not None or pb.HloProto.FromString(side.proto).hlo_module.name:
        return side.proto
    module = pb.HloModuleProto.FromString(side.proto)
    return pb.HloProto(hlo_module=module).SerializeToString(deterministic=True)
