"""Says whether two compiles ran in the same environment, and what their inputs have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hloscope.model.capture import Leaf
from hloscope.model.comparison import (
    EnvironmentDifference,
    EnvironmentPart,
    LeafChange,
    LeavesDelta,
)
from hloscope.report.document import Block, Note, Section, Table, Tone

# differences that are the point of the comparison, or follow from it, and so no cause for alarm
_EXPECTED = frozenset({EnvironmentPart.OPTION, EnvironmentPart.SOURCE, EnvironmentPart.WARNING})
# more than these would push the answer off the first screen
_FEW = 8


def environment_section(differences: Sequence[EnvironmentDifference] | None) -> Section:
    """The environment section; `None` where a side is no capture and nothing is known."""
    return Section(title="environment", blocks=tuple(_environment(differences)))


def alarm(differences: Sequence[EnvironmentDifference] | None) -> Iterator[Note]:
    """A loud line where the two compiles were not made in the same surroundings."""
    count = sum(d.part not in _EXPECTED for d in differences or ())
    if count:
        yield Note(
            text=f"NOT THE SAME ENVIRONMENT ({count} differences, see below): "
            "what differs may be its doing, not the code's",
            tone=Tone.BAD,
        )


def _environment(differences: Sequence[EnvironmentDifference] | None) -> Iterator[Block]:
    if differences is None:
        yield Note(text="unknown: only captures record it, and a side is none", tone=Tone.QUIET)
        return
    if all(d.part in _EXPECTED for d in differences):
        yield Note(text="same versions, flags, configuration, mesh and target", tone=Tone.GOOD)
    if differences:
        yield Table(
            columns=("what", "lhs", "rhs"),
            rows=tuple(
                (f"{d.part}: {d.name}", d.lhs or "(not set)", d.rhs or "(not set)")
                for d in differences
            ),
            tones=tuple(Tone.QUIET if d.part in _EXPECTED else Tone.BAD for d in differences),
        )


def leaves_section(title: str, delta: LeavesDelta, *, everything: bool = False) -> Section:
    """What two trees of inputs or outputs have in common, and what not."""
    return Section(title=title, blocks=tuple(_leaves(delta, everything)))


def _leaves(delta: LeavesDelta, everything: bool) -> Iterator[Block]:
    spelled = f", {delta.renamed} under other names" if delta.renamed else ""
    yield Note(
        text=f"{delta.paired} leaves pair up{spelled}; {len(delta.removed)} removed, "
        f"{len(delta.added)} added, {_changed(delta.changed)} changed, {_moved(delta)} moved",
        tone=Tone.GOOD if delta.same else Tone.PLAIN,
    )
    lines = [*_changes(delta.changed)]
    lines += [f"- removed {_leaf(leaf)}" for leaf in delta.removed]
    lines += [f"+ added {_leaf(leaf)}" for leaf in delta.added]
    shown = lines if everything else lines[:_FEW]
    yield from (Note(text=line) for line in shown)
    if len(lines) > len(shown):
        yield Note(text=f"... and {len(lines) - len(shown)} more (--all)", tone=Tone.QUIET)


def _changed(changes: Sequence[LeafChange]) -> int:
    return sum(bool(change.fields) for change in changes)


def _moved(delta: LeavesDelta) -> int:
    return sum(change.moved is not None for change in delta.changed)


def _changes(changes: Sequence[LeafChange]) -> Iterator[str]:
    """One line for each different change, with the first leaf it happens to and how many more."""
    first: dict[tuple[str, str, str], Leaf] = {}
    count: Counter[tuple[str, str, str]] = Counter()
    for change in changes:
        for field in change.fields:
            first.setdefault(field, change.rhs)
            count[field] += 1
    for field, leaf in first.items():
        name, lhs, rhs = field
        others = f" and {count[field] - 1} more" if count[field] > 1 else ""
        yield f"~ {_meaning(name)} {lhs} -> {rhs}: {leaf.path}{others}"


def _meaning(field: str) -> str:
    return "spec, same partition" if field == "spec" else field.replace("_", " ")


def _leaf(leaf: Leaf) -> str:
    return f"{leaf.path}: {leaf.dtype}[{','.join(map(str, leaf.shape))}]"
