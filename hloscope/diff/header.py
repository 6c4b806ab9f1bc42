"""Compares what two modules say of themselves: donation, partitions, flags."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.diff.anchors import anchor
from hloscope.diff.joined import NONE, Joined, Side
from hloscope.diff.order import ordered_header
from hloscope.model.canonical import Ref
from hloscope.model.changes import ChangeClass, HeaderChange, Instance


def header_changes(joined: Joined) -> tuple[HeaderChange, ...]:
    """Donations that one side lacks, then module attributes by name."""
    return ordered_header((*_donations(joined), *_attributes(joined)))


def _attributes(joined: Joined) -> Iterator[HeaderChange]:
    lhs, rhs = dict(joined.lhs.canonical.header), dict(joined.rhs.canonical.header)
    for name in sorted({*lhs, *rhs}):
        if lhs.get(name) != rhs.get(name):
            yield HeaderChange(
                change_class=ChangeClass.HEADER, name=name, lhs=lhs.get(name), rhs=rhs.get(name)
            )


def _donations(joined: Joined) -> Iterator[HeaderChange]:
    """Every pair of entry parameters whose buffers are given away differently.

    A parameter that one side lacks is a change of its own, and its donation goes without saying.
    """
    lhs, rhs = _given(joined.lhs), _given(joined.rhs)
    for left in sorted({*lhs, *(joined.rhs_partners[right] for right in rhs)} - {NONE}):
        right = joined.partners[left]
        if right == NONE:
            continue
        ours, theirs = lhs.get(left, ("", NONE)), rhs.get(right, ("", NONE))
        if ours[0] == theirs[0] and _same_output(joined, ours[1], theirs[1]):
            continue
        yield _donation(joined, (left, right), (ours, theirs))


def _same_output(joined: Joined, left: int, right: int) -> bool:
    return joined.same(left, right) or joined.lone(left, right)


def _given(side: Side) -> dict[int, tuple[str, int]]:
    """For each donated parameter, how it is given away and the output that takes it over."""
    given = dict.fromkeys(side.canonical.donors, ("offered, not aliased", NONE))
    given.update((alias.parameter, (alias.kind, alias.output)) for alias in side.canonical.aliases)
    return given


def _donation(
    joined: Joined, nodes: tuple[int, int], ways: tuple[tuple[str, int], tuple[str, int]]
) -> HeaderChange:
    (left_way, left_output), (right_way, right_output) = ways
    outputs = _instance(joined, left_output, right_output)
    return HeaderChange(
        change_class=ChangeClass.DONATION,
        name=_parameter_name(joined, nodes),
        lhs=_way(joined.lhs, left_way, left_output),
        rhs=_way(joined.rhs, right_way, right_output),
        parameter=_instance(joined, *nodes),
        output=None if outputs[:2] == (None, None) else outputs,
    )


def _way(side: Side, way: str, output: int) -> str | None:
    if not way:
        return None
    return way if output == NONE else f"{way} with '{side.name(output)}'"


def _parameter_name(joined: Joined, nodes: tuple[int, int]) -> str:
    """The state path, which both sides agree on, else the names that they have."""
    paths = (joined.lhs.canonical.paths.get(nodes[0]), joined.rhs.canonical.paths.get(nodes[1]))
    names = {"/".join(path) for path in paths if path}
    names = names or {joined.lhs.name(nodes[0]), joined.rhs.name(nodes[1])}
    return " = ".join(sorted(names))


def _instance(joined: Joined, left: int, right: int) -> Instance:
    return Instance(
        _ref(joined.lhs, left),
        _ref(joined.rhs, right),
        None if left == NONE else joined.lhs.title(left),
        None if right == NONE else joined.rhs.title(right),
    )


def _ref(side: Side, node: int) -> Ref | None:
    return None if node == NONE else side.canonical.ref(anchor(side, node))
