from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hloscope import diff, match, normalize
from hloscope.hlo import read_proto, read_text
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import ChangeClass, ModuleDiff, Verdict


def compare(lhs: CanonicalModule, rhs: CanonicalModule) -> ModuleDiff:
    pairing = match.match(lhs, rhs)
    found = diff.compare(lhs, rhs, pairing)
    assert diff.mirrored(found) == diff.compare(rhs, lhs, pairing.mirrored())
    return found


def test_linen_and_nnx_of_gpt3_differ_in_rng_leaves_and_the_step(corpus: Path) -> None:
    name = "module_0000.jit_train_step.after_optimizations.hlo.pb"
    sides = [
        normalize.normalize(
            read_proto((corpus / f"maxtext_aot/gpt3-6b-L4.{s}" / name).read_bytes())
        )
        for s in ("linen", "nnx")
    ]
    found = compare(*sides)
    assert (found.verdict, found.lhs_only) == (Verdict.DIFFERENT, 0)
    heads = [
        (change.classes, instance.rhs_name or "")
        for region in found.regions
        for change in region.heads
        for instance in change.instances
    ]
    kinds = Counter(classes for classes, _ in heads)
    assert kinds[ChangeClass.DTYPE,] == 1
    added = [name for classes, name in heads if classes == (ChangeClass.ADDED,)]
    assert len(added) == len(heads) - 1
    # 30 leaves of rng state, and the constant that the step counts up by in its other dtype
    assert sum("rngs" in name for name in added) == 30
    assert len(added) == 31


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "hlo_diff_result__MatchedDifferentShapeMarkAsChanged",
            # of two operands that commute, either may have been the other type before
            [("parameter.0", (ChangeClass.DTYPE,))],
        ),
        ("hlo_diff_result__UnmatchedInstructionsMarkAsUnmatched", []),
        ("hlo_diff_summary__InstructionDiffWorks", []),
    ],
)
def test_small_published_pairs(
    corpus: Path, name: str, expected: list[tuple[str, tuple[ChangeClass, ...]]]
) -> None:
    sides = [
        normalize.normalize(read_text((corpus / f"hlo_diff_pairs/{name}.{s}.hlo").read_text())[0])
        for s in ("L", "R")
    ]
    found = compare(*sides)
    assert [
        (c.rhs.name, c.classes) for region in found.regions for c in region.heads if c.rhs
    ] == expected
