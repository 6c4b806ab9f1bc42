"""The first operation in which two programs differ as their compilers are given them."""

from __future__ import annotations

from collections.abc import Mapping

from hloscope import diff
from hloscope.capture.errands import read_programs
from hloscope.errors import HloscopeError
from hloscope.model.canonical import CanonicalModule
from hloscope.model.changes import Change, Place
from hloscope.model.edits import Operation, ReadProgram
from hloscope.model.pairing import Pairing
from hloscope.model.passes import FirstOperation, InputsPart
from hloscope.model.source import Source
from hloscope.pipeline.comparing import parameter_paths
from hloscope.pipeline.tagged import pair_programs

_QUIET = frozenset({"constant", "parameter", "broadcast", "reshape", "tuple"})
ATTRIBUTES_ALONE = "module attributes alone differ: donation, layouts or shardings"


def first_change(lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing) -> Change | None:
    """The change that comes first in the order of the program, called computations in place.

    Constants and wiring are everywhere, so operations go before them.
    """
    changes = [
        change for region in diff.compare(lhs, rhs, pairing).regions for change in region.heads
    ]
    sides = ((lhs, _order(lhs)), (rhs, _order(rhs)))

    def order(change: Change) -> tuple[bool, int]:
        places = [
            (place, positions[module.node(place.ref)])
            for place, (module, positions) in zip((change.lhs, change.rhs), sides, strict=True)
            if place is not None
        ]
        return all(p.opcode in _QUIET for p, _ in places), min(at for _, at in places)

    return min(changes, key=order, default=None)


def _order(module: CanonicalModule) -> dict[int, int]:
    """Every node's place along data flow."""
    return {node: place for place, node in enumerate(module.flow.topological)}


def first_stablehlo(lhs: Source, rhs: Source) -> InputsPart:
    """The first StableHLO operation that differs, with its source line.

    Raises:
      HloscopeError: jaxlib is missing, or cannot read a side's StableHLO.
    """
    if lhs.capture is None or rhs.capture is None:
        raise HloscopeError("a side is no capture")
    left, right = read_programs((lhs.capture, rhs.capture))
    pair = pair_programs(left, right, parameter_paths(lhs), parameter_paths(rhs))
    first = first_change(pair.lhs, pair.rhs, pair.pairing)
    if first is None:
        return InputsPart(kind="StableHLO", lhs=None, rhs=None, note=ATTRIBUTES_ALONE)
    return InputsPart(
        kind="StableHLO",
        lhs=_shown(first.lhs, pair.lhs, pair.lhs_numbers, left),
        rhs=_shown(first.rhs, pair.rhs, pair.rhs_numbers, right),
        note="first along data flow, paired by way of the HLO that it becomes",
    )


def _shown(
    place: Place | None, module: CanonicalModule, numbers: Mapping[int, int], program: ReadProgram
) -> FirstOperation | None:
    if place is None:
        return None
    number = numbers.get(module.node(place.ref))
    if number is None:  # an argument, or what the translation made of several operations
        source = f"{place.frame.file}:{place.frame.line}" if place.frame else ""
        return FirstOperation(place.text, source)
    found: Operation = program.operations[number]
    return FirstOperation(found.text, found.source)
