"""Compares computations that are called by value: reducers, comparators, shared callees."""

from __future__ import annotations

from hloscope.diff.joined import NONE, Joined


def called_alike(joined: Joined) -> tuple[frozenset[int], frozenset[int]]:
    """Computations that are not inlined and that paired callers call just the same.

    A computation is left out as soon as one of its callers has no partner, or a partner that
    calls something else.
    """
    left, right = joined.lhs.digests, joined.rhs.digests
    lhs_other, rhs_other = set[int](), set[int]()
    for node, roots in joined.lhs.called.items():
        called = [joined.lhs.computation_of[root] for _, root in roots]
        partner = joined.partners[node]
        others = joined.rhs.called.get(partner, ()) if partner != NONE else ()
        theirs = [joined.rhs.computation_of[root] for _, root in others]
        if [left.get(n) for n in called] != [right.get(n) for n in theirs]:
            lhs_other.update(called)
            rhs_other.update(theirs)
    for node, roots in joined.rhs.called.items():
        if joined.rhs_partners[node] not in joined.lhs.called:
            rhs_other.update(joined.rhs.computation_of[root] for _, root in roots)
    return frozenset(left.keys() - lhs_other), frozenset(right.keys() - rhs_other)


def same_called(joined: Joined, left: int, right: int) -> bool:
    """Whether two paired instructions call the same: partners, or computations of equal content.

    What differs inside computations that are partners is a change of what is inside.
    """
    lhs, rhs = joined.lhs.called.get(left, ()), joined.rhs.called.get(right, ())
    if [role for role, _ in lhs] != [role for role, _ in rhs]:
        return False
    roots = zip((root for _, root in lhs), (root for _, root in rhs), strict=True)
    return all(joined.same(a, b) or _equal_content(joined, a, b) for a, b in roots)


def changed_inside(joined: Joined, left: int, right: int) -> bool:
    """Whether what two paired instructions call returns values without partners on both sides.

    Then those are the cause, rather than that another computation is called.
    """
    lhs, rhs = joined.lhs.called.get(left, ()), joined.rhs.called.get(right, ())
    if [role for role, _ in lhs] != [role for role, _ in rhs]:
        return False
    roots = [(a, b) for (_, a), (_, b) in zip(lhs, rhs, strict=True) if not joined.same(a, b)]
    return all(joined.partners[a] == joined.rhs_partners[b] == NONE for a, b in roots)


def _equal_content(joined: Joined, left: int, right: int) -> bool:
    """True as well where either is inlined: then what is inside has its own place in the graph."""
    lhs, rhs = joined.lhs, joined.rhs
    a, b = lhs.computation_of[left], rhs.computation_of[right]
    if a not in lhs.digests or b not in rhs.digests:
        return True
    return lhs.digests[a] == rhs.digests[b]
