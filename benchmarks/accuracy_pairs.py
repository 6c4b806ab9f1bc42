"""Compares real pairs of modules: how much is paired, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.accuracy_text import changed_lines, without_metadata
from hloscope import diff, match, normalize
from hloscope.hlo import print_module, read_proto, read_text
from hloscope.model.changes import ModuleDiff
from hloscope.model.hlo import Module

_SHOWN = 6  # classes of change in a row


def real_pairs(corpus: Path) -> Iterator[tuple[str, Module, Module]]:
    """Linen and NNX of the same model; one model before and after a compiler upgrade."""
    aot = corpus / "maxtext_aot"
    for linen in sorted(aot.glob("*.linen")):
        nnx = linen.with_suffix(".nnx")
        for stage in ("before", "after"):
            name = f"module_0000.jit_train_step.{stage}_optimizations.hlo.pb"
            if (linen / name).exists() and (nnx / name).exists():
                sides = [read_proto((folder / name).read_bytes()) for folder in (linen, nnx)]
                yield f"{linen.stem} {stage} optimization", sides[0], sides[1]
    texts = corpus / "maxtext"
    for lhs in sorted(texts.glob("*_LINEN.txt")):
        rhs = lhs.with_name(lhs.name.replace("_LINEN", "_NNX"))
        yield f"{lhs.stem.removesuffix('_LINEN')} (published)", _text(lhs), _text(rhs)
    for lhs in sorted(texts.glob("*_libtpu_before.txt")):
        rhs = lhs.with_name(lhs.name.replace("_before", "_after"))
        yield f"{lhs.stem} and after", _text(lhs), _text(rhs)


def _text(path: Path) -> Module:
    return read_text(path.read_text())[0]


def pairs_table(corpus: Path) -> list[str]:
    """The table as lines of text."""
    head = f"{'pair':48} {'instructions':>15} {'paired':>7} {'left':>11} {'causes':>7}"
    lines = [f"{head} {'diff -u':>8}  what is left"]
    for name, lhs, rhs in real_pairs(corpus):
        left, right = normalize.normalize(lhs), normalize.normalize(rhs)
        found = diff.compare(left, right, match.match(left, right))
        lines.append(_row(name, lhs, rhs, found))
    return lines


def _row(name: str, lhs: Module, rhs: Module, found: ModuleDiff) -> str:
    classes = Counter(
        kind.value
        for region in found.regions
        for change in region.heads
        for kind in change.classes
        for _ in change.instances
    )
    share = 2 * found.paired / (found.lhs_instructions + found.rhs_instructions)
    causes = sum(len(c.instances) for region in found.regions for c in region.heads)
    texts = [print_module(without_metadata(module)).splitlines() for module in (lhs, rhs)]
    changed = sum(map(len, changed_lines(*texts)))
    counts = f"{found.lhs_instructions} + {found.rhs_instructions}"
    rest = f"{found.lhs_only} + {found.rhs_only}"
    kinds = ", ".join(f"{number} {kind}" for kind, number in classes.most_common(_SHOWN))
    return f"{name:48} {counts:>15} {share:7.4f} {rest:>11} {causes:7} {changed:8}  {kinds}"
