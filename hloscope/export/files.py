"""What an export consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one export.

    Attributes:
      contents: path inside the export's folder (`/` between) to bytes; the one key `""` where the
        export is a single file.
      opens_with: what to type next, with `{out}` for where the export went.
      notes: what the export leaves out, one sentence each.
    """

    contents: Mapping[str, bytes]
    opens_with: str
    notes: tuple[str, ...] = ()
