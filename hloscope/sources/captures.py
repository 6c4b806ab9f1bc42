"""A capture as a side."""

from __future__ import annotations

from hloscope.errors import HloscopeError
from hloscope.hlo import read_buffers, read_proto
from hloscope.model.capture import Capture, PayloadName
from hloscope.model.source import Source, SourceKind


def from_capture(capture: Capture, *, label: str) -> Source:
    """The modules and the buffer assignment that a capture holds.

    Args:
      capture: with its payloads at hand.
      label: what reports call the side.

    Raises:
      HloscopeError: the capture holds no HLO, or HLO that is damaged.
    """
    payloads = capture.payloads
    optimized = payloads.get(PayloadName.OPTIMIZED)
    before = payloads.get(PayloadName.BEFORE_OPTIMIZATIONS)
    if optimized is None and before is None:
        raise HloscopeError(
            f"capture of '{capture.program}' holds no HLO",
            where=label,
            remedy="capture the program again",
        )
    if optimized is None:
        assert before is not None  # noqa: S101 - the check above
        return Source(
            label=label,
            kind=SourceKind.CAPTURE,
            module=read_proto(before),
            proto=before,
            capture=capture,
            notes=("the capture has no optimized HLO: this is the module before optimization",),
        )
    return Source(
        label=label,
        kind=SourceKind.CAPTURE,
        module=read_proto(optimized),
        before=None if before is None else read_proto(before),
        buffers=read_buffers(optimized),
        proto=optimized,
        capture=capture,
    )
