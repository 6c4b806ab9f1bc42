"""What one side gives back that the other does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Finding,
    Leaf,
    Remedy,
    Result,
    Specificity,
    View,
    frame_of,
    listed,
    result_pairs,
    results,
    views,
)

_SHOWN = 5  # results named one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs(Analyzer):
    """The two programs do not give back the same results.

    What it sees: results of one side alone, apart from those that only have another name or place.

    Why it costs: a result is held until the step ends, and nothing can share its memory. What a
    loop gives back from every turn is stacked, so that it is held for all turns at once; and what
    would have stayed inside a fused kernel has to be written out.

    What it does not see: whether anybody reads the result.

    Example: gradients that were returned for a look at their norms, and stayed:

        return new_params, new_momentum, grads
    """

    name: ClassVar[str] = "outputs"
    codes: ClassVar[Mapping[str, str]] = {
        "OUT001": "one side gives back results that the other does not have",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Results that rhs has in addition, then those that it lacks."""
        if comparison.outputs is None:
            return
        for view in views(comparison):
            found = _alone(view)
            if found:
                yield _finding(view, found)


def _alone(view: View) -> list[Leaf]:
    """Leaves of this side alone, without as many of one kind as the other side has alone."""
    outputs = view.comparison.outputs
    if outputs is None:
        return []
    pairs = result_pairs(view.comparison)
    named = {r.leaf.path for pair in pairs for r in pair if r.leaf is not None}
    sides = (outputs.added, outputs.removed)
    here, there = sides if view.name == "rhs" else sides[::-1]
    left = Counter(_described(leaf) for leaf in there)
    found = []
    for leaf in here:
        left[_described(leaf)] -= 1
        if left[_described(leaf)] < 0 and leaf.path not in named:
            found.append(leaf)
    return found


def _described(leaf: Leaf) -> str:
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"


def _finding(view: View, found: Sequence[Leaf]) -> Finding:
    places = {leaf.parameter for leaf in found}
    made = [result for result in results(view.source) if result.position in places]
    worse = view.direction is Direction.WORSE
    named = listed([f"{leaf.path or 'result'} {_described(leaf)}" for leaf in found], 2)
    number = f"{len(found)} {'more' if worse else 'fewer'} result{'s' if found[1:] else ''}"
    nodes = [node for result in made for node in _nodes(view, result)]
    return Finding(
        code="OUT001",
        title=f"rhs gives back {number}: {named}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.MECHANISM,
        direction=view.direction,
        entries=_entries(view, places),
        cost_entries=view.more_cost_of(result.ref for result in made),
        evidence=tuple(
            view.seen(leaf.path or "result", _described(leaf)) for leaf in found[:_SHOWN]
        ),
        unknown=("whether anybody reads them",) if worse else (),
        remedies=(Remedy("give back what the caller needs, or a reduction of it"),)
        if worse
        else (),
        **view.where(frame_of(view.flow, node) for node in nodes),
    )


def _nodes(view: View, result: Result) -> Iterator[int]:
    """What makes a result, in the data flow of the optimized module."""
    yield from view.flow.at.get(result.ref, ())


def _entries(view: View, places: set[int | None]) -> tuple[int, ...]:
    """Memory in which this side has more, with one of the results."""
    memory = view.comparison.memory
    return tuple(
        position
        for position, entry in enumerate(memory.entries if memory else ())
        if (held := view.held(entry)) is not None
        and view.grown(entry.size)
        and {*held.outputs} & places
    )
