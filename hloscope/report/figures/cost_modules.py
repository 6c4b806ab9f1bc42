"""Cost by module path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from hloscope.attribute import By, CostGroup, group_delta, group_ledger
from hloscope.errors import HloscopeError
from hloscope.model.cost import CostDelta, CostLedger, Total
from hloscope.report.figures.bars import Bar, draw_bars
from hloscope.report.figures.labels import amount_text, cut, cut_path, side_names, unit_of
from hloscope.report.figures.style import (
    LESS,
    LHS,
    MORE,
    QUIET,
    axes_of,
    empty,
    finish,
    rows_height,
)
from hloscope.report.numbers import signed

# the field of a `CostGroup` to its name
QUANTITIES = {
    "bytes": "bytes read and written",
    "flops": "FLOPs",
    "transcendentals": "transcendentals",
    "seconds": "kernel time, estimated where no profile measured it",
}
_WIDTH = 46
_REASON_WIDTH = 84
_SIDE_WIDTH = 32


def cost_by_module(
    cost: CostDelta | CostLedger,
    quantity: str = "bytes",
    top: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """What each module costs in one step on one device, or costs more in rhs than in lhs.

    Args:
      cost: a ledger, or a difference, whose bars are rhs - lhs.
      quantity: a key of `QUANTITIES`.
      top: modules of their own; all others are one row together.
      ax: where to draw; a new figure otherwise.

    Raises:
      HloscopeError: there is no such quantity.
    """
    if quantity not in QUANTITIES:
        raise HloscopeError(
            f"unknown quantity '{quantity}'", remedy=f"one of {', '.join(QUANTITIES)}"
        )
    delta = isinstance(cost, CostDelta)
    modules = _modules(cost, quantity)
    title = _title(cost, quantity, sum(total.known for _, total in modules))
    known = [module for module in modules if module[1].known]
    ax = axes_of(ax, rows_height(min(len(known), top + 1)))
    if not known:
        text = "no module differs" if delta else "nothing is known to cost any"
        return empty(ax, title, "\n".join(filter(None, (text, _not_counted(modules)))))
    unit = unit_of(quantity, abs(known[0][1].known))
    bars = list(_bars(known, quantity, unit.size, top, delta=delta))
    draw_bars(ax, bars)
    ax.set_xlabel(_axis(quantity, unit.name, modules, delta=delta))
    return finish(ax, title, grid="x")


def _modules(cost: CostDelta | CostLedger, quantity: str) -> list[tuple[str, Total]]:
    """Each module's total, largest first."""
    if isinstance(cost, CostDelta):
        groups = group_delta(cost, By.MODULE)
    else:
        groups = group_ledger(cost, By.MODULE)
    totals = [(group.key, _total(group, quantity)) for group in groups]
    return sorted(totals, key=lambda module: (-abs(module[1].known), module[0]))


def _total(group: CostGroup, quantity: str) -> Total:
    total = getattr(group, quantity)
    assert isinstance(total, Total)  # noqa: S101 - holds for every key of QUANTITIES
    return total


def _title(cost: CostDelta | CostLedger, quantity: str, whole: float) -> str:
    amount = amount_text(quantity, whole)
    if isinstance(cost, CostDelta):
        lhs, rhs = side_names((cost.lhs.label, cost.rhs.label), _SIDE_WIDTH)
        return f"{signed(amount)} {_name(quantity)} in one step\n{rhs} against {lhs}"
    return f"{amount} {_name(quantity)} in one step\n{side_names((cost.label,))[0]}"


def _name(quantity: str) -> str:
    """What stands behind an amount, whose unit already says bytes or seconds."""
    return {"bytes": "read and written", "seconds": "of kernel time"}.get(
        quantity, QUANTITIES[quantity]
    )


def _bars(
    known: Sequence[tuple[str, Total]], quantity: str, unit: float, top: int, *, delta: bool
) -> Iterator[Bar]:
    for key, total in known[:top]:
        label = key if key.startswith("(") else cut_path(key.split("/"), _WIDTH)
        colour = (MORE if total.known > 0 else LESS) if delta else LHS
        yield Bar(label, 0, total.known / unit, _text(quantity, total, delta=delta), colour)
    others = known[top:]
    if others:
        rest = Total(sum(total.known for _, total in others), _unknown(others))
        label = f"{len(others)} other modules together"
        yield Bar(label, 0, rest.known / unit, _text(quantity, rest, delta=delta), QUIET)


def _text(quantity: str, total: Total, *, delta: bool) -> str:
    text = amount_text(quantity, total.known)
    return (signed(text) if delta else text) + ("" if total.is_exact else " + ?")


def _axis(quantity: str, unit: str, modules: Sequence[tuple[str, Total]], *, delta: bool) -> str:
    """The quantity with its unit, and what is not counted."""
    what = f"{QUANTITIES[quantity]}{f' ({unit})' if unit else ''}, one step on one device"
    what = f"{what}, rhs - lhs" if delta else what
    return "\n".join(filter(None, (what, _not_counted(modules))))


def _not_counted(modules: Sequence[tuple[str, Total]]) -> str:
    unknown = _unknown(modules)
    if not unknown:
        return ""
    count = sum(number for _, number in unknown)
    what = f"{count} instruction{'s' if count > 1 else ''}"
    return f"not counted (?): {what}; {cut(unknown[0][0], _REASON_WIDTH)}"


def _unknown(modules: Sequence[tuple[str, Total]]) -> tuple[tuple[str, int], ...]:
    """Reasons with their numbers, the commonest first."""
    count: Counter[str] = Counter()
    for _, total in modules:
        count.update(dict(total.unknown))
    return tuple(sorted(count.items(), key=lambda item: (-item[1], item[0])))
