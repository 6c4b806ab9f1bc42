"""Computations that are not inlined (reducers, comparators): paired through paired callers."""

from __future__ import annotations

from hloscope.match.partners import Partners
from hloscope.model.canonical import CanonicalModule, Ref
from hloscope.model.pairing import Rule


def pair_called(partners: Partners) -> None:
    """Pairs the parameters of computations that paired instructions call in the same role."""
    lhs, rhs = partners.lhs, partners.rhs
    seen: set[int] = set()
    for left in sorted(lhs.flow.called):
        right = partners.forward[left]
        if right < 0:
            continue
        there = dict(rhs.flow.called.get(right, ()))
        for role, root in lhs.flow.called[left]:
            if role not in there:
                continue
            mine, other = _computation(lhs, root), _computation(rhs, there[role])
            if mine in seen or lhs.inlined[mine] >= 0 or rhs.inlined[other] >= 0:
                continue
            seen.add(mine)
            _pair_parameters(partners, mine, other)


def _pair_parameters(partners: Partners, mine: int, other: int) -> None:
    there = _parameters(partners.rhs, other)
    for number, left in _parameters(partners.lhs, mine).items():
        right = there.get(number)
        if right is not None and partners.free(left, right):
            partners.pair(left, right, Rule.POSITION, 0.9)


def _computation(side: CanonicalModule, node: int) -> int:
    ref = side.ref(node)
    return ref.computation if ref is not None else -1


def _parameters(side: CanonicalModule, computation: int) -> dict[int, int]:
    instructions = side.module.computations[computation].instructions
    return {
        ins.parameter: side.node(Ref(computation, k))
        for k, ins in enumerate(instructions)
        if ins.opcode == "parameter"
    }
