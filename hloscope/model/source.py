"""One side of a comparison, read from whatever the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hloscope.model.buffers import BufferAssignment
from hloscope.model.capture import Capture
from hloscope.model.hlo import MeasuredTimes, Module


class SourceKind(StrEnum):
    """Where a side was read from."""

    CAPTURE = "capture"
    TEXT = "hlo text"
    PROTO = "hlo proto"
    DUMP = "xla dump"
    PROFILE = "xprof profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A side as read.

    Attributes:
      label: what reports call the side; the spec or the file's name.
      module: the most optimized module that the source has.
      before: the module before optimization, where the source has it.
      buffers: `module`'s buffer assignment, where the source has it.
      capture: set where the source is a capture.
      proto: the serialized proto that `module` was read from, where it was one.
      times: device times, where the source is a profile that has device events.
      notes: what the reader skipped or chose, one sentence each.
    """

    label: str
    kind: SourceKind
    module: Module
    before: Module | None = None
    buffers: BufferAssignment | None = None
    proto: bytes | None = None
    capture: Capture | None = None
    times: MeasuredTimes | None = None
    notes: tuple[str, ...] = ()
