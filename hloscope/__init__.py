"""hloscope: is this still the same XLA program, and if not, what does the difference cost?

Importing the package loads neither JAX nor any stage: names are looked up when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hloscope.errors import HloscopeError as HloscopeError
    from hloscope.model.program import Program as Program

__version__ = "0.1.0"

_PUBLIC = {
    "HloscopeError": "hloscope.errors",
    "Program": "hloscope.model.program",
}

__all__ = ["HloscopeError", "Program", "__version__"]


def __getattr__(name: str) -> Any:
    try:
        return getattr(import_module(_PUBLIC[name]), name)
    except KeyError:
        raise AttributeError(f"module 'hloscope' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
