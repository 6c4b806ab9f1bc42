"""How far a difference in types goes in explaining what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum

from hloscope.model.comparison import Comparison
from hloscope.queries.flow import flow
from hloscope.queries.interface import input_changes, output_changes
from hloscope.queries.ledgers import direction_of, every_entry
from hloscope.queries.shardings import constraints
from hloscope.queries.views import View, as_written_alike, written_types


class TypesReach(Enum):
    """What other types of values explain."""

    NOWHERE = 0  # nothing: the programs as written have the same types, the compiler chose others
    VALUES = 1  # the values that have other types, and what reads them
    EVERYTHING = 2  # all that differs: the programs as written differ in types alone


_PLACING = ("sharding", "mesh", "donated")


def placed_alike(comparison: Comparison) -> bool:
    """Whether both sides shard and donate leaves alike and constrain the same values.

    Whatever the types are, and as far as they say: files of HLO say less than captures.
    """
    if input_changes(comparison, *_PLACING) or output_changes(comparison, *_PLACING):
        return False
    left, right = (
        Counter((found.nodes[c.node].shape.dims, c.spec) for c in constraints(found))
        for side in (comparison.lhs, comparison.rhs)
        for found in (flow(side.before or side.module),)
    )
    return left == right


def types_reach(view: View, bits: Mapping[str, int]) -> TypesReach:
    """How far the wider types go that a view's own side has.

    Args:
      view: the side.
      bits: widths of the types that count, by XLA's names.
    """
    comparison = view.comparison
    here, there = written_types(view), written_types(view.there)
    if here == there and comparison.lhs.before and comparison.rhs.before:
        return TypesReach.NOWHERE
    wider, other = (sum(bits.get(t, 0) * n for t, n in side.items()) for side in (here, there))
    given = bool(input_changes(comparison, "dtype"))
    alike = as_written_alike(comparison, types=False) and placed_alike(comparison)
    if wider <= other or given or not alike:
        return TypesReach.VALUES
    in_line = direction_of(comparison, *every_entry(comparison)) is view.direction
    return TypesReach.EVERYTHING if in_line else TypesReach.VALUES
