"""Which role each called computation of an instruction plays."""

from __future__ import annotations

# XLA's attribute name for the computations that an opcode calls, in the proto's order
_PAIRS: dict[str, tuple[str, ...]] = {
    "while": ("body", "condition"),
    "select-and-scatter": ("select", "scatter"),
}
_PRINTED_FIRST = {"while": ("condition", "body")}
_CALLS = frozenset({"fusion", "async-start", "async-update", "async-done"})

# attributes of HLO text that name computations
ROLES = frozenset(
    {
        "body", "branch_computations", "called_computations", "calls", "condition",
        "false_computation", "scatter", "select", "to_apply", "true_computation",
    }
)  # fmt: skip


def roles(opcode: str, count: int, *, on_predicate: bool) -> tuple[str, ...]:
    """The role of each of `count` called computations, in the proto's order.

    Args:
      opcode: the caller's.
      count: how many computations it calls.
      on_predicate: whether the first operand is a `pred` scalar, which makes a conditional's two
        branches `true_computation` and `false_computation`.
    """
    if opcode in _PAIRS and count == len(_PAIRS[opcode]):
        return _PAIRS[opcode]
    if opcode == "conditional":
        if on_predicate and count == 2:
            return ("true_computation", "false_computation")
        return ("branch_computations",) * count
    if opcode in _CALLS:
        return ("calls",) * count
    if opcode == "custom-call":
        return ("called_computations",) * count
    return ("to_apply",) * count


def in_print_order(opcode: str, called: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """`called` as XLA's text has it: a while names its condition before its body."""
    order = _PRINTED_FIRST.get(opcode)
    if order is None:
        return tuple(called)
    return tuple(sorted(called, key=lambda call: order.index(call[0]) if call[0] in order else 9))
