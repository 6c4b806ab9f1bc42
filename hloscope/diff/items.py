"""Collects everything that differs between two joined modules, node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hloscope.diff.called import called_alike, same_called
from hloscope.diff.causes import paired_item
from hloscope.diff.joined import NONE, Item, Joined, Side
from hloscope.diff.loops import moved_items
from hloscope.diff.outputs import note_outputs
from hloscope.model.changes import ChangeClass, FieldChange


def collect(joined: Joined) -> list[Item]:
    """Items in canonical order of lhs, then those of rhs alone."""
    items = {(item.lhs, item.rhs): item for item in _changed_pairs(joined)}
    items.update({(item.lhs, item.rhs): item for item in _exchanged_parts(joined, items)})
    note_outputs(joined, items)
    found = [item for item in items.values() if item.differs]
    shared = called_alike(joined)
    left = list(_lone(joined.lhs, joined.partners, shared[0]))
    right = list(_lone(joined.rhs, joined.rhs_partners, shared[1]))
    moved = moved_items(joined, left, right)
    taken = {item.lhs for item in moved}, {item.rhs for item in moved}
    found.extend(moved)
    found.extend(Item(node, NONE) for node in left if node not in taken[0])
    found.extend(Item(NONE, node) for node in right if node not in taken[1])
    return found


def _changed_pairs(joined: Joined) -> Iterator[Item]:
    """Pairs with any difference, found by a cheap test that most pairs pass."""
    lhs, rhs, partners = joined.lhs, joined.rhs, joined.partners
    label_on_rhs = _translated(lhs, rhs)
    places = _Places(joined)
    held, held_rhs = lhs.canonical.flow.control, rhs.canonical.flow.control
    for left, right in enumerate(partners):
        if right == NONE or lhs.silent[left] or rhs.silent[right]:
            continue
        if (
            label_on_rhs[lhs.label_of[left]] == rhs.label_of[right]
            and lhs.layout_of[left] == rhs.layout_of[right]
            and tuple([partners[s] for s in lhs.sources[left]]) == rhs.sources[right]
            and (
                (left not in lhs.called and right not in rhs.called)
                or same_called(joined, left, right)
            )
            and left not in held
            and right not in held_rhs
            and places.same(left, right)
        ):
            continue
        item = paired_item(joined, left, right)
        if item.own or (item.derived and not lhs.is_part(left)):
            yield item


def _exchanged_parts(joined: Joined, items: Mapping[tuple[int, int], Item]) -> Iterator[Item]:
    """Parts of one collective that are read where those of another one were.

    Where the collectives combine other operands than before, that is told there, once.
    """
    lhs, rhs = joined.lhs, joined.rhs
    for left in range(lhs.size, len(lhs.kinds)):
        right = joined.partners[left]
        if right == NONE or not (lhs.is_part(left) and rhs.is_part(right)):
            continue
        maker, other = lhs.sources[left][0], rhs.sources[right][0]
        makers = (maker, joined.partners[maker]), (joined.rhs_partners[other], other)
        if makers[0] != makers[1] and items.keys().isdisjoint([*makers, (left, right)]):
            texts = lhs.name(maker), rhs.name(other)
            yield Item(left, right, own=[FieldChange(ChangeClass.OPERAND, "element of", *texts)])


def _translated(lhs: Side, rhs: Side) -> list[int]:
    """For each label of lhs, where rhs has the same one; -1 where it has not."""
    place = {label: number for number, label in enumerate(rhs.labels)}
    return [place.get(label, NONE) for label in lhs.labels]


class _Places:
    """Remembers for which two computations loops and fusions around them correspond."""

    def __init__(self, joined: Joined) -> None:
        self._joined = joined
        self._known: dict[tuple[int, int], bool] = {}

    def same(self, left: int, right: int) -> bool:
        """Whether two nodes stand in corresponding loops and fusions."""
        lhs, rhs = self._joined.lhs, self._joined.rhs
        if left >= lhs.size or right >= rhs.size:
            return True
        key = lhs.computation_of[left], rhs.computation_of[right]
        known = self._known.get(key)
        if known is None:
            loops = lhs.loop_of[key[0]], rhs.loop_of[key[1]]
            fusions = lhs.fusion_of[key[0]], rhs.fusion_of[key[1]]
            known = self._joined.same(*loops) and self._joined.same(*fusions)
            self._known[key] = known
        return known


def _lone(side: Side, partners: tuple[int, ...], known: frozenset[int]) -> Iterator[int]:
    for node, partner in enumerate(partners):
        if partner != NONE or side.silent[node] or side.is_part(node):
            continue
        if node < side.size and not _is_said(side, node, known):
            continue
        yield node


def _is_said(side: Side, node: int, known: frozenset[int]) -> bool:
    """Not what one side merely shares between callers, nor the parameters of a callee.

    Whether two reductions name one computation or two equal ones changes nothing.
    """
    computation = side.computation_of[node]
    if computation == side.module.entry or side.canonical.inlined[computation] != NONE:
        return True
    return computation not in known and side.instruction(node).opcode != "parameter"
