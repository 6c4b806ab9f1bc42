"""`hloscope cost`: FLOPs, bytes moved and time, of one side or between two."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from hloscope.cli.sides import chip_of, open_sides, pair_sides, side_options
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.attribute import Account, By, CostGroup
    from hloscope.model.cost import CostDelta, CostLedger, Reconciliation, Step, Total
    from hloscope.model.source import Source
    from hloscope.model.units import Maybe

BY = ("instruction", "layers", "opcode", "module", "source")


@click.command()
@click.argument("lhs")
@click.argument("rhs", required=False)
@click.option("--by", type=click.Choice(BY), default="instruction", show_default=True)
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True)
@side_options
@click.option("--trips", multiple=True, metavar="LOOP=N", help="How often a loop runs.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    lhs: str,
    rhs: str | None,
    by: str,
    top: int,
    target: str | None,
    module: str | None,
    trips: tuple[str, ...],
    no_cache: bool,
    as_json: bool,
) -> None:
    """Account for FLOPs, bytes moved and estimated time of LHS, or of what RHS adds to it.

    Loop bodies count as often as they run, fusions are opened, and every figure that nobody gave is
    said to be unknown rather than counted as nothing. XLA's own figures stand beside.
    """
    from hloscope.attribute import By

    sides = open_sides((lhs, rhs) if rhs else (lhs,), target, module, cache=not no_cache)
    counts = read_trips(trips)
    accounts = account_sides(sides, target, counts)
    if as_json:
        shown = _json_of(sides, accounts, By(by))
        click.echo(json.dumps(shown, indent=2))
        return
    _print(sides, accounts, By(by), top)


def read_trips(texts: Sequence[str]) -> Mapping[str, int]:
    """`--trips while.5=100` as a mapping.

    Raises:
      HloscopeError: one is not NAME=NUMBER.
    """
    counts = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not (equals and name and number.isdecimal()):
            raise HloscopeError(
                f"'{text}' is not a loop with a number",
                where="--trips",
                remedy="--trips while.5=100",
            )
        counts[name] = int(number)
    return counts


def account_sides(
    sides: Sequence[Source], target: str | None, trips: Mapping[str, int]
) -> tuple[Account, ...]:
    """Both ledgers of each side; trip counts go to the sides that have the loop."""
    from hloscope.attribute import account_source, loops_of

    known = {name for side in sides for name in loops_of(side.module)}
    for name in trips:
        if name not in known:
            raise HloscopeError(
                f"no loop is called '{name}'",
                where="--trips",
                remedy=f"one of {', '.join(sorted(known))}" if known else "the module has no loop",
            )
    return tuple(account_source(side, chip=chip_of(side, target), trips=trips) for side in sides)


def _print(sides: Sequence[Source], accounts: Sequence[Account], by: By, top: int) -> None:
    from hloscope.attribute import cost_delta
    from hloscope.report.cost import cost_delta_document, cost_document
    from hloscope.report.terminal import show

    if len(accounts) == 1:
        document = cost_document(accounts[0].cost, accounts[0].communication, by, top)
    else:
        lhs, rhs = accounts
        delta = cost_delta(lhs.cost, rhs.cost, pair_sides(sides))
        sent = (lhs.communication, rhs.communication)
        document = cost_delta_document(delta, sent, by, top)
    show(document)


def _json_of(sides: Sequence[Source], accounts: Sequence[Account], by: By) -> dict[str, Any]:
    from hloscope.attribute import cost_delta, group_delta

    shown = [_ledger(account.cost, by) for account in accounts]
    if len(accounts) == 1:
        return shown[0]
    delta = cost_delta(accounts[0].cost, accounts[1].cost, pair_sides(sides))
    return {
        "lhs": shown[0],
        "rhs": shown[1],
        "delta": {
            **_delta_totals(delta),
            "equal": delta.equal,
            f"by_{by}": [_group(group) for group in group_delta(delta, by)],
            "entries": rows(delta.frame()),
        },
    }


def _delta_totals(delta: CostDelta) -> dict[str, Any]:
    names = ("flops", "transcendentals", "bytes", "seconds")
    return {
        **{name: _total(getattr(delta, name)) for name in names},
        "uncompared": _step(delta.uncompared),
    }


def _ledger(ledger: CostLedger, by: By) -> dict[str, Any]:
    from hloscope.attribute import group_ledger

    return {
        "label": ledger.label,
        "target": ledger.target or None,
        "totals": {
            **{quantity.value: _total(total) for quantity, total in ledger.totals.items()},
            "seconds": _total(ledger.seconds),
        },
        "xla": _reconciliation(ledger.reconciliation),
        "notes": list(ledger.notes),
        f"by_{by}": [_group(group) for group in group_ledger(ledger, by)],
        "entries": rows(ledger.frame()),
    }


def _total(total: Total) -> dict[str, Any]:
    return {
        "known": total.known,
        "is_exact": total.is_exact,
        "unknown": [{"reason": reason, "entries": count} for reason, count in total.unknown],
    }


def _reconciliation(found: Reconciliation) -> dict[str, Any]:
    reported = found.reported
    return {
        "reported": None
        if reported is None
        else {
            "source": reported.source,
            "flops": value(reported.flops),
            "transcendentals": value(reported.transcendentals),
            "bytes": value(reported.bytes_accessed),
        },
        "body_once": _step(found.body_once),
        "steps": [_step(step) for step in found.steps],
        "total": _step(found.total),
    }


def _step(step: Step) -> dict[str, Any]:
    return dict(step._asdict())


def _group(group: CostGroup) -> dict[str, Any]:
    return {
        "key": group.key,
        "entries": group.entries,
        "flops": _total(group.flops),
        "transcendentals": _total(group.transcendentals),
        "bytes": _total(group.bytes),
        "seconds": _total(group.seconds),
    }


def value(figure: Maybe[Any]) -> Any:
    """The figure, or `None` where it is unknown."""
    from hloscope.model.units import Measured

    return figure.value if isinstance(figure, Measured) else None


def rows(frame: Any) -> list[dict[str, Any]]:
    """A table's rows for JSON; what is NA there is null here."""
    import pandas as pd

    plain = frame.astype(object).where(pd.notna(frame), None)
    found: list[dict[str, Any]] = plain.to_dict("records")
    return found
