"""Compares the leaves of two programs' inputs or outputs."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from hloscope.hlo.state_path import state_path
from hloscope.model.capture import Leaf
from hloscope.model.comparison import LeafChange, LeavesDelta

# `path` pairs the leaves and `parameter` is a position; sharding is compared apart
_COMPARED = ("shape", "dtype", "weak_type", "mesh", "memory_kind", "layout", "donated")
_SPEC = re.compile(r"P(?:artitionSpec)?\((.*)\)$", re.DOTALL)
# the end of a path is enough to pair two leaves only if it says more than `kernel`
_SHORTEST_END = 2


def compare_leaves(lhs: Sequence[Leaf], rhs: Sequence[Leaf]) -> LeavesDelta:
    """Pairs leaves by state path, across Linen and NNX spellings, and compares the pairs."""
    pairs = pair_leaves(lhs, rhs)
    in_order = _longest_increasing([right for _, right in pairs])
    left_taken = {left for left, _ in pairs}
    right_taken = {right for _, right in pairs}
    changes = (
        _change(lhs[left], rhs[right], None if kept else (left, right))
        for (left, right), kept in zip(pairs, in_order, strict=True)
    )
    return LeavesDelta(
        paired=len(pairs),
        renamed=sum(lhs[left].path != rhs[right].path for left, right in pairs),
        changed=tuple(change for change in changes if change.fields or change.moved),
        removed=tuple(leaf for i, leaf in enumerate(lhs) if i not in left_taken),
        added=tuple(leaf for i, leaf in enumerate(rhs) if i not in right_taken),
    )


def pair_leaves(lhs: Sequence[Leaf], rhs: Sequence[Leaf]) -> tuple[tuple[int, int], ...]:
    """Positions of the leaves that both sides have, whatever else differs about them."""
    return tuple(sorted(_pairs(lhs, rhs)))


def _pairs(lhs: Sequence[Leaf], rhs: Sequence[Leaf]) -> Iterable[tuple[int, int]]:
    """Pairs positions, surest evidence first: whole path, then a path's end that is unique."""
    left = {i: state_path(leaf.path) for i, leaf in enumerate(lhs)}
    right = {i: state_path(leaf.path) for i, leaf in enumerate(rhs)}
    longest = max((len(path) for path in (*left.values(), *right.values())), default=0)
    yield from _taken(left, right, None)
    # `[0]['kernel']` and `[1]['kernel']` have one state path: the position tells them apart
    for pair in _unique_pairs(_spelled(lhs, left), _spelled(rhs, right), None):
        del left[pair[0]], right[pair[1]]
        yield pair
    for length in range(longest - 1, _SHORTEST_END - 1, -1):
        yield from _taken(left, right, length)


def _spelled(leaves: Sequence[Leaf], positions: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Paths as they are written."""
    return {position: (leaves[position].path,) for position in positions}


def _taken(
    lhs: dict[int, tuple[str, ...]], rhs: dict[int, tuple[str, ...]], length: int | None
) -> Iterable[tuple[int, int]]:
    """Unique pairs, which are taken out of both sides."""
    for pair in _unique_pairs(lhs, rhs, length):
        del lhs[pair[0]], rhs[pair[1]]
        yield pair


def _unique_pairs(
    lhs: dict[int, tuple[str, ...]], rhs: dict[int, tuple[str, ...]], length: int | None
) -> list[tuple[int, int]]:
    """Positions whose path (or its last `length` parts) names one leaf on each side."""
    places: dict[tuple[str, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, paths in enumerate((lhs, rhs)):
        for position, path in paths.items():
            if length is None or len(path) > length:
                places[path if length is None else path[-length:]][side].append(position)
    return [(a[0], b[0]) for a, b in places.values() if len(a) == len(b) == 1]


def _change(lhs: Leaf, rhs: Leaf, moved: tuple[int, int] | None) -> LeafChange:
    fields = tuple(
        (name, str(getattr(lhs, name)), str(getattr(rhs, name)))
        for name in _COMPARED
        if getattr(lhs, name) != getattr(rhs, name)
    )
    return LeafChange(lhs=lhs, rhs=rhs, fields=fields + _sharding(lhs, rhs), moved=moved)


def _sharding(lhs: Leaf, rhs: Leaf) -> tuple[tuple[str, str, str], ...]:
    """A difference in sharding, named `spec` where both partition the array in the same way."""
    if lhs.sharding == rhs.sharding:
        return ()
    partition = _partition(lhs)
    same = lhs.mesh == rhs.mesh and partition is not None and partition == _partition(rhs)
    return (("spec" if same else "sharding", str(lhs.sharding), str(rhs.sharding)),)


def _partition(leaf: Leaf) -> tuple[tuple[str, ...], ...] | None:
    """Mesh axes by dimension without those of size 1, which partition nothing."""
    found = _SPEC.match(leaf.sharding or "")
    if not found or leaf.mesh is None:
        return None
    try:
        spec = ast.literal_eval(f"[{found[1]}]")
    except (SyntaxError, ValueError):  # UNCONSTRAINED or unreduced axes: compare the text alone
        return None
    dimensions = [(axes,) if isinstance(axes, str) else axes or () for axes in spec]
    dimensions += [()] * (len(leaf.shape) - len(dimensions))
    return tuple(tuple(axis for axis in axes if leaf.mesh.get(axis) != 1) for axes in dimensions)


def _longest_increasing(values: Sequence[int]) -> list[bool]:
    """Marks a longest increasing subsequence: what is outside it has moved."""
    tails: list[int] = []
    tail_at: list[int] = []
    previous: list[int] = []
    for position, value in enumerate(values):
        slot = bisect_left(tails, value)
        previous.append(tail_at[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(value)
            tail_at.append(position)
        else:
            tails[slot], tail_at[slot] = value, position
    kept = [False] * len(values)
    position = tail_at[-1] if tail_at else -1
    while position >= 0:
        kept[position] = True
        position = previous[position]
    return kept
