"""The cost ledger of a module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hloscope.attribute.cost_bodies import Run
from hloscope.attribute.cost_entries import ModulePath, Place, Places, entries
from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_reconcile import reconcile
from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import Replay
from hloscope.attribute.cost_xla_rules import CURRENT_RULES, XlaRules
from hloscope.attribute.kernel_times import kernel_times
from hloscope.model.canonical import Ref
from hloscope.model.capture import CostFigures
from hloscope.model.cost import CostLedger, KernelTime, Quantity, Total
from hloscope.model.hlo import MeasuredTimes
from hloscope.model.target import Chip
from hloscope.model.units import Maybe, Measured, Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class CostContext:
    """What is known about a module beside the module.

    Attributes:
      label: what reports call the side.
      chip: the chip whose peaks time estimates rest on, `None` for no estimates.
      mesh: axis sizes of the program's mesh in order; `None` takes what the module spells.
      measured: device times of a profile; they count before estimates.
      module_path: an instruction's module path.
      source: an instruction's `file:line`.
      reported: XLA's cost analysis of the module.
      rules: the rules of the XLA that made `reported`.
    """

    label: str = ""
    chip: Chip | None = None
    mesh: Mapping[str, int] | None = None
    measured: MeasuredTimes | None = None
    module_path: ModulePath | None = None
    source: Place | None = None
    reported: CostFigures | None = None
    rules: XlaRules = CURRENT_RULES


NO_CONTEXT = CostContext()


def build_ledger(
    graph: Graph,
    mine: Replay,
    runs: Sequence[Run],
    counted: Executions,
    context: CostContext,
    wire: Mapping[Ref, Maybe[int]],
) -> CostLedger:
    """What every instruction of a module costs in one step on one device.

    Args:
      graph: the module, best an optimized one.
      mine: XLA's figures by the context's rules.
      runs: what each computation costs.
      counted: how often each computation runs.
      context: what is known beside the module.
      wire: what kernels send to other devices in one execution.
    """
    places = Places(context.module_path, context.source)
    timed, untimed = kernel_times(graph.module, runs, context.chip, context.measured, wire)
    return CostLedger(
        label=context.label,
        target=f"{context.chip.platform}:{context.chip.name}" if context.chip else "",
        entries=tuple(entries(graph.module, runs, places)),
        times=timed,
        untimed=untimed,
        totals={q: _total(runs, q) for q in Quantity},
        seconds=_seconds(runs, timed, untimed),
        reconciliation=reconcile(graph, mine, counted, runs, context.reported),
        notes=counted.notes,
    )


def _total(runs: Sequence[Run], quantity: Quantity) -> Total:
    """Executions times figure over all instructions; what never runs is 0, known or not."""
    known = 0
    unknown: Counter[str] = Counter()
    for run in runs:
        one = run.body.sums[quantity]
        if isinstance(run.executions, Missing):
            unknown[run.executions.reason] += one.counting
        elif run.executions.value:
            known += run.executions.value * one.known
            unknown.update(one.unknown)
    return Total(known, tuple(sorted((reason, n) for reason, n in unknown.items() if n)))


def _seconds(
    runs: Sequence[Run], timed: Mapping[Ref, KernelTime], untimed: Mapping[Ref, str]
) -> Total:
    known = 0.0
    unknown = Counter(untimed.values())
    for run in runs:
        if run.kernel is not None:
            continue
        for row in run.body.rows:
            time = timed.get(Ref(run.position, row.number))
            if time is not None and isinstance(run.executions, Missing):
                unknown[run.executions.reason] += 1
            elif time is not None and isinstance(run.executions, Measured):
                known += time.seconds * run.executions.value
    return Total(known, tuple(sorted(unknown.items())))
