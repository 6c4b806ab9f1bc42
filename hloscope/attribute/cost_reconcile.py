"""How a ledger's totals follow from XLA's cost analysis of the same module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hloscope.attribute.cost_bodies import Body, Run
from hloscope.attribute.cost_custom_calls import CustomWork
from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import (
    BRANCH_ROLES,
    Replay,
    XlaCost,
    counted_callees,
)
from hloscope.model.capture import CostFigures
from hloscope.model.cost import Reconciliation, Step
from hloscope.model.hlo import Instruction, Module
from hloscope.model.units import Maybe, Measured, Missing

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
_NOTHING = (0, 0, 0)


def reconcile(
    graph: Graph,
    mine: Replay,
    counted: Executions,
    runs: Sequence[Run],
    reported: CostFigures | None = None,
) -> Reconciliation:
    """Every step from XLA's body-once figures to the ledger's totals, with what each adds.

    Args:
      graph: the module.
      mine: XLA's figures by the rules of the XLA that made `reported`.
      counted: how often each computation runs.
      runs: what the ledger counts of each.
      reported: XLA's own figures.
    """
    start = _program_total(mine, counted)
    counts = _xla_counts(graph, counted, mine)
    steps: dict[str, list[int]] = {}
    _add(steps, BRANCHES, 1, _negative(_branch_surplus(graph.module, counts, mine)))
    gaps: dict[int, _Gap] = {}  # the same for all computations that are alike
    for run in runs:
        gap = gaps.get(id(run.body))
        if gap is None:
            gap = gaps[id(run.body)] = _gap(graph, mine, run.body)
        _run_steps(steps, gap, counts[run.position], run.executions)
    total = start.plus(XlaCost(*(sum(figures) for figures in zip(*steps.values(), strict=True))))
    return Reconciliation(
        reported=reported,
        body_once=Step("XLA's rules, replayed", *start),
        steps=tuple(Step(rule, *amount) for rule, amount in steps.items() if any(amount)),
        total=Step("total", *total),
    )


class _Gap(NamedTuple):
    """Between XLA's figures of one run of a computation and the ledger's.

    Attributes:
      before, after: rule to what it adds, in the order of the instructions: up to the first that
        the ledger lists, and from there on.
      known: the ledger's figures.
      is_listed: whether the ledger lists any instruction.
    """

    before: Mapping[str, Sequence[int]]
    after: Mapping[str, Sequence[int]]
    known: Sequence[int]
    is_listed: bool


def _gap(graph: Graph, mine: Replay, body: Body) -> _Gap:
    instructions = graph.body(body.first).instructions
    rows = {row.number: _known(row.work) for row in body.rows}
    listed = min(rows, default=len(instructions))
    parts: tuple[dict[str, list[int]], dict[str, list[int]]] = ({}, {})
    for number, xla in enumerate(mine.instructions[body.first]):
        known = rows.get(number, _NOTHING)
        if known != xla:
            rule = _rule(instructions[number])
            part = parts[number > listed and rule not in parts[0]]
            _add(part, rule, 1, [a - b for a, b in zip(known, xla, strict=True)])
    total = [sum(figures) for figures in zip(_NOTHING, *rows.values(), strict=True)]
    return _Gap(*parts, total, bool(rows))


def _run_steps(steps: dict[str, list[int]], gap: _Gap, count: int, runs: Maybe[int]) -> None:
    """From XLA's figures, counted `count` times, to the ledger's, counted as often as it runs."""
    if count:
        for rule, amount in gap.before.items():
            _add(steps, rule, count, amount)
    if gap.is_listed and isinstance(runs, Missing):
        _add(steps, UNKNOWN_LOOPS, -count, gap.known)
    elif gap.is_listed and isinstance(runs, Measured) and runs.value != count:
        _add(steps, LOOPS, runs.value - count, gap.known)
    if count:
        for rule, amount in gap.after.items():
            _add(steps, rule, count, amount)


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
    for position in reversed(graph.order):
        count = counts.get(position, 0)
        if not count:
            continue
        for instruction in graph.body(position).instructions:
            if instruction.called:
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


def _known(work: CustomWork) -> tuple[int, int, int]:
    read, written = work.bytes_read, work.bytes_written
    moved = 0
    if isinstance(read, Measured) and isinstance(written, Measured):
        moved = read.value + written.value
    return _or_zero(work.flops), _or_zero(work.transcendentals), moved


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
