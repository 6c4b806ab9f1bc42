"""The memory ledger of one side as it was read."""

from __future__ import annotations

from hloscope.attribute.memory_ledger import memory_ledger
from hloscope.attribute.module_path import ModulePaths
from hloscope.attribute.source_paths import source_paths
from hloscope.errors import HloscopeError
from hloscope.model.ledger import MemoryLedger
from hloscope.model.source import Source
from hloscope.model.units import Measured


def source_memory(
    source: Source, *, space: int = 0, at: str | None = None, paths: ModulePaths | None = None
) -> MemoryLedger:
    """Accounts for all memory of one side; see `memory_ledger`.

    Args:
      source: the side.
      space: XLA's memory space; 0 is device memory.
      at: an instruction's name; `None` for the peak.
      paths: the side's module paths, from `source_paths`; `None` works them out.

    Raises:
      HloscopeError: the side has no buffer assignment, or `at` names no instruction.
    """
    if source.buffers is None:
        raise HloscopeError(
            f"'{source.label}' has no buffer assignment, so its memory is unknown",
            remedy="give a capture, or the *after_optimizations.hlo.pb that --xla_dump_to and "
            "--xla_dump_hlo_as_proto write",
        )
    capture = source.capture
    known = capture is not None and isinstance(capture.memory.temp, Measured)
    return memory_ledger(
        source.module,
        source.buffers,
        space=space,
        at=at,
        figures=capture.memory if capture is not None and known else None,
        inputs=capture.inputs if capture is not None else (),
        outputs=capture.outputs if capture is not None else (),
        paths=paths or source_paths(source),
    )
