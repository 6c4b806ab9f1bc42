"""Prints how accurate the comparison is: noise, edits with a known truth, real pairs.

Run by `python benchmarks/accuracy.py`; `--help` shows how to run a part of it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.accuracy_edits import (
    edit_cases,
    edits_table,
    named_by_hloscope,
    score_edits,
    total_score,
)
from benchmarks.accuracy_noise import noise_table, score_noise
from benchmarks.accuracy_pairs import pairs_table
from benchmarks.accuracy_text import named_by_text_diff
from benchmarks.pool import modules
from hloscope.model.hlo import Module

RECALL, PRECISION = 0.99, 0.95  # what the tables are held to


def main() -> None:
    """Prints the tables; exit code 1 where a bound is missed."""
    options = _options()
    held = True
    pool = modules(options.corpus, options.platforms)
    print(f"{len(pool)} modules, {sum(m.instruction_count for m in pool.values())} instructions")
    if "noise" in options.parts:
        held &= _timed(lambda: _noise(pool, options))
    if "edits" in options.parts:
        held &= _timed(lambda: _edits(pool, options))
    if "pairs" in options.parts and options.corpus is not None:
        _timed(lambda: _print(pairs_table(options.corpus)))
    sys.exit(0 if held else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rewrites", type=int, default=1000, help="rewrites in the noise table")
    parser.add_argument("--edits", type=int, default=400, help="cases in the edits table")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, default=_corpus(), help="real HLO files")
    parser.add_argument("--platforms", nargs="*", default=("cpu", "tpu"), type=str)
    parser.add_argument("--parts", nargs="*", default=("noise", "edits", "pairs"))
    parser.add_argument("--verbose", action="store_true", help="name the cases that went wrong")
    options = parser.parse_args()
    options.platforms = tuple(options.platforms)
    return options


def _corpus() -> Path | None:
    """Where real HLO lies beside the checkout, on machines that have it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "corpus"
    return folder if folder.is_dir() else None


def _timed(part: Callable[[], bool]) -> bool:
    start = time.perf_counter()
    held = part()
    print(f"({time.perf_counter() - start:.0f} s)\n")
    return held


def _noise(pool: dict[str, Module], options: argparse.Namespace) -> bool:
    score = score_noise(pool, options.rewrites, options.seed)
    _print(noise_table(score, len(pool)))
    if options.verbose:
        _print([f"  wrong: {example}" for example in score.examples])
    return score.false_differences == 0 and score.fingerprints == 0


def _edits(pool: dict[str, Module], options: argparse.Namespace) -> bool:
    cases = edit_cases(pool, options.edits, options.seed)
    quiet = [case for case in cases if not case.noisy]
    noisy = [case for case in cases if case.noisy]
    held = True
    for title, some in (("edits", quiet), ("edits under noise", noisy)):
        ours = score_edits(some, named_by_hloscope)
        _print(edits_table(f"hloscope: {title}", ours))
        if options.verbose:
            _print([f"  {kind}: missed {s.missed} wrong {s.wrong}" for kind, s in ours.items()])
        total = total_score(ours)
        held &= total.recall >= RECALL and total.precision >= PRECISION
        _print(edits_table(f"diff -u: {title}", score_edits(some, named_by_text_diff)))
    return held


def _print(lines: list[str]) -> bool:
    print("\n".join(lines))
    return True


if __name__ == "__main__":
    main()
