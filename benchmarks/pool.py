"""The modules that accuracy is measured on."""

from __future__ import annotations

from pathlib import Path

from benchmarks.programs import compiled_modules
from hloscope.errors import HloscopeError
from hloscope.hlo import read_proto, read_text
from hloscope.model.hlo import Module

# larger ones would dominate the time and add no other kind of graph
MOST_INSTRUCTIONS = 5_000
FEWEST_INSTRUCTIONS = 20


def modules(corpus: Path | None, platforms: tuple[str, ...]) -> dict[str, Module]:
    """Modules by name: compiled here, and those of the corpus that are whole."""
    pool = {
        name: read_proto(path.read_bytes()) for name, path in compiled_modules(platforms).items()
    }
    if corpus is not None:
        pool.update(_corpus_modules(corpus))
    return pool


def _corpus_modules(corpus: Path) -> dict[str, Module]:
    found: dict[str, Module] = {}
    for path in sorted(corpus.rglob("*")):
        name = str(path.relative_to(corpus))
        if path.name.endswith(".pb") and "hlo" in path.name:
            found[name] = read_proto(path.read_bytes())
        elif path.suffix in (".hlo", ".txt") and "parser" not in path.parts:
            found.update(_texts(name, path))
    return {name: module for name, module in found.items() if _fits(module)}


def _texts(name: str, path: Path) -> dict[str, Module]:
    try:
        read = read_text(path.read_text())
    except HloscopeError:
        return {}  # a report that lies beside the HLO
    return {f"{name}#{number}": module for number, module in enumerate(read)}


def _fits(module: Module) -> bool:
    """Whole, of a size that is worth editing and quick to compare."""
    size = module.instruction_count
    return module.entry is not None and FEWEST_INSTRUCTIONS <= size <= MOST_INSTRUCTIONS
