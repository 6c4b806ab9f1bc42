"""Counts differences that are reported where there is none but noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from benchmarks.rewrites import rewrite
from hloscope import diff, match, normalize
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import ModuleDiff
from hloscope.model.hlo import Module


@dataclass(slots=True)
class NoiseScore:
    """What came of many rewrites.

    Attributes:
      applied: how often each kind of noise was part of a rewrite.
      wrong: how often such a rewrite led to a false difference.
      false_differences: changes reported in all.
      fingerprints: rewrites after which the fingerprint was another one, names kept.
      examples: (module, seed, kinds of noise) of the first failures.
    """

    rewrites: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    false_differences: int = 0
    fingerprints: int = 0
    examples: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)


def score_noise(modules: Mapping[str, Module], count: int, seed: int) -> NoiseScore:
    """Rewrites the modules in turn, `count` times in all, and compares each with its original."""
    score = NoiseScore()
    names = sorted(modules)
    for position, name in enumerate(names):
        original = normalize.normalize(modules[name])
        for number in range(position, count, len(names)):
            _score_one(score, name, original, f"{seed}/{number}")
    return score


def _score_one(score: NoiseScore, name: str, original: CanonicalModule, seed: str) -> None:
    module, kinds = rewrite(original.module, Random(seed))  # noqa: S311 - seeded on purpose
    rewritten = normalize.normalize(module)
    found = diff.compare(original, rewritten, match.match(original, rewritten))
    # reordering a scheduled module is another schedule of the same graph, and is reported as such
    rescheduled = module.is_scheduled and "reorder" in kinds
    false = false_differences(found, schedule_counts=not rescheduled)
    prints = [
        (m.graph_fingerprint, rescheduled or m.full_fingerprint) for m in (original, rewritten)
    ]
    # parameters that are alike are told apart by name, without names by number: a module whose
    # parameters lost their names is compared, but has a fingerprint of its own
    other = "strip metadata" not in kinds and prints[0] != prints[1]
    score.rewrites += 1
    score.applied.update(kinds)
    score.false_differences += false
    score.fingerprints += other
    if false or other:
        score.wrong.update(kinds)
        score.examples.append((name, seed, kinds))


def false_differences(found: ModuleDiff, *, schedule_counts: bool) -> int:
    """Changes reported, at all their places."""
    places = sum(
        len(change.instances)
        for region in found.regions
        for change in (*region.heads, *region.followers)
    )
    return places + len(found.header) + (len(found.schedule) if schedule_counts else 0)


def noise_table(score: NoiseScore, module_count: int) -> list[str]:
    """The table as lines of text."""
    lines = [f"{'noise':30} {'rewrites':>9} {'wrong':>6}"]
    lines += [
        f"{kind:30} {score.applied[kind]:9} {score.wrong[kind]:6}" for kind in sorted(score.applied)
    ]
    lines.append(
        f"{score.rewrites} rewrites of {module_count} modules: {score.false_differences} false "
        f"differences, {score.fingerprints} fingerprints that changed"
    )
    return lines
