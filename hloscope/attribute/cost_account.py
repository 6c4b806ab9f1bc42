"""Both ledgers of a module's work: what it costs, what it sends."""

from __future__ import annotations

from typing import NamedTuple

from hloscope.attribute.communication_ledger import (
    communication_ledger,
    exchanges,
    mesh_in,
    wire_of,
)
from hloscope.attribute.communication_overlap import overlap
from hloscope.attribute.cost_bodies import runs_of
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
    graph = Graph(module)
    figures = replay(graph, context.rules)
    counted = executions(graph, figures, trip_count)
    runs = runs_of(graph, figures, counted)
    mesh = context.mesh if context.mesh is not None else mesh_in(module)
    found = exchanges(graph, counted, mesh)
    costs = build_ledger(graph, figures, runs, counted, context, wire_of(found))
    during = overlap(graph, runs, costs.times)
    places = Places(context.module_path, context.source)
    sent = communication_ledger(graph, counted, found, mesh, during, places, context.label)
    return Account(costs, sent)


def cost_ledger(
    module: Module, trip_count: TripCount, context: CostContext = NO_CONTEXT
) -> CostLedger:
    """The cost ledger alone; see `account`."""
    return account(module, trip_count, context).cost
