"""Compares computations that are called by value: reducers, comparators, shared callees."""

from __future__ import annotations

from hashlib import blake2b

from hloscope.diff.joined import NONE, Joined, Side


def called_alike(joined: Joined) -> tuple[frozenset[int], frozenset[int]]:
    """Computations that are not inlined and that paired callers call just the same.

    A computation is left out as soon as one of its callers has no partner, or a partner that
    calls something else.
    """
    left, right = _digests(joined.lhs), _digests(joined.rhs)
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
        if joined.rhs_partners[node] == NONE:
            rhs_other.update(joined.rhs.computation_of[root] for _, root in roots)
    return frozenset(left.keys() - lhs_other), frozenset(right.keys() - rhs_other)


def _digests(side: Side) -> dict[int, bytes]:
    """A digest for each computation that is called and not inlined."""
    found: dict[int, bytes] = {}
    canonical = side.canonical
    for number, computation in enumerate(side.module.computations):
        if canonical.inlined[number] != NONE or number == side.module.entry:
            continue
        digest: list[bytes] = []
        for index in range(len(computation.instructions)):
            node = canonical.offsets[number] + index
            operands = [digest[o] for o in computation.instructions[index].operands]
            label = side.label(node)
            if canonical.flow.commutative[node]:
                operands.sort()
            called = [found.get(n, b"") for _, n in computation.instructions[index].called]
            parameter = computation.instructions[index].parameter
            text = repr((label, parameter)).encode()
            digest.append(blake2b(b"".join([*operands, *called, text]), digest_size=16).digest())
        found[number] = blake2b(b"".join(sorted(digest)) + digest[computation.root]).digest()
    return found
