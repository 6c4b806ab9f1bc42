"""The pipeline as Python code calls it: sides may be objects as well as specs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from hloscope import attribute
from hloscope.capture import parse_target
from hloscope.errors import HloscopeError
from hloscope.model.capture import Capture
from hloscope.model.communication import CommunicationLedger
from hloscope.model.comparison import Comparison
from hloscope.model.cost import CostLedger
from hloscope.model.ledger import MemoryLedger
from hloscope.model.program import Program
from hloscope.model.source import Source
from hloscope.model.target import Target
from hloscope.pipeline.comparing import account_of, common_target
from hloscope.pipeline.comparing import compare as compare_sources
from hloscope.pipeline.opening import OpenOptions, open_pair, open_source

Side: TypeAlias = Source | Capture | Program | str | os.PathLike[str]
"""A side read already, a capture, a program to compile, or what the command line takes."""


def open(side: Side, *, target: str | None = None, **options: Any) -> Source:  # noqa: A001 - `hloscope.open`
    """Opens one side.

    Args:
      side: a `Source`, which is given back, a `Capture`, a `Program`, the path of a capture, HLO
        file, dump folder or profile, or a program's spec (`gpt3-6b:nnx?layers=4`).
      target: what a program is compiled for, `tpu:v5p:2x2x2`.
      options: other fields of `OpenOptions`, as `module="jit_step"` or `cache=False`.

    Raises:
      HloscopeError: `side` is nothing of that, or reading or compiling fails.
    """
    chosen = OpenOptions(target=target, **options)
    match side:
        case Source():
            return side
        case Capture():
            return _of_capture(side)
        case Program():
            return _of_capture(_captured(side, chosen))
        case str() | os.PathLike():
            return open_source(os.fspath(side), chosen)
    raise HloscopeError(
        f"a {type(side).__name__} is no side: {side!r:.80}",
        remedy="a path, a program's spec, a Capture, a Source or a Program; "
        "hloscope.capture(function, *args, target=...) makes a Capture of a function",
    )


def compare(lhs: Side, rhs: Side, *, target: str | None = None, **options: Any) -> Comparison:
    """Compares two sides; every delta is rhs - lhs.

    Args:
      lhs: the baseline, anything that `open` takes.
      rhs: the candidate, alike.
      target: what programs are compiled for.
      options: as of `open`.

    Raises:
      HloscopeError: as `open`.
    """
    if isinstance(lhs, str) and isinstance(rhs, str):
        return compare_sources(*open_pair(lhs, rhs, OpenOptions(target=target, **options)))
    left, right = (open(side, target=target, **options) for side in (lhs, rhs))
    return compare_sources(left, right)


def memory(
    side: Side, *, space: int = 0, at: str | None = None, target: str | None = None, **options: Any
) -> MemoryLedger:
    """Accounts for every byte that one side holds.

    Args:
      side: anything that `open` takes.
      space: XLA's memory space; 0 is device memory.
      at: an instruction's name; `None` for the peak.
      target: what a program is compiled for.
      options: as of `open`.

    Raises:
      HloscopeError: as `open`; or the side has no buffer assignment, or `at` is no instruction.
    """
    return attribute.source_memory(open(side, target=target, **options), space=space, at=at)


def cost(side: Side, *, target: str | None = None, **options: Any) -> CostLedger:
    """Accounts for FLOPs, bytes moved and estimated time of one step on one device.

    Args:
      side: anything that `open` takes.
      target: what a program is compiled for; for a side that names no target, the one whose peak
        rates times rest on.
      options: as of `open`.

    Raises:
      HloscopeError: as `open`.
    """
    source = open(side, target=target, **options)
    return account_of(source, _target_of(source, target)).cost


def communication(side: Side, *, target: str | None = None, **options: Any) -> CommunicationLedger:
    """Accounts for every collective and every byte sent in one step.

    Args:
      side: anything that `open` takes.
      target: as of `cost`.
      options: as of `open`.

    Raises:
      HloscopeError: as `open`.
    """
    source = open(side, target=target, **options)
    return account_of(source, _target_of(source, target)).communication


def save(capture: Capture, path: str | os.PathLike[str]) -> None:
    """Writes a capture to a file, which `open` reads; the same capture gives the same bytes.

    Raises:
      HloscopeError: the file cannot be written.
    """
    from hloscope import store

    store.write(capture, Path(path))


def _target_of(source: Source, target: str | None) -> Target | None:
    return parse_target(target) if target is not None else common_target(source, source)


def _of_capture(capture: Capture) -> Source:
    from hloscope import sources

    return sources.from_capture(capture, label=capture.program)


def _captured(program: Program, options: OpenOptions) -> Capture:
    from hloscope import store
    from hloscope.capture import capture_function

    if options.target is None:
        raise HloscopeError(
            f"program '{program.name or program.function!r:.80}' needs a target",
            remedy='target="tpu:v5p:2x2x2" (hloscope targets lists them)',
        )
    return capture_function(
        program,
        target=options.target,
        depth=options.depth,
        xla_flags=options.xla_flags,
        timeout=options.timeout,
        cache=store.user_cache() if options.cache else None,
        progress=lambda step: options.progress(program.name, step),
        cancelled=options.cancelled,
    )
