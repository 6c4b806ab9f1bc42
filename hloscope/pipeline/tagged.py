"""Operations of two StableHLO modules paired by way of their HLO."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hloscope.hlo import read_proto
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule
from hloscope.model.edits import ReadProgram
from hloscope.model.hlo import Instruction, Module
from hloscope.model.pairing import Pairing
from hloscope.normalize import normalize

_TAG = re.compile(r'hloscope="(\d+)",?')
_FRONTEND = "frontend_attributes"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedPair:
    """Two programs as HLO before any pass, paired.

    Attributes:
      lhs_numbers: node to the number of the operation that it comes from.
      operations: number of an operation of lhs to that of its counterpart.
    """

    lhs: CanonicalModule
    rhs: CanonicalModule
    pairing: Pairing
    lhs_numbers: Mapping[int, int]
    rhs_numbers: Mapping[int, int]
    operations: Mapping[int, int]


def pair_programs(
    lhs: ReadProgram,
    rhs: ReadProgram,
    lhs_paths: Mapping[int, str] | None,
    rhs_paths: Mapping[int, str] | None,
) -> TaggedPair:
    """Pairs the operations of two programs by data flow.

    Args:
      lhs: the baseline's program.
      rhs: the candidate's.
      lhs_paths: tree paths of lhs's entry parameters by number.
      rhs_paths: likewise.
    """
    (left, left_numbers), (right, right_numbers) = (
        _canonical(program, paths) for program, paths in ((lhs, lhs_paths), (rhs, rhs_paths))
    )
    pairing = match(left, right)
    operations: dict[int, int] = {}
    taken: set[int] = set()
    for pair in pairing.pairs:
        a, b = left_numbers.get(left.node(pair.lhs)), right_numbers.get(right.node(pair.rhs))
        # several instructions may come from one operation; its first pair decides
        if a is not None and b is not None and a not in operations and b not in taken:
            operations[a] = b
            taken.add(b)
    return TaggedPair(
        lhs=left,
        rhs=right,
        pairing=pairing,
        lhs_numbers=left_numbers,
        rhs_numbers=right_numbers,
        operations=dict(sorted(operations.items())),
    )


def _canonical(
    program: ReadProgram, paths: Mapping[int, str] | None
) -> tuple[CanonicalModule, dict[int, int]]:
    module, tags = untagged(read_proto(program.hlo))
    canonical = normalize(module, parameter_paths=paths)
    numbers = {
        canonical.offsets[computation] + place: number
        for (computation, place), number in tags.items()
    }
    return canonical, numbers


def untagged(module: Module) -> tuple[Module, dict[tuple[int, int], int]]:
    """A module without the numbers of its operations, and the numbers by place."""
    tags: dict[tuple[int, int], int] = {}
    computations = []
    for c, computation in enumerate(module.computations):
        instructions = []
        for i, instruction in enumerate(computation.instructions):
            clean, number = _untagged(instruction)
            instructions.append(clean)
            if number is not None:
                tags[c, i] = number
        computations.append(computation._replace(instructions=tuple(instructions)))
    return replace(module, computations=tuple(computations)), tags


def _untagged(instruction: Instruction) -> tuple[Instruction, int | None]:
    text = instruction.attr(_FRONTEND)
    found = _TAG.search(text or "")
    if text is None or found is None:
        return instruction, None
    rest = (text[: found.start()] + text[found.end() :]).replace(",}", "}")
    attrs = tuple(
        (name, rest if name == _FRONTEND else value)
        for name, value in instruction.attrs
        if name != _FRONTEND or rest != "{}"
    )
    return instruction._replace(attrs=attrs), int(found[1])
