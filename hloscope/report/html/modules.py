"""Bytes and FLOPs by module path, as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hloscope.attribute import By, CostGroup, group_delta, group_ledger
from hloscope.model.comparison import Comparison
from hloscope.model.cost import Total
from hloscope.report.numbers import bytes_text, count_text, signed

Path = tuple[str, ...]
Figures = dict[Path, float]
# a module whose share of every quantity is smaller goes into its parent's "others"
_SMALLEST = 0.002
_MOST = 400  # modules
_OTHERS = "(others)"
NO_PATH = "(no module path)"
QUANTITIES = {
    "memory": "device memory at peak",
    "moved": "bytes moved in a step",
    "flops": "FLOPs of a step",
}
SHOWS = {"lhs": "lhs", "rhs": "rhs", "delta": "difference"}


def module_tree(comparison: Comparison) -> dict[str, Any]:
    """Each module's figures, its own and those of what is inside it.

    Of a difference, the size of a module is what grew plus what shrank inside, so that won and lost
    bytes do not hide each other; its text is the balance.
    """
    figures = dict(_figures(comparison))
    sizes = {key: _inclusive({p: abs(v) for p, v in own.items()}) for key, own in figures.items()}
    kept = _kept(sizes.values())
    folded = {key: _folded(own, kept) for key, own in figures.items()}
    paths = sorted({p for own in folded.values() for path in own for p in _prefixes(path)})
    columns = [_column(*key, own, paths) for key, own in folded.items()]
    place = {path: number for number, path in enumerate(paths)}
    return {
        "labels": [path[-1] if path else "all" for path in paths],
        "parents": [place[path[:-1]] if path else -1 for path in paths],
        "paths": ["/".join(path) for path in paths],
        "columns": columns,
        "quantities": {key: QUANTITIES[key] for key, _ in figures},
        "shows": SHOWS,
    }


def _figures(comparison: Comparison) -> Iterator[tuple[tuple[str, str], Figures]]:
    """Modules' own figures, without those of the modules inside them, by quantity and show."""
    memory, cost = comparison.memory, comparison.cost
    if memory is not None:
        for show, ledger in (("lhs", memory.lhs), ("rhs", memory.rhs)):
            yield ("memory", show), _sum((e.path or (NO_PATH,), e.size) for e in ledger.entries)
        yield ("memory", "delta"), _sum((e.path or (NO_PATH,), e.size) for e in memory.entries)
    groups = {
        "lhs": group_ledger(cost.lhs, By.MODULE),
        "rhs": group_ledger(cost.rhs, By.MODULE),
        "delta": group_delta(cost, By.MODULE),
    }
    for quantity in ("moved", "flops"):
        for show, summed in groups.items():
            yield (quantity, show), _sum((_path(g.key), _known(g, quantity)) for g in summed)


def _known(group: CostGroup, quantity: str) -> float:
    total: Total = group.bytes if quantity == "moved" else group.flops
    return total.known


def _path(key: str) -> Path:
    return (key,) if key.startswith("(") else tuple(key.split("/"))


def _sum(items: Iterable[tuple[Path, float]]) -> Figures:
    sums: Figures = {}
    for path, value in items:
        sums[path] = sums.get(path, 0) + value
    return {path: value for path, value in sums.items() if value}


def _prefixes(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path) + 1))


def _inclusive(own: Mapping[Path, float]) -> Figures:
    sums: Figures = {(): 0}
    for path, value in own.items():
        for prefix in _prefixes(path):
            sums[prefix] = sums.get(prefix, 0) + value
    return sums


def _kept(sizes: Iterable[Figures]) -> set[Path]:
    """The modules worth a place of their own."""
    share: Figures = {}
    for inclusive in sizes:
        whole = inclusive[()] or 1
        for path, size in inclusive.items():
            share[path] = max(share.get(path, 0), size / whole)
    ranked = sorted(share.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
    return {path for path, size in ranked[:_MOST] if size >= _SMALLEST} | {()}


def _folded(own: Mapping[Path, float], kept: set[Path]) -> Figures:
    """Figures of small modules go to `(others)` inside the nearest module that is kept."""
    return _sum((_home(path, kept), value) for path, value in own.items())


def _home(path: Path, kept: set[Path]) -> Path:
    if path in kept:
        return path
    length = next(n for n in range(len(path) - 1, -1, -1) if path[:n] in kept)
    return (*path[:length], _OTHERS)


def _column(quantity: str, show: str, own: Figures, paths: list[Path]) -> dict[str, Any]:
    balance = _inclusive(own)
    size = _inclusive({path: abs(value) for path, value in own.items()})
    text = (lambda count: count_text(count, "FLOP")) if quantity == "flops" else bytes_text
    texts = [text(balance.get(path, 0)) for path in paths]
    return {
        "quantity": quantity,
        "show": show,
        "size": [size.get(path, 0) for path in paths],
        "balance": [balance.get(path, 0) for path in paths],
        "text": [signed(t) for t in texts] if show == "delta" else texts,
    }
