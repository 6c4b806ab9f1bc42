"""The cost ledger of a module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from hloscope.attribute.cost_entries import ModulePath, Place, Places, entries
from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_reconcile import reconcile
from hloscope.attribute.cost_totals import total_of
from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import Replay
from hloscope.attribute.cost_xla_rules import CURRENT_RULES, XlaRules
from hloscope.attribute.kernel_times import kernel_times
from hloscope.model.canonical import Ref
from hloscope.model.capture import CostFigures
from hloscope.model.cost import CostEntry, CostLedger, KernelTime, Quantity, Total, times
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
    runs: Executions,
    context: CostContext,
    wire: Mapping[Ref, Maybe[int]],
) -> CostLedger:
    """What every instruction of a module costs in one step on one device.

    Args:
      graph: the module, best an optimized one.
      mine: XLA's figures by the context's rules.
      runs: how often each computation runs.
      context: what is known beside the module.
      wire: what kernels send to other devices in one execution.
    """
    places = Places(context.module_path, context.source)
    listed = tuple(entries(graph, mine, runs, places))
    timed, untimed = kernel_times(graph.module, listed, context.chip, context.measured, wire)
    return CostLedger(
        label=context.label,
        target=f"{context.chip.platform}:{context.chip.name}" if context.chip else "",
        entries=listed,
        times=timed,
        untimed=untimed,
        totals={q: _total(listed, q) for q in Quantity},
        seconds=_seconds(listed, timed, untimed),
        reconciliation=reconcile(graph, mine, runs, listed, context.reported),
        notes=runs.notes,
    )


def _total(listed: Sequence[CostEntry], quantity: Quantity) -> Total:
    figure = attrgetter(quantity.value)
    return total_of(times(entry.executions, figure(entry)) for entry in listed)


def _seconds(
    listed: Sequence[CostEntry], timed: Mapping[Ref, KernelTime], untimed: Mapping[Ref, str]
) -> Total:
    known = 0.0
    unknown: Counter[str] = Counter()
    for entry in listed:
        time = timed.get(entry.ref)
        if entry.ref in untimed:
            unknown[untimed[entry.ref]] += 1
        elif time is not None and isinstance(entry.executions, Missing):
            unknown[entry.executions.reason] += 1
        elif time is not None and isinstance(entry.executions, Measured):
            known += time.seconds * entry.executions.value
    return Total(known, tuple(sorted(unknown.items())))
