"""What a module's bytes, FLOPs and sent bytes belong to, and those of a difference."""

from hloscope.attribute.communication_delta import communication_delta
from hloscope.attribute.cost_account import Account, account, cost_ledger
from hloscope.attribute.cost_delta import cost_delta
from hloscope.attribute.cost_groups import By, CostGroup, group_delta, group_ledger
from hloscope.attribute.cost_ledger import CostContext
from hloscope.attribute.cost_source import account_source, loops_of, source_lines

__all__ = [
    "Account",
    "By",
    "CostContext",
    "CostGroup",
    "account",
    "account_source",
    "communication_delta",
    "cost_delta",
    "cost_ledger",
    "group_delta",
    "group_ledger",
    "loops_of",
    "source_lines",
]
