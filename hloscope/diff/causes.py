"""Tells what a paired instruction does differently from what merely reaches it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hloscope.diff.called import changed_inside, same_called
from hloscope.diff.fields import label_changes, layout_changes
from hloscope.diff.joined import NONE, Item, Joined, Side
from hloscope.model.canonical import NodeKind
from hloscope.model.changes import ChangeClass, FieldChange

# their element type is their own choice, whatever they read
_SETS_DTYPE = frozenset({"convert", "bitcast-convert", "constant", "iota", "parameter"})
# their layout is their own choice
_SETS_LAYOUT = frozenset({"copy", "copy-start", "transpose", "custom-call"})
# attributes that spell out extents, and so change with them
_SPELLS_EXTENTS = frozenset(
    {"slice", "dynamic_slice_sizes", "slice_sizes", "window", "padding", "backend_config"}
)

Slot = tuple[int, int]


def paired_item(joined: Joined, left: int, right: int) -> Item:
    """What differs at a pair of nodes: of its own, and by consequence."""
    item = Item(left, right)
    slots = _aligned(joined, left, right)
    if not _is_wrapper(joined, left, right):
        for change, explained in _operand_changes(joined, slots, _commutes(joined, left, right)):
            (item.derived if explained else item.own).append(change)
    for change, explained in _control_changes(joined, left, right):
        (item.derived if explained else item.own).append(change)
    carriers = [*slots, *_results(joined, left, right)]
    found = [*_property_changes(joined, left, right)]
    classes = {change.change_class for change in found}
    for change in found:
        opcodes = {joined.lhs.label(left).opcode, joined.rhs.label(right).opcode}
        explained = _explained(joined, opcodes, change, carriers, classes)
        (item.derived if explained else item.own).append(change)
    item.own.extend(_place_changes(joined, left, right))
    if not same_called(joined, left, right):
        texts = _callees(joined.lhs, left), _callees(joined.rhs, right)
        change = FieldChange(ChangeClass.CALLED, "calls", *texts)
        (item.derived if changed_inside(joined, left, right) else item.own).append(change)
    return item


def _property_changes(joined: Joined, left: int, right: int) -> Iterator[FieldChange]:
    lhs, rhs = joined.lhs, joined.rhs
    yield from label_changes(lhs.label(left), rhs.label(right))
    if lhs.layout_of[left] != rhs.layout_of[right] and left < lhs.size and right < rhs.size:
        shapes = lhs.instruction(left).shape, rhs.instruction(right).shape
        # positions in a wrapper's tuple are noise; what it carries has layouts of its own
        if not _is_wrapper(joined, left, right) or "tuple" not in (s.dtype for s in shapes):
            yield from layout_changes(*shapes)


def _aligned(joined: Joined, left: int, right: int) -> list[Slot]:
    """Operands by slot; those of a commutative operation by partner."""
    lhs, rhs = joined.lhs.sources[left], joined.rhs.sources[right]
    if NodeKind.ELEMENT in (joined.lhs.kinds[left], joined.rhs.kinds[right]):
        lhs, rhs = lhs[1:], rhs[1:]  # what makes an element has its own say
    elif _commutes(joined, left, right) and not _is_wrapper(joined, left, right):
        lhs, rhs = _by_partner(joined, lhs, rhs)
    longest = max(len(lhs), len(rhs))
    pad = (NONE,) * longest
    return list(zip((lhs + pad)[:longest], (rhs + pad)[:longest], strict=True))


def _by_partner(
    joined: Joined, lhs: tuple[int, ...], rhs: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Operands whose order says nothing: partners side by side, then what is left, in order."""
    there = Counter(rhs)
    known: list[int] = []
    left: list[int] = []
    for node in lhs:
        partner = joined.partners[node]
        (known if there[partner] else left).append(node)
        there[partner] -= there[partner] > 0
    partners = [joined.partners[node] for node in known]
    return (*known, *left), (*partners, *there.elements())


def _is_wrapper(joined: Joined, left: int, right: int) -> bool:
    return NodeKind.WRAPPER in (joined.lhs.kinds[left], joined.rhs.kinds[right])


def _commutes(joined: Joined, left: int, right: int) -> bool:
    lhs, rhs = joined.lhs.canonical.flow, joined.rhs.canonical.flow
    return bool(lhs.commutative[left] and rhs.commutative[right])


def _operand_changes(
    joined: Joined, slots: list[Slot], commutes: bool
) -> Iterator[tuple[FieldChange, bool]]:
    wrong = [(k, a, b) for k, (a, b) in enumerate(slots) if not joined.same(a, b)]
    if not wrong:
        return
    lone = [joined.lone(a, b) for _, a, b in wrong]
    swapped = not any(lone) and _same_set(joined, [(a, b) for _, a, b in wrong])
    kind = ChangeClass.OPERAND_ORDER if swapped else ChangeClass.OPERAND
    found = [
        (
            # which of two operands that commute is which says nothing
            "operand" if commutes else f"operand {number}",
            _name(joined.lhs, a),
            _name(joined.rhs, b),
            explained,
        )
        for (number, a, b), explained in zip(wrong, lone, strict=True)
    ]
    if commutes:
        found.sort(key=lambda f: sorted((f[1] or "", f[2] or "")))
    for name, left, right, explained in found:
        yield FieldChange(kind, name, left, right), explained


def _same_set(joined: Joined, slots: list[Slot]) -> bool:
    left = Counter(joined.partners[a] for a, _ in slots if a != NONE)
    return left == Counter(b for _, b in slots if b != NONE)


def _name(side: Side, node: int) -> str | None:
    return None if node == NONE else side.name(node)


def _results(joined: Joined, left: int, right: int) -> Iterator[Slot]:
    """What the computations called by a wrapper return: its shape is theirs."""
    if not _is_wrapper(joined, left, right):
        return
    roots = dict(joined.rhs.called.get(right, ()))
    for role, root in joined.lhs.called.get(left, ()):
        other = roots.get(role, NONE)
        if other == NONE:
            continue
        yield root, other
        yield from zip(joined.lhs.feeders(root), joined.rhs.feeders(other), strict=False)


def _explained(
    joined: Joined,
    opcodes: set[str],
    change: FieldChange,
    carriers: list[Slot],
    classes: set[ChangeClass],
) -> bool:
    """Whether what the node reads changed in the same way."""
    kind = change.change_class
    if kind is ChangeClass.DTYPE:
        return not opcodes & _SETS_DTYPE and _any_shape(joined, carriers, "dtype")
    if kind is ChangeClass.SHAPE:
        return "parameter" not in opcodes and _any_shape(joined, carriers, "dims")
    if change.name in _SPELLS_EXTENTS:
        reshaped = _any_shape(joined, carriers, "dims") or _any_shape(joined, carriers, "dtype")
        return reshaped or bool(classes & {ChangeClass.SHAPE, ChangeClass.DTYPE})
    if kind in (ChangeClass.LAYOUT, ChangeClass.TILING, ChangeClass.MEMORY_SPACE):
        return not opcodes & _SETS_LAYOUT and _any_layout(joined, carriers, kind)
    return False


def _any_shape(joined: Joined, slots: list[Slot], part: str) -> bool:
    return any(
        getattr(joined.lhs.label(a).shape, part) != getattr(joined.rhs.label(b).shape, part)
        for a, b in slots
        if a != NONE and b != NONE
    )


def _any_layout(joined: Joined, slots: list[Slot], kind: ChangeClass) -> bool:
    lhs, rhs = joined.lhs, joined.rhs
    for a, b in slots:
        if NONE in (a, b) or a >= lhs.size or b >= rhs.size:
            continue
        if lhs.layout_of[a] != rhs.layout_of[b]:
            shapes = lhs.instruction(a).shape, rhs.instruction(b).shape
            if any(change.change_class is kind for change in layout_changes(*shapes)):
                return True
    return False


def _place_changes(joined: Joined, left: int, right: int) -> Iterator[FieldChange]:
    """Whether the node stands in another loop or fusion than its partner."""
    lhs, rhs = joined.lhs, joined.rhs
    if left >= lhs.size or right >= rhs.size:
        return
    a, b = lhs.computation_of[left], rhs.computation_of[right]
    kinds = (
        (ChangeClass.LOOP, "loop", lhs.loop_of[a], rhs.loop_of[b]),
        (ChangeClass.FUSION, "fused into", lhs.fusion_of[a], rhs.fusion_of[b]),
    )
    for kind, name, outer, other in kinds:
        # a boundary that one side lacks is reported itself, once, not with all that is in it
        if not joined.same(outer, other) and not joined.lone(outer, other):
            yield FieldChange(kind, name, _name(lhs, outer), _name(rhs, other))


def _callees(side: Side, node: int) -> str | None:
    """What an instruction calls: by role, name and the operation that makes the result."""
    called = (
        f"{role} {side.module.computations[side.computation_of[root]].name}: "
        f"{side.instruction(root).opcode}"
        for role, root in side.called.get(node, ())
    )
    return ", ".join(called) or None


def _control_changes(joined: Joined, left: int, right: int) -> Iterator[tuple[FieldChange, bool]]:
    """Instructions that have to run before; one without partner is itself the cause."""
    lhs = joined.lhs.canonical.flow.control.get(left, ())
    rhs = joined.rhs.canonical.flow.control.get(right, ())
    gone = [a for a in lhs if joined.partners[a] not in rhs]
    new = [b for b in rhs if joined.rhs_partners[b] not in lhs]
    texts = [
        ", ".join(sorted(side.name(node) for node in nodes)) or None
        for side, nodes in ((joined.lhs, gone), (joined.rhs, new))
    ]
    if gone or new:
        lone = any(joined.partners[a] == NONE for a in gone)
        lone = lone or any(joined.rhs_partners[b] == NONE for b in new)
        yield FieldChange(ChangeClass.CONTROL, "runs after", *texts), lone
