"""HLO text of both sides, line beside line, as far as it differs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from hloscope.hlo import print_instruction
from hloscope.model.canonical import Ref
from hloscope.report.html.marking import Span, marks
from hloscope.report.html.sides import Side, Sides

_CONTEXT = 3  # equal lines shown around one that differs
_LONGEST = 1_200  # characters of a line; tuples of a thousand arrays say nothing more
_BUDGET = 2_500_000  # characters of all lines
# modules whose lines all fit are shown whole, the equal ones folded away
_WHOLE = 12_000  # instructions of both sides


class Status(StrEnum):
    """What became of a line; each is the sign in front of it."""

    SAME = " "
    CHANGED = "~"
    LHS = "-"
    RHS = "+"
    MOVED = ">"
    GAP = "…"  # lines that do not differ and are not there
    CUT = "!"  # the rest, which there was no room for


class Line(NamedTuple):
    """A row: a line of either side, or of both.

    Attributes:
      lhs, rhs: text, `""` for none; of a gap or cut, `lhs` is the number of lines left out.
      lhs_marks, rhs_marks: what differs, in characters.
    """

    status: Status
    lhs: str
    rhs: str
    lhs_marks: list[Span]
    rhs_marks: list[Span]


class Listed(NamedTuple):
    """Two computations, or one that the other side lacks.

    Attributes:
      differing: lines that are not the same.
    """

    lhs: str
    rhs: str
    differing: int
    lines: tuple[Line, ...]


class Listing(NamedTuple):
    """All computations that differ, those with most differing lines first.

    Attributes:
      left_out: how many more there are.
      whole: whether equal lines are all there.
    """

    computations: tuple[Listed, ...]
    left_out: int
    whole: bool


Row = tuple[Status, Ref | None, Ref | int | None]


def listing(sides: Sides) -> Listing:
    """The computations that differ, line beside line."""
    count = sum(side.module.instruction_count for side in (sides.lhs, sides.rhs))
    whole = count <= _WHOLE
    found = []
    for lhs, rhs in _computations(sides):
        rows = list(_rows(sides, lhs, rhs))
        differing = sum(status is not Status.SAME for status, _, _ in rows)
        if differing:
            found.append((differing, lhs, rhs, rows))
    found.sort(key=lambda item: (-item[0], item[1] or 0, item[2] or 0))
    listed: list[Listed] = []
    room = _BUDGET
    for differing, lhs, rhs, rows in found:
        if room <= 0:
            break
        lines = tuple(_within(sides, rows if whole else list(_near(rows)), room))
        room -= sum(len(line.lhs) + len(line.rhs) for line in lines)
        names = (_name(sides.lhs, lhs), _name(sides.rhs, rhs))
        listed.append(Listed(*names, differing, lines))
    return Listing(tuple(listed), len(found) - len(listed), whole)


def _within(sides: Sides, rows: Sequence[Row], room: int) -> Iterator[Line]:
    """Lines until there is no room; what is left is counted."""
    for number, row in enumerate(rows):
        if room <= 0:
            yield Line(Status.CUT, str(len(rows) - number), "", [], [])
            return
        line = _line(sides, row)
        room -= len(line.lhs) + len(line.rhs)
        yield line


def _computations(sides: Sides) -> Iterator[tuple[int | None, int | None]]:
    for number in range(len(sides.lhs.module.computations)):
        yield number, sides.computations.get(number)
    taken = set(sides.computations.values())
    for number in range(len(sides.rhs.module.computations)):
        if number not in taken:
            yield None, number


def _rows(sides: Sides, lhs: int | None, rhs: int | None) -> Iterator[Row]:
    """Lines in the order of both sides, pairs that keep it beside each other."""
    left = _places(sides.lhs, lhs)
    right = _places(sides.rhs, rhs)
    kept = _in_order(sides, left, rhs)
    waiting = iter(right)
    for ref in left:
        partner = kept.get(ref)
        if partner is None:
            yield (Status.MOVED if ref in sides.lhs.partners else Status.LHS), ref, None
            continue
        for other in waiting:
            if other == partner:
                break
            yield (Status.MOVED if other in sides.rhs.partners else Status.RHS), None, other
        differs = ref in sides.lhs.changed or partner in sides.rhs.changed
        yield (Status.CHANGED if differs else Status.SAME), ref, partner
    for other in waiting:
        yield (Status.MOVED if other in sides.rhs.partners else Status.RHS), None, other


def _places(side: Side, computation: int | None) -> list[Ref]:
    if computation is None:
        return []
    count = len(side.module.computations[computation].instructions)
    return [Ref(computation, number) for number in range(count)]


def _in_order(sides: Sides, left: Sequence[Ref], rhs: int | None) -> dict[Ref, Ref]:
    """The most pairs whose order is the same on both sides (longest increasing subsequence)."""
    partners = sides.lhs.partners
    pairs = [(r, partners[r]) for r in left if r in partners and partners[r].computation == rhs]
    tails: list[int] = []
    ends: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, other) in enumerate(pairs):
        place = bisect_left(tails, other.instruction)
        before[number] = ends[place - 1] if place else -1
        tails[place : place + 1] = [other.instruction]
        ends[place : place + 1] = [number]
    kept: dict[Ref, Ref] = {}
    last = ends[-1] if ends else -1
    while last >= 0:
        kept[pairs[last][0]] = pairs[last][1]
        last = before[last]
    return kept


def _near(rows: Sequence[Row]) -> Iterator[Row]:
    """Lines that differ in more than their place, with those around; the others are counted."""
    near = set[int]()
    for number, (status, _, _) in enumerate(rows):
        if status not in (Status.SAME, Status.MOVED):
            near.update(range(number - _CONTEXT, number + _CONTEXT + 1))
    skipped = 0
    for number, row in enumerate(rows):
        if number not in near:
            skipped += 1
            continue
        if skipped:
            yield Status.GAP, None, skipped
            skipped = 0
        yield row
    if skipped:
        yield Status.GAP, None, skipped


def _line(sides: Sides, row: Row) -> Line:
    status, lhs, rhs = row
    if isinstance(rhs, int):
        return Line(status, str(rhs), "", [], [])
    left = text_of(sides.lhs, lhs) if lhs is not None else ""
    right = text_of(sides.rhs, rhs) if rhs is not None else ""
    if status is not Status.CHANGED or lhs is None:
        return Line(status, left, right, [], [])
    return Line(status, left, right, *marked(sides, lhs, left, right))


def marked(sides: Sides, lhs: Ref, left: str, right: str) -> tuple[list[Span], list[Span]]:
    """What differs between the lines of a pair, other names of the same thing apart."""
    within = sides.lhs.computation(lhs).instructions
    instruction = within[lhs.instruction]
    names: dict[str, str] = {}
    for operand in instruction.operands:
        other = sides.lhs.partners.get(Ref(lhs.computation, operand))
        if other is not None:
            names[within[operand].name] = sides.rhs.instruction(other).name
    for _, called in instruction.called:
        if called in sides.computations:
            names[_name(sides.lhs, called)] = _name(sides.rhs, sides.computations[called])
    return marks(left, right, lambda name: names.get(name, name))


def text_of(side: Side, ref: Ref) -> str:
    """One line of HLO text; the end of an endless one is cut."""
    text = print_instruction(side.module, side.computation(ref), side.instruction(ref))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … {len(text) - _LONGEST} more"


def _name(side: Side, computation: int | None) -> str:
    return side.module.computations[computation].name if computation is not None else ""
