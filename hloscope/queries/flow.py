"""Data flow of a side, opened once for all analyzers that ask."""

from __future__ import annotations

from collections import OrderedDict

from hloscope.hlo.dataflow import Dataflow, dataflow
from hloscope.model.hlo import Module

# both sides' modules, optimized and before, of the comparison at hand and of the one before
_KEPT = 8
_flows: OrderedDict[int, Dataflow] = OrderedDict()


def flow(module: Module) -> Dataflow:
    """The data flow of a module; asking again gives the same object."""
    found = _flows.get(id(module))
    # the flow holds its module, so that nothing else can have its id
    if found is None or found.module is not module:
        found = _flows[id(module)] = dataflow(module)
    _flows.move_to_end(id(module))
    while len(_flows) > _KEPT:
        _flows.popitem(last=False)
    return found
