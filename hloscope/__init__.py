"""hloscope: is this still the same XLA program, and if not, what does the difference cost?

    taken = hloscope.capture(step, state, batch, target="tpu:v5p:2x2x2")
    diff = hloscope.compare("baseline.hloscope", taken)
    diff.memory.frame()

Importing the package loads neither JAX nor any stage: names are looked up when first used.
`hloscope.capture` is both the room and what it does: the package can be called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hloscope.capture import capture_function as capture  # as type checkers see it
    from hloscope.errors import HloscopeError as HloscopeError
    from hloscope.model.capture import Capture as Capture
    from hloscope.model.program import Program as Program
    from hloscope.model.source import Source as Source
    from hloscope.pipeline.python import communication as communication
    from hloscope.pipeline.python import compare as compare
    from hloscope.pipeline.python import cost as cost
    from hloscope.pipeline.python import memory as memory
    from hloscope.pipeline.python import open as open  # noqa: A004 - read as `hloscope.open`
    from hloscope.pipeline.python import save as save
    from hloscope.report import figures as figures

__version__ = "0.1.0"

# name -> module that has it
_PUBLIC = {
    "Capture": "hloscope.model.capture",
    "HloscopeError": "hloscope.errors",
    "Program": "hloscope.model.program",
    "Source": "hloscope.model.source",
    "communication": "hloscope.pipeline.python",
    "compare": "hloscope.pipeline.python",
    "cost": "hloscope.pipeline.python",
    "memory": "hloscope.pipeline.python",
    "open": "hloscope.pipeline.python",
    "save": "hloscope.pipeline.python",
}
# name -> the module that it is
_MODULES = {"capture": "hloscope.capture", "figures": "hloscope.report.figures"}

# without `open`: `from hloscope import *` must not take Python's own away
__all__ = [
    "Capture",
    "HloscopeError",
    "Program",
    "Source",
    "__version__",
    "capture",
    "communication",
    "compare",
    "cost",
    "figures",
    "memory",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'hloscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})
