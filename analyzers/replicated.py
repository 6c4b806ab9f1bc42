"""Arguments and results that are cut into fewer parts, or into others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Leaf,
    LeafChange,
    LedgerEntry,
    Remedy,
    Specificity,
    View,
    as_written_alike,
    bytes_text,
    direction_of,
    every_entry,
    input_changes,
    listed,
    operation,
    output_changes,
    shards,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicated(Analyzer):
    """An argument or result is sharded on one side, replicated or sharded otherwise on the other.

    What it sees: the shardings of the program's arguments and results, leaf by leaf; and arrays
    in between of which a device holds a multiple of what it holds on the other side, where the two
    programs do the same as written.

    Why it costs: a replicated array takes its whole size on every device; one that is cut along
    another dimension than its reader wants is gathered or exchanged first.

    What it does not see: who set the sharding: the caller, `in_shardings`, or the partitioner,
    which chooses those of results that nothing constrains.

    Example: parameters that a port initialises without `nn.with_partitioning` arrive replicated:

        params = jax.eval_shape(init, key)  # no shardings: every device holds all of them
    """

    name: ClassVar[str] = "shardings"
    codes: ClassVar[Mapping[str, str]] = {
        "SHARD001": "an argument is sharded otherwise",
        "SHARD002": "a result is sharded otherwise",
        "SHARD003": "an array in between is held by more devices",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Leaves whose sharding differs, then what the difference of a few cannot explain."""
        inputs = _told(input_changes(comparison, "sharding", "mesh"))
        outputs = _told(output_changes(comparison, "sharding", "mesh"))
        rhs = views(comparison)[0]
        alike = as_written_alike(comparison)
        if inputs:
            yield _finding(rhs, "SHARD001", inputs, everything=alike)
        if outputs:
            yield _finding(rhs, "SHARD002", outputs, everything=alike and not inputs)
        if alike:
            for view in views(comparison):
                yield from _between(view)


def _told(changed: Sequence[LeafChange]) -> list[LeafChange]:
    """Changes between two shardings that both say how they cut; a pruned argument has none.

    On another mesh the same axes cut otherwise: that counts where one side is not cut at all.
    """
    found = []
    for change in changed:
        before, after = shards(change.lhs), shards(change.rhs)
        respelled = "sharding" in {name for name, _, _ in change.fields}
        if before is None or after is None:
            continue
        if respelled or (before != after and 1 in (before, after)):
            found.append(change)
    return found


def _finding(rhs: View, code: str, changed: Sequence[LeafChange], *, everything: bool) -> Finding:
    side = "input" if code == "SHARD001" else "output"
    entries = _of_leaves(rhs, side, changed)
    comparison = rhs.comparison
    claims = every_entry(comparison) if everything else (entries, (), ())
    return Finding(
        code=code,
        title=_title(side, changed, rhs),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE if side == "input" else Specificity.MECHANISM,
        direction=direction_of(comparison, *claims),
        entries=claims[0],
        cost_entries=claims[1],
        communication_entries=claims[2],
        evidence=(
            *(Evidence(_name(c), _sharding(c.lhs), _sharding(c.rhs)) for c in changed[:4]),
            *_collectives(rhs, everything=everything),
        ),
        path=(),
        unknown=("whether the sharding was chosen or left to the partitioner",)
        if side == "output"
        else (),
        remedies=(Remedy(f"shard {_names(changed)} as lhs does", f"{_PROBE[side]}-shardings"),),
    )


_PROBE = {"input": "argument", "output": "output"}


def _of_leaves(rhs: View, side: str, changed: Sequence[LeafChange]) -> tuple[int, ...]:
    """Entries of the memory delta that hold the leaves."""
    memory = rhs.comparison.memory
    wanted = {c.rhs.parameter for c in changed if c.rhs.parameter is not None}
    found = []
    for position, entry in enumerate(memory.entries if memory else ()):
        held = rhs.held(entry)
        if held is None:
            continue
        places = {held.parameter} if side == "input" else {*held.outputs}
        if places & wanted:
            found.append(position)
    return tuple(found)


def _title(side: str, changed: Sequence[LeafChange], rhs: View) -> str:
    noun = "argument" if side == "input" else "result"
    first = changed[0]
    names = _names(changed)
    are = "are" if changed[1:] else "is"
    noun += "s" if changed[1:] else ""
    before, after = shards(first.lhs), shards(first.rhs)
    alike = {(c.lhs.sharding, c.rhs.sharding) for c in changed}
    pair = (first.lhs.sharding, first.rhs.sharding)
    detail = f" ({_spec(first.lhs)} -> {_spec(first.rhs)})" if alike == {pair} else ""
    if pair[0] == pair[1]:
        detail = f" ({_mesh(first.lhs)} -> {_mesh(first.rhs)})"
    if before and after and before > after:
        what = "replicated" if after == 1 else f"cut in {after} instead of {before}"
        return f"{noun} {names} {are} {what} on rhs{detail}{_traffic(rhs)}"
    if before and after and before < after:
        what = "no longer replicated" if before == 1 else f"cut in {after} instead of {before}"
        return f"{noun} {names} {are} {what} on rhs{detail}{_traffic(rhs)}"
    return f"{noun} {names} {are} sharded along other dimensions on rhs{detail}{_traffic(rhs)}"


def _traffic(rhs: View) -> str:
    """What it makes the devices send, in a few words."""
    new = [c.rhs.kind for c in rhs.comparison.communication.changes if c.lhs is None and c.rhs]
    return f": {len(new)} new {listed(sorted({*new}))}" if new else ""


def _names(changed: Sequence[LeafChange]) -> str:
    return listed([f"'{c.rhs.path or 'result'}'" for c in changed])


def _name(change: LeafChange) -> str:
    shape = ",".join(map(str, change.rhs.shape))
    return f"{change.rhs.path or 'result'} {change.rhs.dtype}[{shape}]"


def _mesh(leaf: Leaf) -> str:
    return ", ".join(f"{axis}={size}" for axis, size in (leaf.mesh or {}).items())


def _spec(leaf: Leaf) -> str:
    return (leaf.sharding or "none").replace("PartitionSpec", "P")


def _sharding(leaf: Leaf) -> str:
    parts = shards(leaf)
    return _spec(leaf) + (f", {parts} part{'s' if parts > 1 else ''}" if parts else "")


def _collectives(rhs: View, *, everything: bool) -> Iterator[Evidence]:
    if not everything:
        return
    communication = rhs.comparison.communication
    counts = [len(side.collectives) for side in (communication.lhs, communication.rhs)]
    sent = [
        bytes_text(int(side.wire_bytes.known)) for side in (communication.lhs, communication.rhs)
    ]
    if counts[0] or counts[1]:
        texts = [f"{n}, {size} sent in a step" for n, size in zip(counts, sent, strict=True)]
        yield Evidence("collectives", *texts)


def _between(view: View) -> Iterator[Finding]:
    """Temporaries of which this side holds a whole multiple of what the other holds."""
    memory = view.comparison.memory
    found = {}
    for position, entry in enumerate(memory.entries if memory else ()):
        here, there = view.held(entry), view.there.held(entry)
        if here is None or there is None or here.parameter is not None or here.outputs:
            continue
        if here.shape and there.shape and _is_multiple(here.shape.dims, there.shape.dims):
            found[position] = here
    if not found:
        return
    first = next(iter(found.values()))
    worse = view.direction is Direction.WORSE
    yield Finding(
        code="SHARD003",
        title=f"{_made(view, first)} is {'no longer ' if worse else 'now '}cut among devices"
        + (f" (and {len(found) - 1} more)" if len(found) > 1 else ""),
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.MECHANISM,
        direction=view.direction,
        entries=tuple(found),
        evidence=tuple(
            view.seen(f"{held.name} on one device", held.shape_text.partition("{")[0],
                      (view.there.held(memory.entries[p]) or held).shape_text.partition("{")[0])
            for p, held in list(found.items())[:3] if memory
        ),
        path=first.path,
        unknown=("which sharding the partitioner started from",),
        remedies=(Remedy("constrain it as the other side does", "constraints"),) if worse else (),
        **view.where(held.frame for held in found.values()),
    )  # fmt: skip


def _made(view: View, held: LedgerEntry) -> str:
    return operation(view.instruction(held.value.ref)) if held.value else held.name


def _is_multiple(here: tuple[int, ...], there: tuple[int, ...]) -> bool:
    pairs = list(zip(here, there, strict=False))
    differ = [(a, b) for a, b in pairs if a != b]
    return len(here) == len(there) and bool(differ) and all(b and a % b == 0 for a, b in differ)
