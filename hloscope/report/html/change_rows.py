"""The table of changes: a row each, and what a row opens into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hloscope.hlo import format_shape
from hloscope.model.canonical import Ref
from hloscope.model.changes import Change, Instance
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Explanation, Finding
from hloscope.model.units import Maybe, Measured
from hloscope.report.changes import change_text, change_where
from hloscope.report.html.layout import layered
from hloscope.report.html.listing import marked, text_of
from hloscope.report.html.neighbourhood import STEPS, Neighbourhood, Node, neighbourhood
from hloscope.report.html.sides import Side, Sides, changes_of
from hloscope.report.names import cut
from hloscope.report.numbers import bytes_text, count_text, short, signed, without_layout

MOST = 1_000  # rows; a table of more is no answer
_LONGEST = 240  # characters of what differs; a row opens into all of it
_GRAPHS = 3_000_000  # characters of all graphs together


class Figure(NamedTuple):
    """A number to sort by and its text; `value` is 0 where it is unknown."""

    value: float
    text: str


class Row(NamedTuple):
    """One change.

    Attributes:
      number: of its region, in the order of the report.
      places: how often the change occurs, over all equal regions.
      held: device memory at peak, rhs - lhs; `moved` and `flops` are of one step.
      codes: of the findings that claim it.
      detail: whether there is something to open.
    """

    number: int
    role: str
    classes: tuple[str, ...]
    what: str
    where: str
    places: int
    held: Figure
    moved: Figure
    flops: Figure
    codes: tuple[str, ...]
    detail: bool


def change_rows(
    comparison: Comparison, explanation: Explanation, sides: Sides
) -> tuple[list[Row], list[dict[str, Any]]]:
    """Rows in the order of the report, with the detail of each; the last ones may have none."""
    figures = _Figures(comparison, explanation)
    rows: list[Row] = []
    details: list[dict[str, Any]] = []
    room = _GRAPHS
    for number, change in changes_of(comparison.changes):
        if len(rows) == MOST:
            break
        detail = _detail(sides, change) if room > 0 else None
        if detail is not None:
            room -= len(str(detail))
            details.append(detail)
        rows.append(_row(figures, number, change, detail is not None))
    return rows, details


class _Figures:
    """What the ledgers and findings say of the instructions of a change."""

    def __init__(self, comparison: Comparison, explanation: Explanation) -> None:
        self._held: dict[tuple[int, Ref], int] = defaultdict(int)
        self._cost: dict[tuple[int, Ref], Any] = {}
        self._codes: dict[tuple[int, Ref], list[str]] = defaultdict(list)
        for entry in comparison.memory.entries if comparison.memory else ():
            for side, held in enumerate((entry.lhs, entry.rhs)):
                if held is not None and held.value is not None:
                    self._held[side, held.value.ref] += entry.size
        for delta in comparison.cost.entries:
            for side, cost in enumerate((delta.lhs, delta.rhs)):
                if cost is not None:
                    self._cost[side, cost.ref] = delta
        for finding in explanation.findings:
            for key in _claimed(comparison, finding):
                self._codes[key].append(finding.code)

    def held(self, change: Change) -> Figure:
        size = sum(self._held.get(key, 0) for key in _keys(change))
        return Figure(size, signed(bytes_text(size)) if size else "")

    def moved(self, change: Change) -> Figure:
        return _total([d.bytes for d in self._deltas(change)], bytes_text)

    def flops(self, change: Change) -> Figure:
        return _total([d.flops for d in self._deltas(change)], count_text)

    def codes(self, change: Change) -> tuple[str, ...]:
        return tuple(sorted({code for key in _keys(change) for code in self._codes.get(key, ())}))

    def _deltas(self, change: Change) -> Iterable[Any]:
        return [self._cost[key] for key in _keys(change) if key in self._cost]


def _keys(change: Change) -> Iterator[tuple[int, Ref]]:
    """Each place by one side, so that a pair counts once."""
    for place in change.instances:
        if place.rhs is not None:
            yield 1, place.rhs
        elif place.lhs is not None:
            yield 0, place.lhs


def _claimed(comparison: Comparison, finding: Finding) -> Iterator[tuple[int, Ref]]:
    memory = comparison.memory
    for number in finding.entries if memory else ():
        assert memory is not None  # noqa: S101 - as the line above says
        for side, held in enumerate((memory.entries[number].lhs, memory.entries[number].rhs)):
            if held is not None and held.value is not None:
                yield side, held.value.ref
    for number in finding.cost_entries:
        delta = comparison.cost.entries[number]
        for side, cost in enumerate((delta.lhs, delta.rhs)):
            if cost is not None:
                yield side, cost.ref
    for number in finding.communication_entries:
        sent = comparison.communication.changes[number]
        for side, item in enumerate((sent.lhs, sent.rhs)):
            if item is not None:
                yield side, item.ref


def _total(figures: Sequence[Maybe[int]], text: Any) -> Figure:
    known = [figure.value for figure in figures if isinstance(figure, Measured)]
    unknown = len(known) < len(figures)
    if unknown and not known:
        return Figure(0, "unknown")
    total = sum(known)
    return Figure(total, (">=" if unknown else "") + signed(text(total)) if total else "")


def _row(figures: _Figures, number: int, change: Change, detail: bool) -> Row:
    return Row(
        number=number,
        role=str(change.role),
        classes=tuple(str(kind) for kind in change.classes),
        what=cut(change_text(change), _LONGEST),
        where=change_where(change),
        places=len(change.instances),
        held=figures.held(change),
        moved=figures.moved(change),
        flops=figures.flops(change),
        codes=figures.codes(change),
        detail=detail,
    )


def _detail(sides: Sides, change: Change) -> dict[str, Any]:
    place = change.instances[0]
    around = neighbourhood(sides, place)
    return {
        "text": _text(sides, place),
        "nodes": [_node(sides, node, hidden) for node, hidden in _with_hidden(around)],
        "edges": [[e.source, e.user, int(e.lhs) + 2 * int(e.rhs)] for e in around.edges],
        "layouts": [_layout(around, step) for step in range(1, STEPS + 1)],
    }


def _text(sides: Sides, place: Instance) -> list[Any]:
    """Both lines of HLO text with what differs in each."""
    left = text_of(sides.lhs, place.lhs) if place.lhs is not None else ""
    right = text_of(sides.rhs, place.rhs) if place.rhs is not None else ""
    if place.lhs is None or place.rhs is None:
        return [left, right, [], []]
    return [left, right, *marked(sides, place.lhs, left, right)]


def _with_hidden(around: Neighbourhood) -> Iterator[tuple[Node, tuple[int, int]]]:
    return zip(around.nodes, around.hidden, strict=True)


def _node(sides: Sides, node: Node, hidden: tuple[int, int]) -> list[Any]:
    """Distance, status, what is hidden, then the label of each side it is on."""
    lhs, rhs = node.lhs, node.rhs
    if lhs is not None and rhs is not None:
        differs = lhs in sides.lhs.changed or rhs in sides.rhs.changed
        status = "~" if differs else "="
    else:
        status = "-" if lhs is not None else "+"
    return [node.distance, status, list(hidden), _label(sides.lhs, lhs), _label(sides.rhs, rhs)]


def _label(side: Side, ref: Ref | None) -> list[str] | None:
    if ref is None:
        return None
    instruction = side.instruction(ref)
    shape = short(without_layout(format_shape(instruction.shape)))
    return [instruction.opcode, instruction.name, shape]


def _layout(around: Neighbourhood, step: int) -> dict[str, Any]:
    """Places of the nodes at most `step` away, which come first, and bends of their edges."""
    count = sum(node.distance <= step for node in around.nodes)
    edges = [(e.source, e.user) for e in around.edges if e.source < count and e.user < count]
    drawing = layered(count, edges)
    return {
        "places": [list(place) for place in drawing.nodes],
        "bends": {f"{a},{b}": way for (a, b), way in sorted(drawing.bends.items())},
    }
