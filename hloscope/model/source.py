"""One side of a comparison, read from whatever the user gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hloscope.model.buffers import BufferAssignment
from hloscope.model.capture import Capture
from hloscope.model.hlo import MeasuredTimes, Module
from hloscope.model.showing import Shown

if TYPE_CHECKING:
    import pandas as pd


class SourceKind(StrEnum):
    """Where a side was read from."""

    CAPTURE = "capture"
    TEXT = "hlo text"
    PROTO = "hlo proto"
    DUMP = "xla dump"
    PROFILE = "xprof profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Shown):
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

    def shown_title(self) -> str:
        """What stands above the fields."""
        return f"{self.label} ({self.kind})"

    def shown_tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """What there is of it, then the capture where it is one."""
        yield self.shown_title(), self.frame().query("field not in ('label', 'kind')")
        if self.capture is not None:
            yield from self.capture.shown_tables()
