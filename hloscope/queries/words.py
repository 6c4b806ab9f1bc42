"""How analyzers name things."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.hlo import format_shape
from hloscope.model.hlo import Shape

# more names than this say less than their number does
_NAMED = 3


def listed(names: Sequence[str], most: int = _NAMED) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 7 more`."""
    if len(names) <= 1:
        return "".join(names)
    if len(names) <= most:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    kept = most - 1
    return f"{', '.join(names[:kept])} and {len(names) - kept} more"


def array(shape: Shape) -> str:
    """`bf16[8,128]`: a shape without its layout."""
    return format_shape(shape._replace(layout=None))
