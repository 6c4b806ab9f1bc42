"""What one side takes that the other does not, or takes in another form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    DeltaEntry,
    DeltaKind,
    Direction,
    Evidence,
    Finding,
    Leaf,
    LeafChange,
    Remedy,
    Specificity,
    argument_pairs,
    as_written_alike,
    direction_of,
    every_entry,
    input_changes,
    listed,
    memory_entries,
    state_path,
)

# names of what is state and no weight, in the order in which they are tried
_KINDS = (
    ("rng state", frozenset({"rngs", "rng", "key", "keys", "prng", "dropout_rng", "rng_key"})),
    ("counters", frozenset({"count", "counter", "step", "steps", "iteration", "epoch"})),
    ("caches", frozenset({"cache", "caches", "cached_key", "cached_value", "kv_cache"})),
    ("optimizer state", frozenset({"opt_state", "optimizer", "mu", "nu", "trace"})),
    ("batch statistics", frozenset({"batch_stats", "mean", "var"})),
)
_KEY = "key<"  # how JAX names the dtype of a typed rng key
_SHOWN = 5  # leaves named one by one
# what is computed from arrays of other sizes grows by no more than this power of how they grow:
# attention scores by the square of the sequence
_POWER = 2
_SLACK = 1.02  # tiles, and what a fusion more or less moves
# bits of a dtype's name
_BITS = {
    "bool": 1, "pred": 1, "int4": 4, "uint4": 4, "bfloat16": 16, "bf16": 16, "float16": 16,
    "f16": 16, "int8": 8, "uint8": 8, "s8": 8, "u8": 8, "float32": 32, "f32": 32, "int32": 32,
    "uint32": 32, "s32": 32, "u32": 32, "float64": 64, "f64": 64, "int64": 64, "uint64": 64,
    "s64": 64, "u64": 64, "complex64": 64, "complex128": 128,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(Analyzer):
    """The two programs do not take the same arguments.

    What it sees: leaves of one side alone, by kind: rng streams, counters, caches, optimizer state
    (INP001); leaves that are passed on both sides and that one of the programs does not use, so
    that the compiler drops them (INP002); leaves that both have in another dtype (INP003), of
    another shape (INP004), or weakly typed on one side (INP005).

    Why it costs: every argument holds memory for the whole step, and a small one at least a tile; a
    wider dtype carries through all that is computed from it. A weakly typed scalar gives way to the
    dtype that it meets, a strongly typed one lifts the other.

    What it does not see: whether a leaf of one side is another one of the other side under a name
    that has nothing in common; sharding and donation of the leaves, which have analyzers of their
    own.

    Example: `nnx.Rngs(params=0, dropout=1)` inside the model state adds a key and a count for each
    stream to the arguments of every step; Linen's `rngs={"dropout": key}` passes one key.
    """

    name: ClassVar[str] = "inputs"
    codes: ClassVar[Mapping[str, str]] = {
        "INP001": "one side takes leaves that the other does not have",
        "INP002": "one side does not use an argument that the other uses",
        "INP003": "an argument has another dtype",
        "INP004": "an argument has another shape",
        "INP005": "an argument is weakly typed on one side",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding for each kind of extra leaf, and for each way in which leaves differ."""
        if comparison.inputs is None:
            return
        yield from _extra(comparison)
        yield from _pruned(comparison)
        yield from _dtypes(comparison)
        yield from _shapes(comparison)
        yield from _weak(comparison)


def _extra(comparison: Comparison) -> Iterator[Finding]:
    added, removed = _alone(comparison)
    for leaves, word in ((added, "more"), (removed, "fewer")):
        kinds: dict[str, list[Leaf]] = {}
        for leaf in leaves:
            kinds.setdefault(_kind(leaf), []).append(leaf)
        for kind, found in sorted(kinds.items()):
            yield _extra_finding(comparison, kind, found, word)


def _alone(comparison: Comparison) -> tuple[list[Leaf], list[Leaf]]:
    """Leaves of rhs alone and of lhs alone, without those that only have another name.

    Parameters that the graph pairs are one argument, whatever they are called. Of unused leaves
    there is no graph: as many of one shape and dtype as the other side has unused are the same.
    """
    if comparison.inputs is None:
        return [], []
    pairs = argument_pairs(comparison)
    named = {lhs.name for lhs, _ in pairs}, {rhs.name for _, rhs in pairs}
    removed = [leaf for leaf in comparison.inputs.removed if leaf.path not in named[0]]
    added = [leaf for leaf in comparison.inputs.added if leaf.path not in named[1]]
    unused = Counter(_described(x) for x in removed if x.parameter is None)
    unused &= Counter(_described(x) for x in added if x.parameter is None)
    return _without(added, unused), _without(removed, unused)


def _without(leaves: Sequence[Leaf], counts: Mapping[str, int]) -> list[Leaf]:
    """The leaves less so many of each description."""
    left = dict(counts)
    kept = []
    for leaf in leaves:
        text = _described(leaf)
        if leaf.parameter is None and left.get(text, 0):
            left[text] -= 1
        else:
            kept.append(leaf)
    return kept


def _kind(leaf: Leaf) -> str:
    """What a leaf is for, by its path and dtype."""
    if leaf.dtype.startswith(_KEY):
        return "rng state"
    steps = {step.strip("[]'\".").lower() for step in state_path(leaf.path)}
    return next((kind for kind, names in _KINDS if steps & names), "other leaves")


def _extra_finding(comparison: Comparison, kind: str, found: Sequence[Leaf], word: str) -> Finding:
    entries = _argument_entries(comparison, {leaf.path for leaf in found})
    named = f"{len(found)} {word} {'leaf' if len(found) == 1 else 'leaves'}"
    what = "" if kind == "other leaves" else f" of {kind}"
    paths = listed([leaf.path for leaf in found])
    return Finding(
        code="INP001",
        title=f"rhs takes {named}{what} as arguments: {paths}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=_direction(comparison, entries),
        entries=entries,
        evidence=tuple(_leaf_evidence(leaf, word) for leaf in found[:_SHOWN]),
        unknown=("whether a leaf of the other side is the same under another name",),
        remedies=(Remedy("keep what does not change out of the state that every step takes"),)
        if word == "more"
        else (),
    )


def _leaf_evidence(leaf: Leaf, word: str) -> Evidence:
    text = _described(leaf)
    return Evidence(leaf.path, None, text) if word == "more" else Evidence(leaf.path, text, None)


def _described(leaf: Leaf) -> str:
    shape = f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
    return shape if leaf.parameter is not None else f"{shape}, not used"


def _argument_entries(
    comparison: Comparison, paths: set[str], *, outputs: bool = True
) -> tuple[int, ...]:
    """Memory of arguments of one side alone, and of what is given back in their place."""
    kinds = {DeltaKind.ARGUMENT_ADDED, DeltaKind.ARGUMENT_REMOVED}
    states = {state_path(path) for path in paths}
    if outputs:
        kinds |= {DeltaKind.OUTPUT_ADDED, DeltaKind.OUTPUT_REMOVED}

    def is_of_these(entry: DeltaEntry) -> bool:
        leaf = entry.shown.leaf
        return leaf is not None and (leaf.path in paths or state_path(leaf.path) in states)

    return tuple(p for p, _ in memory_entries(comparison, *kinds, where=is_of_these))


def _direction(comparison: Comparison, entries: Sequence[int]) -> Direction:
    memory = comparison.memory
    size = sum(memory.entries[p].size for p in entries) if memory else 0
    if not size:
        return Direction.NEUTRAL
    return Direction.WORSE if size > 0 else Direction.BETTER


def _pruned(comparison: Comparison) -> Iterator[Finding]:
    """Leaves that both sides are given and one drops."""
    given = [
        {state_path(leaf.path): leaf for leaf in side.capture.inputs}
        for side in (comparison.lhs, comparison.rhs)
        if side.capture is not None
    ]
    if len(given) < 2:
        return
    both = [(given[0][path], given[1][path]) for path in given[0] if path in given[1]]
    for title, kept in (
        ("rhs does not use {}, and the compiler drops it", 0),
        ("rhs uses {}, which lhs is given and does not use", 1),
    ):
        found = [
            pair for pair in both
            if pair[kept].parameter is not None and pair[1 - kept].parameter is None
        ]  # fmt: skip
        if found:
            yield _pruned_finding(comparison, title, found)


def _pruned_finding(
    comparison: Comparison, title: str, found: Sequence[tuple[Leaf, Leaf]]
) -> Finding:
    entries = _argument_entries(comparison, {leaf.path for pair in found for leaf in pair})
    return Finding(
        code="INP002",
        title=title.format(listed([rhs.path for _, rhs in found])),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=_direction(comparison, entries),
        entries=entries,
        evidence=tuple(
            Evidence(rhs.path, *(_described(leaf) for leaf in (lhs, rhs)))
            for lhs, rhs in found[:_SHOWN]
        ),
        unknown=("whether the argument is meant to be used",),
    )


def _dtypes(comparison: Comparison) -> Iterator[Finding]:
    """Arguments in another dtype, one finding for each pair of dtypes."""
    groups: dict[tuple[str, str], list[LeafChange]] = {}
    alike = as_written_alike(comparison, types=False)
    for change in input_changes(comparison, "dtype"):
        groups.setdefault((change.lhs.dtype, change.rhs.dtype), []).append(change)
    for (lhs, rhs), found in sorted(groups.items()):
        all_of_them = every_entry(comparison)
        behind_all = (
            alike
            and _all_in_line(comparison, _ratio(lhs, rhs))
            and direction_of(comparison, *all_of_them) is _wider(lhs, rhs)
        )
        own = _changed_entries(comparison, found), (), ()
        claims = all_of_them if behind_all else own
        names = listed([change.rhs.path for change in found])
        verb = "are" if len(found) > 1 else "is"
        yield Finding(
            code="INP003",
            title=f"{names} {verb} {rhs} where lhs has {lhs}",
            confidence=Confidence.STRUCTURAL,
            specificity=Specificity.EXACT if behind_all else Specificity.CAUSE,
            direction=_wider(lhs, rhs),
            entries=claims[0],
            cost_entries=claims[1],
            communication_entries=claims[2],
            evidence=tuple(
                Evidence(change.rhs.path, _described(change.lhs), _described(change.rhs))
                for change in found[:_SHOWN]
            ),
            remedies=(Remedy(f"pass {lhs}, as lhs does", "dtypes"),),
        )


def _wider(lhs: str, rhs: str) -> Direction:
    left, right = _BITS.get(lhs), _BITS.get(rhs)
    if left is None or right is None or left == right:
        return Direction.NEUTRAL
    return Direction.WORSE if right > left else Direction.BETTER


def _ratio(lhs: str, rhs: str) -> float:
    """How many times as wide the wider of two types is."""
    bits = _BITS.get(lhs, 0), _BITS.get(rhs, 0)
    return max(bits) / min(bits) if all(bits) else 1


def _changed_entries(comparison: Comparison, found: Sequence[LeafChange]) -> tuple[int, ...]:
    """Memory of arguments that both sides have."""
    numbers = {change.rhs.parameter for change in found}

    def is_of_these(entry: DeltaEntry) -> bool:
        held = entry.rhs
        return held is not None and held.parameter is not None and held.parameter in numbers

    return tuple(p for p, _ in memory_entries(comparison, DeltaKind.RESIZED, where=is_of_these))


def _shapes(comparison: Comparison) -> Iterator[Finding]:
    found = input_changes(comparison, "shape")
    if not found:
        return
    entries = _changed_entries(comparison, found)
    sizes = listed([
        f"{c.rhs.path} {_described(c.lhs)} -> {_described(c.rhs)}" for c in found
    ], 2)  # fmt: skip
    yield Finding(
        code="INP004",
        title=f"the programs are given other sizes: {sizes}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=_direction(comparison, entries),
        entries=entries,
        evidence=tuple(
            Evidence(change.rhs.path, _described(change.lhs), _described(change.rhs))
            for change in found[:_SHOWN]
        ),
        unknown=("how much of what is computed from them grows with them",),
        remedies=(Remedy("compare programs of the same sizes"),),
        first=_runs(comparison) and _all_in_line(comparison, _growth(found)),
    )


def _runs(comparison: Comparison) -> bool:
    """Whether both sides fit into memory: that comes before all else."""
    captures = comparison.lhs.capture, comparison.rhs.capture
    return not any(capture and capture.out_of_memory for capture in captures)


def _growth(found: Sequence[LeafChange]) -> float:
    """How much larger what is computed from arrays of other sizes may be for them."""
    extents = {
        pair for c in found for pair in zip(c.lhs.shape, c.rhs.shape, strict=False)
        if pair[0] != pair[1] and all(pair)
    }  # fmt: skip
    return math.prod(max(b / a, a / b) for a, b in extents) ** _POWER


def _all_in_line(comparison: Comparison, growth: float) -> bool:
    """Whether something grew or shrank, and all of it by no more than a factor."""
    bound = growth * _SLACK
    ratios = [after / before for before, after in _totals(comparison) if before and after]
    return any(not _alike(r) for r in ratios) and all(1 / bound <= r <= bound for r in ratios)


def _alike(ratio: float) -> bool:
    return 1 / _SLACK <= ratio <= _SLACK


def _totals(comparison: Comparison) -> Iterator[tuple[float, float]]:
    """What each side holds, moves and computes."""
    if comparison.memory is not None:
        yield comparison.memory.lhs.total, comparison.memory.rhs.total
    sides_cost = comparison.cost.lhs.totals, comparison.cost.rhs.totals
    for quantity in sorted(sides_cost[0].keys() & sides_cost[1].keys()):
        yield sides_cost[0][quantity].known, sides_cost[1][quantity].known


def _weak(comparison: Comparison) -> Iterator[Finding]:
    for weak_on_rhs in (False, True):
        found = [
            change for change in input_changes(comparison, "weak_type")
            if change.rhs.weak_type is weak_on_rhs
        ]  # fmt: skip
        if not found:
            continue
        names = listed([change.rhs.path for change in found])
        verb = "are" if len(found) > 1 else "is"
        side, other = ("weakly", "strongly") if weak_on_rhs else ("strongly", "weakly")
        yield Finding(
            code="INP005",
            title=f"{names} {verb} {side} typed, on lhs {other}",
            confidence=Confidence.STRUCTURAL,
            specificity=Specificity.MECHANISM,
            direction=Direction.NEUTRAL,
            evidence=tuple(
                Evidence(c.rhs.path, *(_strength(leaf) for leaf in (c.lhs, c.rhs)))
                for c in found[:_SHOWN]
            ),
            unknown=("what is computed from them in another dtype",),
            remedies=(Remedy("pass a Python scalar or an array of the dtype meant on both sides"),),
        )


def _strength(leaf: Leaf) -> str:
    return f"{leaf.dtype}, {'weakly' if leaf.weak_type else 'strongly'} typed"
