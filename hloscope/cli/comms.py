"""`hloscope comms`: every collective, of one side or what became of it on the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hloscope.cli.cost import account_sides, read_trips, rows
from hloscope.cli.sides import open_sides, pair_sides, side_options

if TYPE_CHECKING:
    from hloscope.model.communication import CommunicationDelta, CommunicationLedger
    from hloscope.report.communication import CommsBy

BY = ("axis", "kind", "module")


@click.command()
@click.argument("lhs")
@click.argument("rhs", required=False)
@click.option("--by", type=click.Choice(BY), default="axis", show_default=True)
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
    """Account for every collective of LHS, or for what became of each in RHS.

    Bytes are what one device sends in one step, by the ring algorithm: a collective in a loop
    counts as often as the loop runs.
    """
    from hloscope.attribute import communication_delta
    from hloscope.report.communication import CommsBy

    sides = open_sides((lhs, rhs) if rhs else (lhs,), target, module, cache=not no_cache)
    accounts = account_sides(sides, target, read_trips(trips))
    ledgers = [account.communication for account in accounts]
    delta = None
    if len(ledgers) == 2:
        delta = communication_delta(ledgers[0], ledgers[1], pair_sides(sides))
    if as_json:
        click.echo(json.dumps(_json_of(ledgers, delta, CommsBy(by)), indent=2))
        return
    _print(ledgers[0], delta, CommsBy(by), top)


def _print(
    ledger: CommunicationLedger, delta: CommunicationDelta | None, by: CommsBy, top: int
) -> None:
    from hloscope.report.communication import (
        communication_delta_document,
        communication_document,
    )
    from hloscope.report.terminal import show

    if delta is None:
        document = communication_document(ledger, by, top)
    else:
        document = communication_delta_document(delta, by, top)
    show(document)


def _json_of(
    ledgers: Sequence[CommunicationLedger], delta: CommunicationDelta | None, by: CommsBy
) -> dict[str, Any]:
    shown = [_ledger(ledger, by) for ledger in ledgers]
    if delta is None:
        return shown[0]
    return {
        "lhs": shown[0],
        "rhs": shown[1],
        "delta": {
            "wire_bytes": delta.wire_bytes.known,
            "unknown": [list(item) for item in delta.wire_bytes.unknown],
            "equal": delta.equal,
            "changes": rows(delta.frame()),
        },
    }


def _ledger(ledger: CommunicationLedger, by: CommsBy) -> dict[str, Any]:
    from hloscope.report.communication import sums

    return {
        "label": ledger.label,
        "mesh": None if ledger.mesh is None else dict(ledger.mesh),
        "wire_bytes": ledger.wire_bytes.known,
        "unknown": [
            {"reason": reason, "collectives": count} for reason, count in ledger.wire_bytes.unknown
        ],
        "notes": list(ledger.notes),
        f"by_{by}": [
            {"key": key, "collectives": number, "executions": runs, "wire_bytes": sent}
            for key, (number, runs, sent) in sums(ledger.collectives, by).items()
        ],
        "collectives": rows(ledger.frame()),
    }
