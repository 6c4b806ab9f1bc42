"""Elements of combined collectives that neither what they are made of nor their use pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hloscope.match.loosened import combined_parts
from hloscope.match.partners import Partners
from hloscope.model.canonical import CanonicalModule
from hloscope.model.hlo import Shape
from hloscope.model.pairing import Rule

Parts = dict[tuple[int, Shape], list[int]]  # by collective and shape


def pair_parts(partners: Partners, lhs: CanonicalModule, rhs: CanonicalModule) -> None:
    """Pairs what is left over alone of its shape in two collectives that are partners.

    Args:
      partners: the pairing so far.
      lhs: the baseline, with collectives as sources of their elements.
      rhs: the candidate, likewise.
    """
    others = _left_over(rhs, partners.backward)
    for (collective, shape), mine in _left_over(lhs, partners.forward).items():
        there = others.get((partners.forward[collective], shape), [])
        if len(mine) == len(there) == 1:
            partners.pair(mine[0], there[0], Rule.OPERANDS, 0.5)


def _left_over(side: CanonicalModule, partner: Sequence[int]) -> Parts:
    found: Parts = defaultdict(list)
    for node in combined_parts(side):
        if partner[node] < 0:
            maker = side.flow.sources[node][0]
            found[maker, side.labels[side.label_of[node]].shape].append(node)
    return found
