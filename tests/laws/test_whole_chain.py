"""Laws 1, 2 and 6 over normalize, match and diff, on random modules under random rewrites."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.accuracy_edits import heads
from benchmarks.accuracy_noise import false_differences
from benchmarks.draft import freeze, thaw
from benchmarks.edits import EDITS, edit, leaves_a_trace
from benchmarks.made import make_module
from benchmarks.rewrites import disturb, rewrite
from hloscope import diff, match, normalize
from hloscope.model.changes import ModuleDiff, Verdict
from hloscope.model.hlo import Module

ROOT = Path(__file__).resolve().parents[2]

seeds = st.integers(min_value=0, max_value=1 << 20)
sizes = st.integers(min_value=1, max_value=30)
bounded = settings(deadline=None, derandomize=True, max_examples=60)


def compare(lhs: Module, rhs: Module) -> ModuleDiff:
    left, right = normalize.normalize(lhs), normalize.normalize(rhs)
    return diff.compare(left, right, match.match(left, right))


def rng(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - seeded on purpose


def made(seed: int, size: int) -> Module:
    return make_module(rng(seed), size=size)


@bounded
@given(seeds, sizes)
def test_a_diff_with_itself_is_empty(seed: int, size: int) -> None:
    module = made(seed, size)
    found = compare(module, module)
    assert (found.verdict, found.empty) == (Verdict.IDENTICAL, True)
    assert (found.lhs_only, found.rhs_only) == (0, 0)


@bounded
@given(seeds, sizes, seeds)
def test_noise_is_never_reported(seed: int, size: int, noise: int) -> None:
    module = made(seed, size)
    rewritten, kinds = rewrite(module, rng(noise))
    found = compare(module, rewritten)
    rescheduled = module.is_scheduled and "reorder" in kinds
    assert false_differences(found, schedule_counts=not rescheduled) == 0
    if not rescheduled:
        assert found.verdict in (Verdict.IDENTICAL, Verdict.SAME_GRAPH)


@bounded
@given(seeds, sizes, seeds)
def test_noise_leaves_the_fingerprint(seed: int, size: int, noise: int) -> None:
    module = made(seed, size)
    rewritten, _ = rewrite(module, rng(noise))
    prints = {normalize.normalize(m).graph_fingerprint for m in (module, rewritten)}
    assert len(prints) == 1


@bounded
@given(seeds, sizes, seeds, st.sampled_from(sorted(EDITS)), st.booleans())
def test_mirroring_the_sides_mirrors_the_diff(
    seed: int, size: int, edits: int, kind: str, noisy: bool
) -> None:
    module = made(seed, size)
    draft, _ = thaw(module)
    assume(edit(draft, rng(edits), kind) is not None)
    if noisy:
        disturb(draft, rng(edits))
    changed, _ = freeze(draft)
    assert diff.mirrored(compare(module, changed)) == compare(changed, module)


@bounded
@given(seeds, sizes, seeds, sizes)
def test_mirroring_holds_for_programs_that_share_nothing(
    seed: int, size: int, other: int, other_size: int
) -> None:
    lhs, rhs = made(seed, size), made(other, other_size)
    assert diff.mirrored(compare(lhs, rhs)) == compare(rhs, lhs)


@bounded
@given(seeds, sizes, seeds, st.sampled_from(sorted(EDITS)))
def test_every_edit_is_found(seed: int, size: int, edits: int, kind: str) -> None:
    module = made(seed, size)
    draft, old = thaw(module)
    truth = edit(draft, rng(edits), kind)
    assume(truth is not None and leaves_a_trace(thaw(module)[0], draft))
    assert truth is not None
    changed, new = freeze(draft)
    named = heads(compare(module, changed))
    places = {new.get(n) for n in truth.nodes} | {("lhs", old.get(n)) for n in truth.nodes}
    assert any(
        n.rhs in places or ("lhs", n.lhs) in places or n.header in truth.header for n in named
    )


_CHILD = """
import hashlib, json, sys
from random import Random
from benchmarks.draft import freeze, thaw
from benchmarks.edits import edit
from benchmarks.made import make_module
from hloscope import diff, match, normalize
from hloscope.report.plain import plain
out = []
for seed in range(8):
    module = make_module(Random(seed), size=25)
    draft, _ = thaw(module)
    edit(draft, Random(seed), "duplicate a subgraph")
    edit(draft, Random(seed), "change an opcode")
    sides = [normalize.normalize(m) for m in (module, freeze(draft)[0])]
    out.append(plain(diff.compare(*sides, match.match(*sides))))
print(json.dumps(out))
"""


def test_same_input_same_bytes_out_in_every_process() -> None:
    outputs = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", _CHILD], env=environment, capture_output=True, check=True
        )
        outputs.add(run.stdout)
    (text,) = outputs
    assert all(entry["regions"] for entry in json.loads(text))
