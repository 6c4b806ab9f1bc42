"""From what the user typed to a side that is read."""

from __future__ import annotations

import filecmp
import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from hloscope.errors import HloscopeError
from hloscope.model.capture import Depth
from hloscope.model.source import Source
from hloscope.pipeline.collector import collector_paused

# what one child may need while both sides compile at once; twice that has to be free
CHILD_MEMORY = 4 << 30

_PROGRAM = re.compile(r"[\w.-]+:[A-Za-z_]")
# a mistyped name of a file that has a colon in it is no program
_FILE_SUFFIXES = frozenset({".hlo", ".txt", ".pb", ".hloscope", ".gz", ".zst", ".json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """How sides are opened.

    Attributes:
      target: for sides that are programs; `None` where none is given.
      module: which module of a source that has several.
      depth: how far programs are compiled.
      xla_flags: compile options for sides that are programs.
      packages: requirements, `jax==0.11.2`, that a side that is a program is captured with.
      cache: whether captures may come from, and go to, the cache.
      timeout: seconds that one compile may take, `None` for no limit.
      progress: told (side's spec, name of the step that begins).
      cancelled: once set, compiles are given up.
    """

    target: str | None = None
    module: str | None = None
    depth: Depth = Depth.HLO
    xla_flags: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    cache: bool = True
    timeout: float | None = None
    progress: Callable[[str, str], None] = lambda _side, _step: None
    cancelled: threading.Event = field(default_factory=threading.Event)


def open_source(spec: str, options: OpenOptions = OpenOptions()) -> Source:
    """Opens one side: an existing file or folder, otherwise a program to compile.

    Raises:
      HloscopeError: if the spec names neither, or reading or compiling fails.
    """
    path = Path(spec)
    if is_file(spec):
        if options.packages:
            raise HloscopeError(
                f"'{spec}' is a file, and is read as it is",
                where=f"--with {options.packages[0]}",
                remedy="other packages are for programs",
            )
        return _open_path(path, options)
    if not _PROGRAM.match(spec) or path.suffix in _FILE_SUFFIXES:
        raise HloscopeError(
            f"'{spec}' is neither a file nor a program",
            remedy="a capture, HLO file, dump folder, or a program such as gpt3-tiny:nnx "
            "(hloscope programs lists them)",
        )
    return _compile(spec, options)


def is_file(spec: str) -> bool:
    """Whether a side is read rather than compiled."""
    try:
        return Path(spec).exists()
    except OSError:  # longer than any file's name, as a spec with many options may be
        return False


def open_pair(
    lhs: str,
    rhs: str,
    options: OpenOptions = OpenOptions(),
    rhs_options: OpenOptions | None = None,
) -> tuple[Source, Source]:
    """Opens both sides, at once where there is memory for two compiles.

    Args:
      lhs: the baseline.
      rhs: the candidate.
      options: how both are opened.
      rhs_options: how rhs is opened, where that differs.

    Raises:
      HloscopeError: as `open_source`; the other side's compile is then given up.
    """
    sides = ((lhs, options), (rhs, rhs_options or options))
    if sides[0] == sides[1]:
        source = open_source(lhs, options)
        return source, source
    if is_file(lhs) and is_file(rhs):
        return _open_files(sides)
    if psutil.virtual_memory().available < 2 * CHILD_MEMORY:
        left, right = (open_source(*side) for side in sides)
        return left, right
    pool = ThreadPoolExecutor(2)
    try:
        running = [pool.submit(open_source, *side) for side in sides]
        wait(running, return_when=FIRST_EXCEPTION)
        return running[0].result(), running[1].result()
    except BaseException:  # Ctrl-C reaches this thread alone, and the other side must not go on
        for _, each in sides:
            each.cancelled.set()
        raise
    finally:
        pool.shutdown()


def _open_files(
    sides: tuple[tuple[str, OpenOptions], tuple[str, OpenOptions]],
) -> tuple[Source, Source]:
    """One after the other, as two readers gain nothing beside each other; equal files once."""
    (lhs, options), (rhs, rhs_options) = sides
    left = open_source(lhs, options)
    both = Path(lhs).is_file() and Path(rhs).is_file() and options == rhs_options
    if both and filecmp.cmp(lhs, rhs, shallow=False):
        return left, replace(left, label=str(Path(rhs)))
    return left, open_source(rhs, rhs_options)


def _open_path(path: Path, options: OpenOptions) -> Source:
    from hloscope import sources, store

    with collector_paused():
        if store.is_capture(path):
            return sources.from_capture(store.read(path), label=str(path))
        return sources.open_file(path, module=options.module)


def _compile(spec: str, options: OpenOptions) -> Source:
    from hloscope import sources, store
    from hloscope.capture import capture_spec

    if options.target is None:
        raise HloscopeError(
            f"program '{spec}' needs a target to be compiled for",
            remedy="--target tpu:v5p:2x2x2 (hloscope targets lists them)",
        )
    label = " ".join((spec, *(("with", *options.packages) if options.packages else ())))
    taken = capture_spec(
        spec,
        options.target,
        depth=options.depth,
        xla_flags=options.xla_flags,
        timeout=options.timeout,
        packages=options.packages,
        cache=store.user_cache() if options.cache else None,
        progress=lambda step: options.progress(label, step),
        cancelled=options.cancelled,
    )
    return sources.from_capture(taken, label=label)
