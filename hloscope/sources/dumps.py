"""Folders that XLA's dump flags wrote to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

_SUFFIXES = (".hlo.pb", ".hlo_proto.pb", ".hlo", ".hlo.txt", ".txt")
# `module_0000.jit_f.sm_9.0a_gpu_after_optimizations`: the backend's word stands before the stage
_STAGE = re.compile(
    r"(module_\d+)\.(.+?)\."
    r"(?:[\w.\-]*?_)??(before_optimizations|after_optimizations(?:_before_buffer_assignment)?)"
)
# from the most telling stage to the least
_OPTIMIZED = ("after_optimizations", "after_optimizations_before_buffer_assignment")
_BEFORE = "before_optimizations"


class Dump(NamedTuple):
    """One module's files.

    Attributes:
      size: of the file that is read, in bytes.
    """

    name: str
    optimized: Path | None
    before: Path | None
    size: int
    notes: tuple[str, ...]


def find_dumps(folder: Path) -> list[Dump]:
    """The modules of a dump folder in the order of their numbers, or its single HLO files."""
    stages: dict[tuple[str, str], dict[str, list[Path]]] = {}
    single: list[Path] = []
    for path in sorted(folder.iterdir()):
        stem = _stem(path)
        if stem is None or not path.is_file():
            continue
        match = _STAGE.fullmatch(stem)
        if match is not None:
            stages.setdefault((match[1], match[2]), {}).setdefault(match[3], []).append(path)
        elif not stem.startswith("module_") and not path.name.endswith(".txt"):
            single.append(path)
    if not stages:
        return [Dump(_stem(p) or p.name, p, None, p.stat().st_size, ()) for p in single]
    names = [name for _, name in stages]
    return [
        _dump(name if names.count(name) == 1 else f"{number}.{name}", files)
        for (number, name), files in stages.items()
    ]


def _stem(path: Path) -> str | None:
    """The file's name without its HLO suffix, `None` where it has none."""
    name = path.name.removesuffix(".gz")
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return None


def _dump(name: str, stages: dict[str, list[Path]]) -> Dump:
    optimized = _first(stages[stage] for stage in _OPTIMIZED if stage in stages)
    before = _best(stages.get(_BEFORE, ()))
    read = optimized or before
    return Dump(name, optimized, before, read.stat().st_size if read else 0, ())


def _first(groups: Iterable[Sequence[Path]]) -> Path | None:
    return next((_best(group) for group in groups), None)


def _best(paths: Sequence[Path]) -> Path | None:
    """The proto where there is one: it holds more than text does."""
    ranked = sorted(paths, key=lambda p: (not p.name.removesuffix(".gz").endswith(".pb"), p.name))
    return ranked[0] if ranked else None
