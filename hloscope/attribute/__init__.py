"""What a module's bytes, FLOPs and sent bytes belong to, and those of a difference."""

from hloscope.attribute.communication_delta import communication_delta
from hloscope.attribute.cost_account import Account, account, cost_ledger
from hloscope.attribute.cost_delta import cost_delta
from hloscope.attribute.cost_groups import By, CostGroup, group_delta, group_ledger
from hloscope.attribute.cost_ledger import CostContext
from hloscope.attribute.cost_source import account_source, loops_of, source_lines
from hloscope.attribute.live_estimate import live_estimate
from hloscope.attribute.memory_delta import SPACES, memory_delta
from hloscope.attribute.memory_fit import shortfall
from hloscope.attribute.memory_groups import (
    MemoryBy,
    MemoryDeltaGroup,
    MemoryGroup,
    group_memory,
    group_memory_delta,
)
from hloscope.attribute.memory_ledger import memory_ledger
from hloscope.attribute.memory_source import source_memory
from hloscope.attribute.memory_whole import whole_of
from hloscope.attribute.module_path import ModulePaths
from hloscope.attribute.source_paths import source_paths

__all__ = [
    "SPACES",
    "Account",
    "By",
    "CostContext",
    "CostGroup",
    "MemoryBy",
    "MemoryDeltaGroup",
    "MemoryGroup",
    "ModulePaths",
    "account",
    "account_source",
    "communication_delta",
    "cost_delta",
    "cost_ledger",
    "group_delta",
    "group_ledger",
    "group_memory",
    "group_memory_delta",
    "live_estimate",
    "loops_of",
    "memory_delta",
    "memory_ledger",
    "shortfall",
    "source_lines",
    "source_memory",
    "source_paths",
    "whole_of",
]
