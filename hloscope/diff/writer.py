"""Turns folded items into records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hloscope.diff.anchors import anchor
from hloscope.diff.fold import Folded
from hloscope.diff.joined import NONE, Item, Joined, Side
from hloscope.diff.order import instance_key, ordered_changes, ordered_regions
from hloscope.diff.places import Describer
from hloscope.diff.weights import Flops, Scale, Trips, Weight
from hloscope.model.canonical import NodeKind, Ref
from hloscope.model.changes import (
    Change,
    ChangeClass,
    FieldChange,
    Instance,
    Place,
    Region,
    Role,
)
from hloscope.model.pairing import Pairing
from hloscope.model.units import Bytes

# two of a kind, one inside a loop and one outside, that data flow did not pair
MOVED_CONFIDENCE = 0.5

# how XLA and JAX mark what is computed a second time to save memory
_REMAT_NAME = ".remat"
_REMAT_SCOPE = "rematted_computation"


class Writer:
    """Makes the records of one diff."""

    def __init__(self, joined: Joined, flops: Flops | None, trips: Trips | None) -> None:
        self._joined = joined
        self._scales = Scale(joined.lhs, flops, trips), Scale(joined.rhs, flops, trips)
        self._confidence = _confidence(joined.pairing)

    def regions(self, folded: Sequence[tuple[int, Folded]]) -> tuple[Region, ...]:
        """The regions, ranked."""
        first = {
            id(items): min(items, key=self._item_key) for _, kinds in folded for items in kinds
        }
        shown = first.values()
        describers = (
            Describer(self._joined.lhs, self._scales[0], (i.lhs for i in shown if i.lhs != NONE)),
            Describer(self._joined.rhs, self._scales[1], (i.rhs for i in shown if i.rhs != NONE)),
        )
        return ordered_regions(
            self._region(count, [(first[id(items)], items) for items in kinds], describers)
            for count, kinds in folded
        )

    def _region(
        self,
        count: int,
        kinds: Sequence[tuple[Item, list[Item]]],
        describers: tuple[Describer, Describer],
    ) -> Region:
        changes = ordered_changes(self._change(*kind, describers) for kind in kinds)
        heads = tuple(c for c in changes if c.role is Role.HEAD)
        if not heads:
            # whatever set this off is not reported itself: name what comes first
            heads = changes[:1]
        followers = tuple(c for c in changes if c not in heads)
        items = [item for _, together in kinds for item in together]
        left = self._weight(self._joined.lhs, self._scales[0], [item.lhs for item in items])
        right = self._weight(self._joined.rhs, self._scales[1], [item.rhs for item in items])
        return Region(
            heads=heads,
            followers=followers,
            count=count,
            classes=_sorted({kind for change in heads for kind in change.classes}),
            lhs_bytes=Bytes(left.moved),
            rhs_bytes=Bytes(right.moved),
            lhs_flops=left.flops,
            rhs_flops=right.flops,
            uncounted_loops=not (left.counted and right.counted),
        )

    def _change(
        self, first: Item, items: list[Item], describers: tuple[Describer, Describer]
    ) -> Change:
        fields = (*first.own, *first.derived)
        instances = sorted({self._instance(item) for item in items}, key=instance_key)
        return Change(
            role=Role.HEAD if first.head else Role.FOLLOWER,
            classes=self._classes(first, fields),
            lhs=_place(describers[0], first.lhs),
            rhs=_place(describers[1], first.rhs),
            fields=fields,
            instances=tuple(instances),
            confidence=self._confidence.get(self._instance(first)[:2], MOVED_CONFIDENCE),
        )

    def _classes(self, item: Item, fields: Iterable[FieldChange]) -> tuple[ChangeClass, ...]:
        if item.paired:
            return _sorted({field.change_class for field in (item.own or fields)})
        side, node = self._lone(item)
        found = {ChangeClass.ADDED if side is self._joined.rhs else ChangeClass.REMOVED}
        if side.kinds[node] == NodeKind.SLOT:
            found.add(ChangeClass.CARRY)
        if node >= side.size:
            return _sorted(found)
        ins = side.instruction(node)
        if ins.opcode == "fusion":
            found.add(ChangeClass.FUSION)
        if _REMAT_NAME in ins.name or _REMAT_SCOPE in ins.metadata.op_name:
            found.add(ChangeClass.REMAT)
        return _sorted(found)

    def _lone(self, item: Item) -> tuple[Side, int]:
        if item.rhs == NONE:
            return self._joined.lhs, item.lhs
        return self._joined.rhs, item.rhs

    def _item_key(self, item: Item) -> tuple[object, ...]:
        """Slots of one loop that start alike are told apart by what the body puts there."""
        lhs, rhs = self._joined.lhs, self._joined.rhs
        last = sorted((_last_source(lhs, item.lhs), _last_source(rhs, item.rhs)))
        return (*instance_key(self._instance(item))[:4], *last)

    def _instance(self, item: Item) -> Instance:
        lhs, rhs = self._joined.lhs, self._joined.rhs
        return Instance(
            _ref(lhs, item.lhs),
            _ref(rhs, item.rhs),
            None if item.lhs == NONE else lhs.title(item.lhs),
            None if item.rhs == NONE else rhs.title(item.rhs),
        )

    def _weight(self, side: Side, scale: Scale, nodes: Iterable[int]) -> Weight:
        weights = [scale.weigh(node) for node in nodes if NONE < node < side.size]
        return Weight(
            sum(w.moved for w in weights),
            sum(w.flops for w in weights),
            all(w.counted for w in weights),
        )


def _last_source(side: Side, node: int) -> str:
    sources = () if node == NONE else side.sources[node]
    return side.name(sources[-1]) if sources else ""


def _confidence(pairing: Pairing) -> dict[tuple[Ref | None, Ref | None], float]:
    found: dict[tuple[Ref | None, Ref | None], float] = {
        (pair.lhs, pair.rhs): pair.confidence for pair in pairing.pairs
    }
    # that an instruction has no partner is as sure as the pairing itself
    found.update(((ref, None), 1.0) for ref in pairing.lhs_only)
    found.update(((None, ref), 1.0) for ref in pairing.rhs_only)
    return found


def _ref(side: Side, node: int) -> Ref | None:
    return None if node == NONE else side.canonical.ref(anchor(side, node))


def _place(describer: Describer, node: int) -> Place | None:
    return None if node == NONE else describer.place(node)


def _sorted(classes: Iterable[ChangeClass]) -> tuple[ChangeClass, ...]:
    """In the order of the enumeration."""
    order = list(ChangeClass)
    return tuple(sorted(classes, key=order.index))
