"""Compiling for targets nobody owns, in a child process, and keeping everything it says.

The package can be called: `hloscope.capture(function, *args, target="tpu:v5e:2x2")` captures a
function, with the user's cache.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hloscope.capture.identity import CaptureCache as CaptureCache
    from hloscope.capture.taking import Options as Options
    from hloscope.capture.taking import capture_function as capture_function
    from hloscope.capture.taking import capture_spec as capture_spec
    from hloscope.capture.targets import is_target as is_target
    from hloscope.capture.targets import parse_target as parse_target
    from hloscope.model.capture import Capture

# looked up when first used: the compiler process needs none of them, and soon needs JAX
_PUBLIC = {
    "CaptureCache": "hloscope.capture.identity",
    "Options": "hloscope.capture.taking",
    "capture_function": "hloscope.capture.taking",
    "capture_spec": "hloscope.capture.taking",
    "is_target": "hloscope.capture.targets",
    "parse_target": "hloscope.capture.targets",
}

__all__ = [
    "CaptureCache",
    "Options",
    "capture_function",
    "capture_spec",
    "is_target",
    "parse_target",
]


def __getattr__(name: str) -> Any:
    try:
        return getattr(import_module(_PUBLIC[name]), name)
    except KeyError:
        raise AttributeError(f"module 'hloscope.capture' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})


class _Face(ModuleType):
    """A package that can be called, since its name is also the name of what it does."""

    def __call__(self, function: Any, *args: Any, cache: bool = True, **options: Any) -> Capture:
        """Captures a function or `Program`; see `capture_function` for the arguments.

        Args:
          function: what to capture.
          args: positional arguments of the function.
          cache: whether the capture may come from, and goes to, the user's cache.
          options: keyword arguments of `capture_function`; `target` is needed.

        Raises:
          HloscopeError: as `capture_function`.
        """
        from hloscope.capture.taking import capture_function

        store = import_module("hloscope.store")
        return capture_function(
            function, *args, cache=store.user_cache() if cache else None, **options
        )


sys.modules[__name__].__class__ = _Face
