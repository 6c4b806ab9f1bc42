"""The instructions of two modules with who reads whom, seen through what only hands values on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from hloscope.model.canonical import Ref
from hloscope.model.changes import Change, ModuleDiff
from hloscope.model.comparison import Comparison
from hloscope.model.hlo import Computation, Instruction, Module
from hloscope.model.pairing import Pairing

# an element of a tuple is shown as the tuple itself: its name says nothing more
_HANDS_ON = "get-tuple-element"


class Side:
    """One module; what is worked out for a computation is kept."""

    def __init__(self, module: Module, partners: dict[Ref, Ref], changed: frozenset[Ref]) -> None:
        self.module = module
        self.partners = partners
        self.changed = changed
        self._users: dict[int, dict[int, list[int]]] = {}

    def instruction(self, ref: Ref) -> Instruction:
        """The instruction at a place."""
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def computation(self, ref: Ref) -> Computation:
        """The computation that holds a place."""
        return self.module.computations[ref.computation]

    def operands(self, ref: Ref) -> list[Ref]:
        """What an instruction reads, each once, in operand order."""
        within = self.computation(ref).instructions
        found = (_behind(within, o) for o in within[ref.instruction].operands)
        return [Ref(ref.computation, number) for number in dict.fromkeys(found)]

    def users(self, ref: Ref) -> list[Ref]:
        """What reads an instruction, in the computation's order."""
        users = self._users.get(ref.computation)
        if users is None:
            users = self._users[ref.computation] = _users(self.computation(ref).instructions)
        return [Ref(ref.computation, number) for number in users.get(ref.instruction, ())]


def _behind(within: Sequence[Instruction], number: int) -> int:
    while within[number].opcode == _HANDS_ON and within[number].operands:
        number = within[number].operands[0]
    return number


def _users(within: Sequence[Instruction]) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for number, instruction in enumerate(within):
        if instruction.opcode == _HANDS_ON:
            continue
        for operand in dict.fromkeys(_behind(within, o) for o in instruction.operands):
            users.setdefault(operand, []).append(number)
    return users


class Sides:
    """Both modules of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        forth, back = _partners(comparison.pairing)
        changed = _changed(comparison.changes)
        self.lhs = Side(comparison.lhs.module, forth, changed[0])
        self.rhs = Side(comparison.rhs.module, back, changed[1])

    @cached_property
    def computations(self) -> dict[int, int]:
        """Computations of lhs to those of rhs that have most of their instructions' partners."""
        votes = Counter((lhs.computation, rhs.computation)
                        for lhs, rhs in self.lhs.partners.items())  # fmt: skip
        partner: dict[int, int] = {}
        taken: set[int] = set()
        for (lhs, rhs), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
            if lhs not in partner and rhs not in taken:
                partner[lhs] = rhs
                taken.add(rhs)
        return partner


def changes_of(diff: ModuleDiff) -> Iterator[tuple[int, Change]]:
    """Every change with the number of its region, causes before consequences."""
    for number, region in enumerate(diff.regions, 1):
        for change in (*region.heads, *region.followers):
            yield number, change


def _partners(pairing: Pairing) -> tuple[dict[Ref, Ref], dict[Ref, Ref]]:
    forth = {pair.lhs: pair.rhs for pair in pairing.pairs}
    return forth, {rhs: lhs for lhs, rhs in forth.items()}


def _changed(diff: ModuleDiff) -> tuple[frozenset[Ref], frozenset[Ref]]:
    places = [place for _, change in changes_of(diff) for place in change.instances]
    return (
        frozenset(place.lhs for place in places if place.lhs is not None),
        frozenset(place.rhs for place in places if place.rhs is not None),
    )
