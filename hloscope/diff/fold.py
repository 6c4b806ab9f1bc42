"""Folds equal changes, and equal regions, into one that says how often it occurs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable

from hloscope.diff.anchors import anchor
from hloscope.diff.joined import NONE, Item, Joined, Side
from hloscope.model.changes import ChangeClass

_DIGITS = re.compile(r"\d+")
# their texts name instructions, which differ from layer to layer
_NAMING = frozenset(
    {ChangeClass.OPERAND, ChangeClass.OPERAND_ORDER, ChangeClass.LOOP, ChangeClass.FUSION}
)

Signature = tuple[Hashable, ...]
Folded = list[list[Item]]


class Folder:
    """Tells which items change in the same way."""

    def __init__(self, joined: Joined) -> None:
        self._joined = joined
        self._numbers: dict[Signature, int] = {}

    def fold_items(self, items: Iterable[Item]) -> dict[int, list[Item]]:
        """Items by what they change, those that change alike together."""
        kin: dict[int, list[Item]] = defaultdict(list)
        for item in items:
            kin[self._kind(item)].append(item)
        return dict(kin)

    def fold_regions(self, regions: Iterable[list[Item]]) -> list[tuple[int, Folded]]:
        """How many equal regions there are of each kind, with their items folded together."""
        kin: dict[Signature, tuple[int, dict[int, list[Item]]]] = {}
        for region in regions:
            folded = self.fold_items(region)
            signature = tuple(sorted((kind, len(items)) for kind, items in folded.items()))
            count, together = kin.get(signature, (0, {kind: [] for kind in folded}))
            for kind, items in folded.items():
                together[kind].extend(items)
            kin[signature] = (count + 1, together)
        return [(count, list(together.values())) for count, together in kin.values()]

    def _kind(self, item: Item) -> int:
        joined = self._joined
        fields = tuple(
            (f.change_class, f.name, *(() if f.change_class in _NAMING else (f.lhs, f.rhs)))
            for f in (*item.own, *item.derived)
        )
        sides = _look(joined.lhs, item.lhs), _look(joined.rhs, item.rhs)
        return self._numbers.setdefault((item.head, fields, *sides), len(self._numbers))


def _look(side: Side, node: int) -> Hashable:
    """The node without what differs from layer to layer: numbers in names and paths."""
    if node == NONE:
        return None
    operands = tuple(side.label(source).opcode for source in side.sources[node])
    scope = side.instruction(anchor(side, node)).metadata.op_name
    if side.label(node).opcode == "parameter":
        scope = ""  # leaves of one kind are listed together; each instance has its path
    return (side.label(node), operands, _DIGITS.sub("*", scope))
