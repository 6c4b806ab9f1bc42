"""Sharding constraints that one program has and the other has not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Constraint,
    EnvironmentPart,
    Evidence,
    Finding,
    Remedy,
    Specificity,
    View,
    constraints,
    direction_of,
    frame_of,
    input_changes,
    listed,
    parse_op_name,
    views,
)

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingConstraints(Analyzer):
    """A sharding constraint is in one program and not, or otherwise, in the other.

    What it sees: `with_sharding_constraint` of the programs as they were written, by the array's
    type and extents and by the mesh axes asked for; those that one side has and the other has not.
    Where the ambient mesh or the logical axis rules differ as well, it says that constraints that
    name logical axes may have done nothing.

    Why it costs: without a constraint the partitioner chooses, and what nothing else ties down
    ends up replicated on every device.

    What it does not see: whether a constraint would have changed anything; it claims what is held
    by more devices and what is sent on one side alone, as far as no surer cause claims it.

    Example: Flax's logical constraints look at the mesh that `jax.set_mesh` sets. Traced under a
    plain `with mesh:` they are silently dropped:

        with mesh, nn.logical_axis_rules(rules):
            x = nn.with_logical_constraint(x, ("batch", None))  # does nothing
    """

    name: ClassVar[str] = "sharding constraints"
    codes: ClassVar[Mapping[str, str]] = {
        "SHARD004": "a sharding constraint that one side alone has",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Constraints that rhs lacks, then those that it has in addition."""
        if comparison.lhs.before is None or comparison.rhs.before is None:
            return
        rhs, lhs = views(comparison)
        # where arrays have other sizes, a constraint is the same one by what it asks for
        resized = bool(input_changes(comparison, "shape"))
        missing, added = _without_parts(
            _only(lhs, rhs, resized=resized), _only(rhs, lhs, resized=resized)
        )
        if missing:
            yield _finding(rhs, missing, added, lost=True)
        elif added:
            yield _finding(lhs, added, (), lost=False)


def _only(view: View, other: View, *, resized: bool) -> tuple[Constraint, ...]:
    """Constraints of one side beyond those of the other."""
    here, there = constraints(view.written), constraints(other.written)
    if len(view.written.loops) != len(other.written.loops) or (
        _recomputed(view, here) != _recomputed(other, there)
    ):
        # layers that are unrolled or recomputed have each constraint again: only what is new counts
        known = {_key(c, resized=resized) for c in there}
        new = {_key(c, resized=resized): c for c in here}
        return tuple(c for key, c in new.items() if key not in known)
    left = Counter(_key(c, resized=resized) for c in there)
    found = []
    for constraint in here:
        key = _key(constraint, resized=resized)
        left[key] -= 1
        if left[key] < 0:
            found.append(constraint)
    return tuple(found)


def _without_parts(
    missing: Sequence[Constraint], added: Sequence[Constraint]
) -> tuple[list[Constraint], list[Constraint]]:
    """Leaves out pairs that ask the same for a batch and for a part of that batch."""
    left, kept = list(added), []
    for constraint in missing:
        part = next((c for c in left if _is_part(c, constraint)), None)
        if part is None:
            kept.append(constraint)
        else:
            left.remove(part)
    return kept, left


def _is_part(one: Constraint, other: Constraint) -> bool:
    """Whether two arrays differ in one extent alone, of which one divides the other."""
    extents = [list(map(int, _NUMBER.findall(_extents(c)))) for c in (one, other)]
    if one.spec != other.spec or len(extents[0]) != len(extents[1]):
        return False
    differ = [(a, b) for a, b in zip(*extents, strict=True) if a != b]
    return len(differ) == 1 and all(min(pair) and not max(pair) % min(pair) for pair in differ)


def _recomputed(view: View, found: Sequence[Constraint]) -> int:
    """How many of the constraints rematerialization has written a second time."""
    names = (view.written.instruction(c.node).metadata.op_name for c in found)
    return sum("rematted_computation" in parse_op_name(name).transforms for name in names)


def _key(constraint: Constraint, *, resized: bool) -> tuple[object, str]:
    extents = _extents(constraint)
    return (extents.count(",") if resized else extents), constraint.spec


def _extents(constraint: Constraint) -> str:
    """`[8,128]`: the type is no matter of sharding."""
    return constraint.array[constraint.array.find("[") :]


def _finding(
    lacking: View, missing: Sequence[Constraint], instead: Sequence[Constraint], *, lost: bool
) -> Finding:
    """The finding; `lacking` is the side without the constraints."""
    comparison = lacking.comparison
    having = lacking.there
    ambient = [d for d in comparison.environment or () if d.part in _AMBIENT]
    claims = [_claims(view) for view in (lacking, having)]
    entries, costs, sent = (tuple(dict.fromkeys((*a, *b))) for a, b in zip(*claims, strict=True))
    sure = lost and not input_changes(comparison, "sharding", "mesh")
    return Finding(
        code="SHARD004",
        title=_title(missing, instead, lost=lost, ambient=bool(ambient)),
        confidence=Confidence.STRUCTURAL if sure else Confidence.SUSPECTED,
        specificity=Specificity.CAUSE,
        direction=direction_of(comparison, entries, costs, sent),
        entries=entries,
        cost_entries=costs,
        communication_entries=sent,
        evidence=(
            Evidence("sharding constraints in the program",
                     *(str(len(constraints(v.written))) for v in (views(comparison)[::-1]))),
            *(having.seen(f"constraint on {c.array}", c.spec) for c in missing[:4]),
            *(lacking.seen(f"constraint on {c.array}", c.spec) for c in instead[:2]),
            *(Evidence(f"{d.part}: {d.name}", d.lhs, d.rhs) for d in ambient),
        ),
        unknown=("whether the partitioner would have chosen otherwise with them",),
        remedies=_remedies(lost=lost, ambient=bool(ambient)),
        **having.where(frame_of(having.written, c.node) for c in missing),
    )  # fmt: skip


_AMBIENT = (EnvironmentPart.MESH, EnvironmentPart.AXIS_RULES)


def _remedies(*, lost: bool, ambient: bool) -> tuple[Remedy, ...]:
    found = [Remedy("constrain what lhs constrains" if lost else "drop the new constraints",
                    "constraints")]  # fmt: skip
    if ambient:
        found.insert(0, Remedy("trace under jax.set_mesh(mesh) and the same axis rules"))
    return tuple(found)


def _title(
    missing: Sequence[Constraint], instead: Sequence[Constraint], *, lost: bool, ambient: bool
) -> str:
    number = f"{len(missing)} sharding constraint{'s' if missing[1:] else ''}"
    names = listed(list(dict.fromkeys(f"{c.array} {c.spec}" for c in missing)), 2)
    verb = "changed" if instead else "missing"
    text = f"{number} {verb} on rhs: {names}" if lost else f"{number} added on rhs: {names}"
    if instead:
        text += f" -> {listed(list(dict.fromkeys(c.spec for c in instead)), 2)}"
    return text + (" (the ambient mesh or its axis rules differ)" if ambient else "")


def _claims(view: View) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """What is held by more devices, or sent, on this side.

    Memory is claimed where a device holds a whole multiple of the other side's array, or the result
    of a collective; of costs, those of these arrays and collectives.
    """
    comparison = view.comparison
    refs = {item.ref for c in comparison.communication.changes
            for item in (view.collective(c),) if item}  # fmt: skip
    gathered = {*view.memory_of(n for ref in refs for n in view.flow.at.get(ref, ()))}
    entries = []
    for position, entry in enumerate(comparison.memory.entries if comparison.memory else ()):
        here, there = view.held(entry), view.there.held(entry)
        if here is None or here.shape is None:
            continue
        if position in gathered or (
            there is not None and there.shape is not None
            and _is_multiple(here.shape.dims, there.shape.dims)
        ):  # fmt: skip
            entries.append(position)
            refs |= {value.ref for value in here.members}
    costs = view.more_cost_of(refs)
    return tuple(entries), costs, tuple(range(len(comparison.communication.changes)))


def _is_multiple(here: tuple[int, ...], there: tuple[int, ...]) -> bool:
    differ = [(a, b) for a, b in zip(here, there, strict=False) if a != b]
    return len(here) == len(there) and bool(differ) and all(b and a % b == 0 for a, b in differ)
