"""Composes the rooms: from what the user typed to what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from hloscope.errors import HloscopeError
from hloscope.model.capture import Depth
from hloscope.model.source import Source

# what one child may need while both sides compile at once; twice that has to be free
_CHILD_MEMORY = 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """How sides are opened.

    Attributes:
      target: for sides that are programs; `None` where none is given.
      module: which module of a source that has several.
      depth: how far programs are compiled.
      xla_flags: compile options for sides that are programs.
      cache: whether captures may come from, and go to, the cache.
      timeout: seconds that one compile may take, `None` for no limit.
    """

    target: str | None = None
    module: str | None = None
    depth: Depth = Depth.HLO
    xla_flags: Mapping[str, str] = field(default_factory=dict)
    cache: bool = True
    timeout: float | None = None


def open_source(spec: str, options: OpenOptions = OpenOptions()) -> Source:
    """Opens one side: an existing file or folder, otherwise a program to compile.

    Raises:
      HloscopeError: if the spec names neither, or reading or compiling fails.
    """
    path = Path(spec)
    if path.exists():
        return _open_path(path, options)
    if ":" not in spec or path.suffix:
        raise HloscopeError(
            f"'{spec}' is neither a file nor a program",
            remedy="a capture, HLO file, dump folder, or a program such as gpt3-tiny:nnx "
            "(hloscope programs lists them)",
        )
    return _compile(spec, options)


def open_pair(
    lhs: str,
    rhs: str,
    options: OpenOptions = OpenOptions(),
) -> tuple[Source, Source]:
    """Opens both sides, at once where there is memory for two compiles."""
    if psutil.virtual_memory().available < 2 * _CHILD_MEMORY:
        return open_source(lhs, options), open_source(rhs, options)
    with ThreadPoolExecutor(2) as pool:
        left = pool.submit(open_source, lhs, options)
        right = pool.submit(open_source, rhs, options)
        return left.result(), right.result()


def _open_path(path: Path, options: OpenOptions) -> Source:
    from hloscope import sources, store

    if store.is_capture(path):
        return sources.from_capture(store.read(path), label=str(path))
    return sources.open_file(path, module=options.module)


def _compile(spec: str, options: OpenOptions) -> Source:
    from hloscope import capture, sources, store

    if options.target is None:
        raise HloscopeError(
            f"program '{spec}' needs a target to be compiled for",
            remedy="--target tpu:v5p:2x2x2 (hloscope targets lists them)",
        )
    taken = capture.capture_spec(
        spec,
        options.target,
        depth=options.depth,
        xla_flags=options.xla_flags,
        timeout=options.timeout,
        cache=store.user_cache() if options.cache else None,
    )
    return sources.from_capture(taken, label=spec)
