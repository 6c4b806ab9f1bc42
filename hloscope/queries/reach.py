"""How far a difference in types goes in explaining what differs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from hloscope.queries.interface import input_changes
from hloscope.queries.ledgers import direction_of, every_entry
from hloscope.queries.views import View, as_written_alike, written_types


class TypesReach(Enum):
    """What other types of values explain."""

    NOWHERE = 0  # nothing: the programs as written have the same types, the compiler chose others
    VALUES = 1  # the values that have other types, and what reads them
    EVERYTHING = 2  # all that differs: the programs as written differ in types alone


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
    if wider <= other or given or not as_written_alike(comparison, types=False):
        return TypesReach.VALUES
    in_line = direction_of(comparison, *every_entry(comparison)) is view.direction
    return TypesReach.EVERYTHING if in_line else TypesReach.VALUES
