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
    replay,
)
from hloscope.attribute.cost_xla_rules import CURRENT_RULES, XlaRules
from hloscope.model.canonical import Ref
from hloscope.model.capture import CostFigures
from hloscope.model.cost import CostEntry, Reconciliation, Step, add
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
SIZES = "this XLA has sizes of its own for tiles, tuple tables, semaphores or kernels"


def reconcile(
    graph: Graph,
    mine: Replay,
    runs: Executions,
    listed: Sequence[CostEntry],
    rules: XlaRules = CURRENT_RULES,
    reported: CostFigures | None = None,
) -> Reconciliation:
    """Every step from XLA's body-once figures to the ledger's totals, with what each adds.

    Args:
      graph: the module.
      mine: XLA's figures by `CURRENT_RULES`.
      runs: how often each computation runs.
      listed: the ledger's entries.
      rules: the rules of the XLA that made `reported`.
      reported: XLA's own figures.
    """
    module = graph.module
    once = _program_total(mine, runs)
    start = once if rules == CURRENT_RULES else _program_total(replay(module, rules), runs)
    steps = {SIZES: _minus(once, start)}
    counts = _xla_counts(graph, runs, mine)
    steps[BRANCHES] = _negative(_branch_surplus(module, counts, mine))
    by_ref = {entry.ref: entry for entry in listed}
    for position, count in counts.items():
        for number, xla in enumerate(mine.instructions[position]):
            entry = by_ref.get(Ref(position, number))
            if position in runs.kernels:
                xla = xla._replace(bytes=0)  # a fusion's inner bytes stay inside
            instruction = module.computations[position].instructions[number]
            for rule, amount in _entry_steps(instruction, entry, xla, count):
                steps[rule] = steps.get(rule, XlaCost()).plus(amount)
    total = start
    for amount in steps.values():
        total = total.plus(amount)
    return Reconciliation(
        reported=reported,
        body_once=Step("XLA's rules, replayed", *start),
        steps=tuple(Step(rule, *amount) for rule, amount in steps.items() if any(amount)),
        total=Step("total", *total),
    )


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
    instruction: Instruction, entry: CostEntry | None, xla: XlaCost, count: int
) -> list[tuple[str, XlaCost]]:
    """From XLA's figure, counted `count` times, to the entry's, counted as often as it runs."""
    known = XlaCost() if entry is None else _known(entry)
    changed = _times(_minus(known, xla), count)
    steps = [(_rule(instruction), changed)]
    if entry is not None and isinstance(entry.executions, Measured):
        steps.append((LOOPS, _times(known, entry.executions.value - count)))
    elif entry is not None:
        steps.append((UNKNOWN_LOOPS, _times(known, -count)))
    return steps


def _known(entry: CostEntry) -> XlaCost:
    moved = add(entry.bytes_read, entry.bytes_written)
    return XlaCost(_or_zero(entry.flops), _or_zero(entry.transcendentals), _or_zero(moved))


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
