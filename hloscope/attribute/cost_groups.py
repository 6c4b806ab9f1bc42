"""Cost entries summed by what they have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from hloscope.attribute.cost_delta import per_step, seconds_per_step
from hloscope.attribute.cost_totals import seconds_total, total_of
from hloscope.model.cost import CostDelta, CostEntry, CostLedger, Total
from hloscope.model.units import Maybe

NO_PATH = "(no module path)"
NO_SOURCE = "(no source line)"
# what XLA appends to make a name unique
_CLONE = re.compile(r"(\.(clone|remat\d*|\d+))+$")
_NUMBER = re.compile(r"\d+")
Line = tuple[Maybe[int], Maybe[int], Maybe[int], Maybe[float]]


class By(StrEnum):
    """What to sum by."""

    INSTRUCTION = "instruction"  # what the schedule runs, fusions with their contents
    LAYERS = "layers"  # the same, equal ones of modules that differ in a layer's number as one
    OPCODE = "opcode"  # fusions opened
    MODULE = "module"
    SOURCE = "source"


class CostGroup(NamedTuple):
    """The sum over some entries, per step.

    Attributes:
      example: the entry that stands for the group: the kernel itself, or the first.
      entries: how many there are.
      kernels: how many of them the schedule runs; the others are inside of these.
    """

    key: str
    example: CostEntry
    entries: int
    kernels: int
    flops: Total
    transcendentals: Total
    bytes: Total
    seconds: Total


def group_ledger(ledger: CostLedger, by: By) -> tuple[CostGroup, ...]:
    """The ledger's entries summed, most bytes first. Groups add up to the totals."""
    key = _key(by, ledger)
    rows = [(key(e), e, (*per_step(e), seconds_per_step(ledger, e))) for e in ledger.entries]
    return _group(rows)


def group_delta(delta: CostDelta, by: By) -> tuple[CostGroup, ...]:
    """The delta's entries summed, largest change first. Groups add up to the delta's totals."""
    left, right = _key(by, delta.lhs), _key(by, delta.rhs)
    rows = [
        (
            (right if d.rhs else left)(d.entry),
            d.entry,
            (d.flops, d.transcendentals, d.bytes, d.seconds),
        )
        for d in delta.entries
    ]
    return _group(rows)


def _key(by: By, ledger: CostLedger) -> Callable[[CostEntry], str]:
    if by is By.OPCODE:
        return lambda entry: f"custom-call {entry.target}" if entry.target else entry.opcode
    if by is By.MODULE:
        return lambda entry: entry.module_path or NO_PATH
    if by is By.SOURCE:
        return lambda entry: entry.source or NO_SOURCE
    kernels = {entry.ref: entry for entry in ledger.entries}
    name = _unnumbered if by is By.LAYERS else (lambda kernel: kernel.name)
    return lambda entry: name(kernels.get(entry.kernel, entry))


def _unnumbered(kernel: CostEntry) -> str:
    """A kernel's name, shape and module without the numbers that tell equal layers apart."""
    path = _NUMBER.sub("*", kernel.module_path or "")
    return f"{_CLONE.sub('', kernel.name)} {kernel.shape} {path}".rstrip()


def _group(rows: Iterable[tuple[str, CostEntry, Line]]) -> tuple[CostGroup, ...]:
    collected: dict[str, list[tuple[CostEntry, Line]]] = {}
    for key, entry, line in rows:
        collected.setdefault(key, []).append((entry, line))
    groups = [_sum(key, members) for key, members in collected.items()]
    return tuple(sorted(groups, key=_rank))


def _sum(key: str, members: Sequence[tuple[CostEntry, Line]]) -> CostGroup:
    kernels = [entry for entry, _ in members if entry.kernel == entry.ref]
    return CostGroup(
        key=key,
        example=(kernels or [members[0][0]])[0],
        entries=len(members),
        kernels=len(kernels),
        flops=total_of(line[0] for _, line in members),
        transcendentals=total_of(line[1] for _, line in members),
        bytes=total_of(line[2] for _, line in members),
        seconds=seconds_total(line[3] for _, line in members),
    )


def _rank(group: CostGroup) -> tuple[float, float, int, str]:
    unknown = len(group.bytes.unknown) + len(group.flops.unknown)
    return -abs(group.bytes.known), -abs(group.flops.known), -unknown, group.key
