"""Leaves of two trees side by side, by their canonical paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hloscope.hlo.state_path import state_path
from hloscope.model.capture import Leaf
from hloscope.model.parity import LeafPair, LeafPath

_RANDOM = frozenset({"rngs", "rng"})


def by_path(paths: Sequence[str]) -> tuple[LeafPath, ...]:
    """The canonical path of each leaf; leaves that share one are told apart by their order."""
    seen: dict[LeafPath, int] = defaultdict(int)
    found = []
    for text in paths:
        path = state_path(text) or (text,)
        seen[path] += 1
        found.append(path if seen[path] == 1 else (*path, f"#{seen[path]}"))
    return tuple(found)


def pair_leaves(lhs: Iterable[Leaf], rhs: Iterable[Leaf]) -> tuple[LeafPair, ...]:
    """Pairs leaves, in the order of their paths."""
    left, right = (_named(leaves) for leaves in (lhs, rhs))
    return tuple(
        _pair(path, left.get(path), right.get(path))
        for path in sorted({*left, *right}, key=_numerically)
    )


def _named(leaves: Iterable[Leaf]) -> Mapping[LeafPath, Leaf]:
    listed = tuple(leaves)
    return dict(zip(by_path([leaf.path for leaf in listed]), listed, strict=True))


def _numerically(path: LeafPath) -> tuple[tuple[bool, int, str], ...]:
    """Sorts layer 10 behind layer 9."""
    return tuple((step.isdigit(), int(step) if step.isdigit() else 0, step) for step in path)


def _pair(path: LeafPath, lhs: Leaf | None, rhs: Leaf | None) -> LeafPair:
    differences: list[str] = []
    if lhs is not None and rhs is not None:
        same = {
            "shape": lhs.shape == rhs.shape,
            "dtype": lhs.dtype == rhs.dtype,
            "sharding": _lies_alike(lhs, rhs),
        }
        differences = [name for name, equal in same.items() if not equal]
    random = any(
        leaf is not None and leaf.dtype.startswith("key<") for leaf in (lhs, rhs)
    ) or not _RANDOM.isdisjoint(path)
    return LeafPair(path=path, lhs=lhs, rhs=rhs, differences=tuple(differences), random=random)


def _lies_alike(lhs: Leaf, rhs: Leaf) -> bool:
    """Whether shardings are equal, as far as both sides know theirs."""
    if lhs.sharding is None or rhs.sharding is None:
        return True
    return lhs.sharding == rhs.sharding and lhs.mesh == rhs.mesh
