"""What is compiled: a callable with its abstract arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from hloscope.model.showing import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Shown):
    """A program to capture.

    Attributes:
      function: a callable, or what `jax.jit` made of one.
      args: positional arguments, pytrees of `jax.ShapeDtypeStruct` (with shardings) or arrays.
      kwargs: keyword arguments, alike.
      jit_options: keyword arguments of `jax.jit` (`donate_argnums`, `in_shardings`, ...); empty
        where `function` is jitted already.
      context: makes the context that tracing runs under (ambient mesh, logical axis rules).
      name: what reports call the program.
      options: what the factory was asked for, kept in the capture.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    jit_options: Mapping[str, Any] = field(default_factory=dict)
    context: Callable[[], AbstractContextManager[Any]] = nullcontext
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
