"""Both ledgers of a module's work: what it costs, what it sends."""

from __future__ import annotations

from typing import NamedTuple

from hloscope.attribute.communication_ledger import (
    communication_ledger,
    exchanges,
    mesh_in,
    wire_of,
)
from hloscope.attribute.cost_entries import Places
from hloscope.attribute.cost_executions import TripCount, executions
from hloscope.attribute.cost_ledger import NO_CONTEXT, CostContext, build_ledger
from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import replay
from hloscope.model.communication import CommunicationLedger
from hloscope.model.cost import CostLedger
from hloscope.model.hlo import Module


class Account(NamedTuple):
    """The two ledgers, made of the same walk through the module."""

    cost: CostLedger
    communication: CommunicationLedger


def account(module: Module, trip_count: TripCount, context: CostContext = NO_CONTEXT) -> Account:
    """What a module computes, moves and sends in one step on one device.

    Args:
      module: the module, best an optimized one.
      trip_count: the trip count of a `while`; `hlo.trip_count` as a rule.
      context: what is known beside the module.
    """
    graph, figures = Graph(module), replay(module, context.rules)
    runs = executions(module, figures, trip_count)
    mesh = context.mesh if context.mesh is not None else mesh_in(module)
    found = exchanges(graph, runs, mesh)
    costs = build_ledger(graph, figures, runs, context, wire_of(found))
    places = Places(context.module_path, context.source)
    return Account(costs, communication_ledger(graph, runs, found, mesh, costs, places))


def cost_ledger(
    module: Module, trip_count: TripCount, context: CostContext = NO_CONTEXT
) -> CostLedger:
    """The cost ledger alone; see `account`."""
    return account(module, trip_count, context).cost
