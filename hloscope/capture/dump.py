"""The files that XLA's dump leaves for one module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hloscope.model.capture import PayloadName

_OPTIMIZED = "after_optimizations.hlo.pb"
# TPU writes this next, once the program was found to fit: a compile stopped between the two would
# hide that the compiler runs out of memory
_FITS = "after_optimizations_after_buffer_assignment.hlo.pb"
_PASS = re.compile(r"\.(?P<name>\d{4,}\..+\.hlo\.pb)$")

# payload -> end of the file's name; CPU and GPU put the platform before `after_optimizations`
_FILES = {
    PayloadName.BEFORE_OPTIMIZATIONS: ".before_optimizations.hlo.pb",
    PayloadName.OPTIMIZED: _OPTIMIZED,
    PayloadName.MEMORY_REPORT: "after_optimizations-memory-usage-report.txt",
    PayloadName.LIVE_RANGE: "after_optimizations-live-range.txt",
}

# field numbers of HloProto, xla/service/hlo.proto
_HLO_MODULE = 1
_BUFFER_ASSIGNMENT = 3
_LENGTH_DELIMITED = 2
_LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump's folder and the name of the module to look for; others may lie there too."""

    folder: Path
    module: str

    def is_complete(self, *, platform: str) -> bool:
        """Whether optimized HLO and buffer assignment are whole, and the program fits."""
        if not self.has_optimized():
            return False
        return platform != "tpu" or self._find(_FITS) is not None

    def has_optimized(self) -> bool:
        """Whether optimized HLO and buffer assignment are there and whole."""
        optimized = self._find(_OPTIMIZED)
        return optimized is not None and is_whole(optimized)

    def payloads(self) -> dict[str, bytes]:
        """What a capture keeps of the dump, by payload name."""
        found = {name: self._find(ending) for name, ending in _FILES.items()}
        kept = {name: path.read_bytes() for name, path in found.items() if path is not None}
        optimized = found[PayloadName.OPTIMIZED]
        if optimized is not None:
            kept |= self._passes(optimized.stat().st_mtime_ns)
        return kept

    def _passes(self, until: int) -> dict[str, bytes]:
        """Modules after each pass, as far as they were written when the optimized HLO was.

        Later ones belong to code generation, and the last of them may be half written.
        """
        return {
            PayloadName.PASSES + name["name"]: path.read_bytes()
            for path in sorted(self._files())
            if (name := _PASS.search(path.name)) and path.stat().st_mtime_ns <= until
        }

    def _find(self, ending: str) -> Path | None:
        return next((path for path in sorted(self._files()) if path.name.endswith(ending)), None)

    def _files(self) -> Iterator[Path]:
        return self.folder.glob(f"module_*.{self.module}.*")


def is_whole(path: Path) -> bool:
    """Whether a file is a complete HloProto with a module and a buffer assignment.

    Looks at the outermost fields alone: each says its length, so a file that is still being
    written ends inside a field or lacks the last one.
    """
    fields = set()
    with path.open("rb") as file:
        size = file.seek(0, 2)
        place = 0
        while place < size:
            file.seek(place)
            head = file.read(2 * _LONGEST_VARINT)
            tag, tag_end = _varint(head, 0)
            length, length_end = _varint(head, tag_end)
            if length_end == 0 or tag & 7 != _LENGTH_DELIMITED:
                return False
            fields.add(tag >> 3)
            place += length_end + length
    return place == size and {_HLO_MODULE, _BUFFER_ASSIGNMENT} <= fields


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """A base-128 number and where it ends; the end is 0 where the data ends first."""
    value = 0
    for position in range(start, min(len(data), start + _LONGEST_VARINT)):
        value |= (data[position] & 0x7F) << 7 * (position - start)
        if data[position] < 0x80:
            return value, position + 1
    return 0, 0
