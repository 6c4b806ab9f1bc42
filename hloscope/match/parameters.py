"""Entry parameters of one side with those of the other: by state path, otherwise by position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from hloscope.match.partners import Partners
from hloscope.model.canonical import CanonicalModule, Label
from hloscope.model.pairing import Rule

Path = tuple[str, ...]


def pair_parameters(partners: Partners) -> None:
    """Pairs what paths pair for certain; positions decide where a side has no paths.

    Where one side alone has paths, positions count only if all parameters agree in place; what is
    left is paired by its use.
    """
    lhs, rhs = partners.lhs, partners.rhs
    if lhs.paths and rhs.paths:
        _by_path(partners, lhs.paths, rhs.paths)
        _by_suffix(partners)
    elif not (lhs.paths or rhs.paths) or _signature(lhs) == _signature(rhs):
        _by_rank(partners)


def are_two(partners: Partners, left: int, right: int) -> bool:
    """Whether two arguments have neither the path nor the array in common, whatever is near."""
    lhs, rhs = partners.lhs, partners.rhs
    mine, other = lhs.paths.get(left), rhs.paths.get(right)
    if mine is None or other is None or mine == other:
        return False
    shapes = lhs.labels[lhs.label_of[left]].shape, rhs.labels[rhs.label_of[right]].shape
    return (shapes[0].dtype, shapes[0].dims) != (shapes[1].dtype, shapes[1].dims)


def _signature(side: CanonicalModule) -> list[Label]:
    return [side.labels[side.label_of[node]] for node in side.parameters]


def _by_path(partners: Partners, left: Mapping[int, Path], right: Mapping[int, Path]) -> None:
    for a, b in _unique_matches(left, right):
        if partners.free(a, b):
            partners.pair(a, b, Rule.SAME_PATH, 1.0)


def _by_suffix(partners: Partners) -> None:
    """Where prefixes differ: the longest end that one parameter alone on each side has."""
    left = {n: p for n, p in partners.lhs.paths.items() if partners.forward[n] < 0}
    right = {n: p for n, p in partners.rhs.paths.items() if partners.backward[n] < 0}
    longest = min(max(map(len, left.values()), default=0), max(map(len, right.values()), default=0))
    for length in range(longest, 0, -1):
        ends_left = {n: p[-length:] for n, p in left.items() if len(p) >= length}
        ends_right = {n: p[-length:] for n, p in right.items() if len(p) >= length}
        for a, b in _unique_matches(ends_left, ends_right):
            # a single last step (`kernel`) names nothing unless it is the whole of one path
            whole = length in (len(left[a]), len(right[b]))
            if (length > 1 or whole) and partners.free(a, b) and _alike(partners, a, b):
                partners.pair(a, b, Rule.SAME_PATH, 0.9)
        left = {n: p for n, p in left.items() if partners.forward[n] < 0}
        right = {n: p for n, p in right.items() if partners.backward[n] < 0}


def _alike(partners: Partners, left: int, right: int) -> bool:
    a = partners.lhs.labels[partners.lhs.label_of[left]].shape
    b = partners.rhs.labels[partners.rhs.label_of[right]].shape
    return len(a.dims) == len(b.dims)


def _unique_matches(left: Mapping[int, Path], right: Mapping[int, Path]) -> list[tuple[int, int]]:
    named_left, named_right = _named(left), _named(right)
    return [
        (nodes[0], named_right[path][0])
        for path, nodes in named_left.items()
        if len(nodes) == 1 and len(named_right.get(path, ())) == 1
    ]


def _named(paths: Mapping[int, Path]) -> dict[Path, list[int]]:
    named: dict[Path, list[int]] = defaultdict(list)
    for node, path in paths.items():
        named[path].append(node)
    return named


def _by_rank(partners: Partners) -> None:
    """In order among those of the same kind, where both sides have as many of it."""
    kinds_left, kinds_right = _kinds(partners.lhs), _kinds(partners.rhs)
    for kind, nodes in kinds_left.items():
        others = kinds_right.get(kind, [])
        if len(nodes) == len(others):
            for a, b in zip(nodes, others, strict=True):
                partners.pair(a, b, Rule.POSITION, 0.8 if len(nodes) > 1 else 1.0)


def _kinds(side: CanonicalModule) -> dict[Label, list[int]]:
    kinds: dict[Label, list[int]] = defaultdict(list)
    for node, label in zip(side.parameters, _signature(side), strict=True):
        kinds[label].append(node)
    return kinds
