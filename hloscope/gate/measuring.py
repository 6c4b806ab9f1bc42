"""The figures that a gate judges, and what it remembers of a program."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hloscope.model.capture import Capture
from hloscope.model.communication import CommunicationLedger
from hloscope.model.cost import CostLedger, Quantity, Total
from hloscope.model.gate import BASELINE_SCHEMA, Baseline, Figure, TopBuffer
from hloscope.model.ledger import Category, MemoryLedger
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.store.records import to_json

METRICS: Mapping[str, str] = {
    "hbm-total": "device memory: arguments + outputs - aliased + temporaries + constants",
    "hbm-temporaries": "device memory of temporaries",
    "hbm-arguments": "device memory of arguments",
    "flops": "FLOPs of one step on one device",
    "bytes": "bytes read and written in one step on one device",
    "sent": "bytes that one device sends in one step",
    "sent.AXIS": "the same along one mesh axis",
    "instructions": "instructions of the optimized module",
    "compile-seconds": "wall-clock time of the compile; never the same twice",
}
"""What can have a budget."""

TOP = 10  # buffers that are remembered

# A capture's `python` is left out: a patch release of it compiles nothing otherwise.
_NO_TOOLS = frozenset({"python"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One program as captured, accounted for.

    Attributes:
      memory: `None` where the compiler gave no buffer assignment.
    """

    capture: Capture
    instructions: int
    graph_fingerprint: str
    full_fingerprint: str
    memory: MemoryLedger | None
    cost: CostLedger
    communication: CommunicationLedger


def remember(side: Side) -> Baseline:
    """What a gate remembers of a program."""
    provenance = side.capture.provenance
    return Baseline(
        schema=BASELINE_SCHEMA,
        program=side.capture.program,
        target=side.capture.target,
        figures=dict(sorted(_figures(side))),
        graph_fingerprint=side.graph_fingerprint,
        full_fingerprint=side.full_fingerprint,
        interface=_interface(side.capture),
        environment=environment_of(side.capture),
        git_revision=None if provenance.git_dirty else provenance.git_revision,
        top_buffers=tuple(_top(side.memory)) if side.memory else (),
    )


def environment_of(capture: Capture) -> dict[str, str]:
    """What steered the compile, apart from the program: part and name to value."""
    found = capture.provenance
    versions = {k: v for k, v in found.versions.items() if k not in _NO_TOOLS}
    parts = {
        "version": versions,
        "compile option": found.compile_options,
        "environment variable": found.environment,
        "jax config": found.jax_config,
    }
    named = {"target": capture.target}
    for part, values in parts.items():
        named |= {f"{part} {name}": value for name, value in values.items()}
    return dict(sorted(named.items()))


def _interface(capture: Capture) -> str:
    """One hash of every leaf that goes in or comes out."""
    # as a file holds them: one just taken has a mesh's axes in another order
    leaves = json.dumps(to_json((capture.inputs, capture.outputs)))
    return hashlib.blake2b(leaves.encode(), digest_size=16).hexdigest()


def _figures(side: Side) -> Iterator[tuple[str, Figure]]:
    yield from _memory(side.memory)
    totals = side.cost.totals
    yield "flops", _total(totals[Quantity.FLOPS], "FLOP")
    read, written = totals[Quantity.BYTES_READ], totals[Quantity.BYTES_WRITTEN]
    # a figure is missing for the same instructions on both ways
    unknown = {**dict(read.unknown), **dict(written.unknown)}
    yield "bytes", _total(Total(read.known + written.known, tuple(unknown.items())), "B")
    yield "sent", _total(side.communication.wire_bytes, "B")
    for axes, total in sorted(_by_axes(side.communication).items()):
        yield f"sent.{axes}", _total(total, "B")
    yield "instructions", Figure(value=Measured(side.instructions), unit="")
    seconds = side.capture.provenance.seconds.get("compile")
    known: Maybe[float] = Missing("the capture has no compile time")
    yield "compile-seconds", Figure(value=known if seconds is None else Measured(seconds), unit="s")


def _memory(ledger: MemoryLedger | None) -> Iterator[tuple[str, Figure]]:
    for name, categories in (
        ("hbm-total", tuple(Category)),
        ("hbm-temporaries", (Category.TEMPORARY, Category.FRAGMENTATION)),
        ("hbm-arguments", (Category.ARGUMENT, Category.ALIASED)),
    ):
        value: Maybe[float] = Missing("the compiler gave no buffer assignment")
        yield name, Figure(value=Measured(ledger.of(*categories)) if ledger else value, unit="B")


def _total(total: Total, unit: str) -> Figure:
    if total.unknown and not total.known:
        reasons = "; ".join(reason for reason, _ in total.unknown)
        return Figure(value=Missing(reasons), unit=unit, unknown=dict(sorted(total.unknown)))
    return Figure(value=Measured(total.known), unit=unit, unknown=dict(sorted(total.unknown)))


def _by_axes(ledger: CommunicationLedger) -> dict[str, Total]:
    known: Counter[str] = Counter()
    unknown: dict[str, Counter[str]] = {}
    for collective in ledger.collectives:
        axes = collective.axes_text
        match collective.wire_per_step:
            case Measured(size):
                known[axes] += size
            case Missing(reason):
                unknown.setdefault(axes, Counter())[reason] += 1
    return {
        axes: Total(known[axes], tuple(sorted(unknown.get(axes, {}).items())))
        for axes in _union(known, unknown)
    }


def _union(*names: Iterable[str]) -> list[str]:
    return sorted({name for group in names for name in group})


def _top(ledger: MemoryLedger) -> Iterator[TopBuffer]:
    buffers = [entry for entry in ledger.entries if entry.value is not None]
    for entry in buffers[:TOP]:
        yield TopBuffer(
            bytes=entry.size,
            category=str(entry.category),
            shape=entry.shape_text,
            module_path="/".join(entry.path),
            source=entry.source,
        )
