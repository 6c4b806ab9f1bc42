"""Compiling for targets nobody owns, in a child process, and keeping everything it says.

The package can be called: `hloscope.capture(function, *args, target="tpu:v5e:2x2")` captures a
function, with the user's cache.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from hloscope.capture.identity import CaptureCache
from hloscope.capture.taking import Options, capture_function, capture_spec
from hloscope.capture.targets import is_target, parse_target
from hloscope.model.capture import Capture

__all__ = [
    "CaptureCache",
    "Options",
    "capture_function",
    "capture_spec",
    "is_target",
    "parse_target",
]


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
        store = import_module("hloscope.store")
        return capture_function(
            function, *args, cache=store.user_cache() if cache else None, **options
        )


sys.modules[__name__].__class__ = _Face
