"""How a ledger's totals follow from XLA's cost analysis of the same module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_users import Graph, call_order
from hloscope.attribute.cost_xla import (
    BRANCH_ROLES,
    Replay,
    XlaCost,
    counted_callees,
)
from hloscope.model.capture import CostFigures
from hloscope.model.cost import CostEntry, Reconciliation, Step
from hloscope.model.hlo import Instruction, Module
from hloscope.model.units import Maybe, Measured

LOOPS = "a loop runs its body as often as its trip count says, XLA counts it once"
UNKNOWN_LOOPS = "loops without a known trip count are left out"
BRANCHES = "of a conditional one branch counts, XLA takes the greatest of each figure"
CUSTOM = "custom calls count as what is known of them, XLA counts -1 for each"
ASYNC = "a start and done pair moves its bytes once, XLA counts both halves"
TABLES = "tables of pointers to tuple elements are not counted"
WRAPPERS = "what only waits or names values moves nothing"
FUSIONS = "slices and updates in fusions are seen through bitcasts, a fusion reads a value once"
SLICES = "all indices of a slice or update count, XLA counts the first"
OTHER = "other rules of single opcodes"


def reconcile(
    graph: Graph,
    mine: Replay,
    runs: Executions,
    listed: Sequence[CostEntry],
    reported: CostFigures | None = None,
) -> Reconciliation:
    """Every step from XLA's body-once figures to the ledger's totals, with what each adds.

    Args:
      graph: the module.
      mine: XLA's figures by the rules of the XLA that made `reported`.
      runs: how often each computation runs.
      listed: the ledger's entries.
      reported: XLA's own figures.
    """
    start = _program_total(mine, runs)
    counts = _xla_counts(graph, runs, mine)
    steps: dict[str, list[int]] = {}
    _add(steps, BRANCHES, 1, _negative(_branch_surplus(graph.module, counts, mine)))
    by_ref: dict[tuple[int, int], CostEntry] = {entry.ref: entry for entry in listed}
    for position, count in counts.items():
        instructions = graph.body(position).instructions
        for number, xla in enumerate(mine.instructions[position]):
            entry = by_ref.get((position, number))
            if entry is None and not any(xla):
                continue
            _entry_steps(steps, instructions[number], entry, xla, count)
    total = start.plus(XlaCost(*(sum(figures) for figures in zip(*steps.values(), strict=True))))
    return Reconciliation(
        reported=reported,
        body_once=Step("XLA's rules, replayed", *start),
        steps=tuple(Step(rule, *amount) for rule, amount in steps.items() if any(amount)),
        total=Step("total", *total),
    )


def _add(steps: dict[str, list[int]], rule: str, factor: int, amount: Sequence[int]) -> None:
    sums = steps.setdefault(rule, [0, 0, 0])
    for place in range(3):
        sums[place] += factor * amount[place]


def _program_total(figures: Replay, runs: Executions) -> XlaCost:
    """XLA's figure of the module: that of its entry."""
    total = XlaCost()
    for start in runs.starts:
        total = total.plus(figures.computations[start])
    return total


def _minus(first: XlaCost, second: XlaCost) -> XlaCost:
    return first.plus(_negative(second))


def _negative(cost: XlaCost) -> XlaCost:
    return _times(cost, -1)


def _times(cost: XlaCost, count: int) -> XlaCost:
    return XlaCost(cost.flops * count, cost.transcendentals * count, cost.bytes * count)


def _chosen(branches: Sequence[int], mine: Replay) -> int:
    """The branch that the ledger counts; the same choice as in `cost_executions`."""
    return max(range(len(branches)), key=lambda n: (mine.computations[branches[n]], -n))


def _xla_counts(graph: Graph, runs: Executions, mine: Replay) -> dict[int, int]:
    """How often XLA counts each computation: once for each call, loops or not."""
    counts = {n: 0 for n, count in enumerate(runs.computations) if count is not None}
    counts.update(dict.fromkeys(runs.starts, 1))
    for position in reversed(call_order(graph.module)):
        count = counts.get(position, 0)
        if not count:
            continue
        for instruction in graph.body(position).instructions:
            for callee in _counted_callees(graph, instruction, mine):
                counts[callee] += count
    return counts


def _branches(instruction: Instruction) -> list[int]:
    return [callee for role, callee in instruction.called if role in BRANCH_ROLES]


def _counted_callees(graph: Graph, instruction: Instruction, mine: Replay) -> list[int]:
    if instruction.opcode == "conditional":
        branches = _branches(instruction)
        return [branches[_chosen(branches, mine)]] if branches else []
    return counted_callees(graph, instruction)


def _branch_surplus(module: Module, counts: Mapping[int, int], mine: Replay) -> XlaCost:
    """What XLA's greatest of each figure has above the branch that the ledger counts."""
    total = XlaCost()
    for position, count in counts.items():
        for instruction in module.computations[position].instructions:
            branches = _branches(instruction) if instruction.opcode == "conditional" else []
            if branches and count:
                costs = [mine.computations[n] for n in branches]
                greatest = XlaCost(*(max(figures) for figures in zip(*costs, strict=True)))
                total = total.plus(_times(_minus(greatest, max(costs)), count))
    return total


def _entry_steps(
    steps: dict[str, list[int]],
    instruction: Instruction,
    entry: CostEntry | None,
    xla: Sequence[int],
    count: int,
) -> None:
    """From XLA's figure, counted `count` times, to the entry's, counted as often as it runs."""
    known = (0, 0, 0) if entry is None else _known(entry)
    if count and known != tuple(xla):
        change = [after - before for after, before in zip(known, xla, strict=True)]
        _add(steps, _rule(instruction), count, change)
    if entry is not None and isinstance(entry.executions, Measured):
        if entry.executions.value != count:
            _add(steps, LOOPS, entry.executions.value - count, known)
    elif entry is not None:
        _add(steps, UNKNOWN_LOOPS, -count, known)


def _known(entry: CostEntry) -> tuple[int, int, int]:
    read, written = entry.bytes_read, entry.bytes_written
    moved = 0
    if isinstance(read, Measured) and isinstance(written, Measured):
        moved = read.value + written.value
    return _or_zero(entry.flops), _or_zero(entry.transcendentals), moved


def _or_zero(figure: Maybe[int]) -> int:
    # what is unknown is in no total; the ledger's totals name it
    return figure.value if isinstance(figure, Measured) else 0


def _rule(instruction: Instruction) -> str:
    opcode = instruction.opcode
    if opcode == "custom-call":
        return CUSTOM
    if opcode.endswith(("-start", "-done", "-update")):
        return ASYNC
    return _RULE_OF.get(opcode, OTHER)


_RULE_OF = {
    "tuple": TABLES,
    "fusion": FUSIONS,
    "dynamic-slice": SLICES,
    "dynamic-update-slice": SLICES,
    "opt-barrier": WRAPPERS,
    "partition-id": WRAPPERS,
    "replica-id": WRAPPERS,
    "get-dimension-size": WRAPPERS,
}
