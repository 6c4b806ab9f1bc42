"""Two canonical modules in, a pairing of their instructions out."""

from __future__ import annotations

from itertools import repeat

from hloscope.match.assign import assign_rest
from hloscope.match.boundaries import Boundaries
from hloscope.match.called import pair_called
from hloscope.match.classes import Sides, pair_classes, pair_orphans
from hloscope.match.follow import Follower
from hloscope.match.loosened import loosened
from hloscope.match.parameters import pair_parameters
from hloscope.match.partners import Partners
from hloscope.match.parts import pair_parts
from hloscope.model.canonical import CanonicalModule, Ref
from hloscope.model.pairing import Budget, Group, Pair, Pairing, Rule

DEFAULT = Budget()


def match(lhs: CanonicalModule, rhs: CanonicalModule, *, budget: Budget = DEFAULT) -> Pairing:
    """Finds which instruction of `lhs` is which of `rhs`.

    Exchanging the sides gives the mirrored pairing.

    Args:
      lhs: the baseline.
      rhs: the candidate.
      budget: how much searching is allowed.
    """
    if rhs.full_fingerprint < lhs.full_fingerprint:
        return match(rhs, lhs, budget=budget).mirrored()
    partners = Partners.none(lhs, rhs, budget)
    if lhs.graph_fingerprint == rhs.graph_fingerprint:
        # elements that nothing reads come last, and one side may have more of them
        for left, right in zip(lhs.order, rhs.order, strict=False):
            partners.pair(left, right, Rule.SAME_MODULE, 1.0)
        return _result(partners, ())
    partners = Partners.none(loosened(lhs), loosened(rhs), budget)
    pair_parameters(partners)
    sides = Sides(partners)
    pair_classes(sides)
    pair_called(partners)
    Follower(partners, sides).run()
    pair_called(partners)
    assign_rest(partners, sides)
    pair_called(partners)
    pair_orphans(sides)
    Follower(partners, sides).run()
    pair_parts(partners, lhs, rhs)
    boundaries = Boundaries(partners)
    boundaries.run()
    return _result(partners, boundaries.groups())


def _result(partners: Partners, groups: tuple[Group, ...]) -> Pairing:
    lhs, rhs = partners.lhs, partners.rhs
    refs_left, refs_right = _refs(lhs), _refs(rhs)
    last_left, last_right = len(refs_left), len(refs_right)
    pairs = tuple(
        Pair(refs_left[left], refs_right[right], *partners.rules[left])
        for left, right in enumerate(partners.forward[:last_left])
        if 0 <= right < last_right
    )
    return Pairing(
        pairs=pairs,
        groups=groups,
        lhs_only=tuple(refs_left[n] for n in range(last_left) if partners.forward[n] < 0),
        rhs_only=tuple(refs_right[n] for n in range(last_right) if partners.backward[n] < 0),
        ambiguous=tuple(sorted(set(partners.ambiguous))),
        partners=tuple(partners.forward),
        rhs_partners=tuple(partners.backward),
        notes=tuple(dict.fromkeys(partners.notes)),
    )


def _refs(side: CanonicalModule) -> list[Ref]:
    return [
        ref
        for number, computation in enumerate(side.module.computations)
        for ref in map(Ref, repeat(number), range(len(computation.instructions)))
    ]
