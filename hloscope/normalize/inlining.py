"""Which computations are looked into from their caller, because nobody else calls them."""

from __future__ import annotations

from collections import Counter

from hloscope.model.hlo import Instruction, Module

# opcode to the attributes that name the computations it runs on values handed in by its operands
ROLES = {
    "fusion": ("calls",),
    "call": ("to_apply",),
    "while": ("condition", "body"),
    "async-start": ("calls", "called_computation", "called_computations"),
    "conditional": ("true_computation", "false_computation", "branch_computations"),
}
# these name the computation that their async-start runs
FOLLOWERS = frozenset({"async-update", "async-done"})


def inlined_callees(module: Module) -> dict[tuple[int, int], tuple[int, ...]]:
    """Maps (computation, instruction) of each inlining instruction to the computations it inlines.

    Reducers and comparators are not inlined, nor is a computation with several callers: what is in
    there does not speak of one place in the graph.
    """
    callers = _count_callers(module)
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    for number, computation in enumerate(module.computations):
        for index, ins in enumerate(computation.instructions):
            if ins.called and ins.opcode in ROLES:
                callees = _callees(ins)
                if callees and all(callers[c] == 1 and c != module.entry for c in callees):
                    found[number, index] = callees
    return found


def _count_callers(module: Module) -> Counter[int]:
    callers: Counter[int] = Counter()
    for computation in module.computations:
        for ins in computation.instructions:
            if ins.called and ins.opcode not in FOLLOWERS:
                callers.update(number for _, number in ins.called)
    return callers


def _callees(ins: Instruction) -> tuple[int, ...]:
    """The callees in XLA's order, empty where the instruction is not of the usual form."""
    roles = ROLES[ins.opcode]
    callees = tuple(number for role, number in ins.called if role in roles)
    usual = {
        "while": len(callees) == 2 and len(ins.operands) == 1,
        "conditional": len(ins.operands) == len(callees) + 1,
    }.get(ins.opcode, len(callees) == 1)
    return callees if usual and len(callees) == len(ins.called) else ()
