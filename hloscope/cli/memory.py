"""`hloscope memory`: every byte at peak, of one side or between two."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hloscope.cli.sides import chip_of, open_sides, pair_sides, side_options
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.model.ledger import LedgerDelta, MemoryLedger, Shortfall
    from hloscope.model.source import Source
    from hloscope.model.units import Bytes, Maybe

BY = ("buffer", "module", "category", "source")
PEAK = "peak"


@click.command()
@click.argument("lhs")
@click.argument("rhs", required=False)
@click.option("--by", type=click.Choice(BY), default="buffer", show_default=True)
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True)
@click.option(
    "--space", default="hbm", show_default=True, help="hbm, vmem, smem, host, or XLA's number."
)
@click.option("--at", default=PEAK, show_default=True, help="The peak, or an instruction's name.")
@side_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    lhs: str,
    rhs: str | None,
    by: str,
    top: int,
    space: str,
    at: str,
    target: str | None,
    module: str | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Account for every byte that LHS holds at its peak, or that RHS holds more than LHS.

    Entries add up to the total to the byte; what no buffer explains is shown as unattributed. Of a
    program that does not fit its device, it says what has to go.
    """
    from hloscope.attribute import MemoryBy, source_memory

    number = space_number(space)
    sides = open_sides((lhs, rhs) if rhs else (lhs,), target, module, cache=not no_cache)
    instant = None if at == PEAK else at
    ledgers = tuple(source_memory(side, space=number, at=instant) for side in sides)
    if as_json:
        click.echo(json.dumps(_json_of(sides, ledgers, target), indent=2))
        return
    _print(sides, ledgers, MemoryBy(by), top, target)


def space_number(text: str) -> int:
    """XLA's number of a memory space.

    Raises:
      HloscopeError: `text` names none.
    """
    from hloscope.attribute import SPACES

    if text.isdecimal():
        return int(text)
    for number, name in SPACES.items():
        if name == text:
            return number
    raise HloscopeError(
        f"unknown memory space '{text}'",
        where="--space",
        remedy=f"one of {', '.join(SPACES.values())}, or XLA's number",
    )


def _print(
    sides: Sequence[Source],
    ledgers: Sequence[MemoryLedger],
    by: Any,
    top: int,
    target: str | None,
) -> None:
    from hloscope.report.memory import memory_delta_document, memory_document
    from hloscope.report.terminal import show

    if len(ledgers) == 1:
        short = _shortfall(sides[0], ledgers[0], target)
        document = memory_document(ledgers[0], sides[0].label, by, top, short)
    else:
        labels = (sides[0].label, sides[1].label)
        document = memory_delta_document(_delta(sides, ledgers), labels, by, top)
    show(document)


def _delta(sides: Sequence[Source], ledgers: Sequence[MemoryLedger]) -> LedgerDelta:
    from hloscope.attribute import memory_delta, whole_of

    wholes = whole_of(sides[0]), whole_of(sides[1])
    return memory_delta(ledgers[0], ledgers[1], pair_sides(sides), wholes)


def _shortfall(side: Source, ledger: MemoryLedger, target: str | None) -> Shortfall | None:
    from hloscope.attribute import shortfall

    if ledger.space or not ledger.at_peak:
        return None
    return shortfall(ledger, _available(side, target))


def _available(side: Source, target: str | None) -> Maybe[Bytes]:
    """Bytes that the device has: as the compiler said when it refused, or the chip's."""
    from hloscope.model.units import Measured, Missing

    refused = side.capture.out_of_memory if side.capture is not None else None
    if refused is not None and isinstance(refused.available, Measured):
        return refused.available
    chip = chip_of(side, target)
    return chip.usable_memory if chip is not None else Missing("no target says how much there is")


def _json_of(
    sides: Sequence[Source], ledgers: Sequence[MemoryLedger], target: str | None
) -> dict[str, Any]:
    shown = [_side(side, ledger, target) for side, ledger in zip(sides, ledgers, strict=True)]
    if len(ledgers) == 1:
        return shown[0]
    from hloscope.cli.cost import rows

    delta = _delta(sides, ledgers)
    return {
        "lhs": shown[0],
        "rhs": shown[1],
        "delta": {
            "bytes": delta.total,
            "unattributed_bytes": delta.unattributed,
            "unchanged": delta.unchanged,
            "by_kind": {str(kind): size for kind, size in delta.by_kind().items()},
            "entries": rows(delta.frame()),
        },
    }


def _side(side: Source, ledger: MemoryLedger, target: str | None) -> dict[str, Any]:
    from hloscope.cli.cost import rows, value
    from hloscope.model.ledger import Category

    figures = ledger.figures
    short = _shortfall(side, ledger, target)
    return {
        "label": side.label,
        "space": ledger.space,
        "at": {"peak": ledger.at_peak, **ledger.instant._asdict()},
        "bytes": ledger.total,
        "by_category": {str(c): ledger.of(c) for c in Category},
        "memory_analysis": {
            "source": figures.source,
            **{
                n: value(getattr(figures, n))
                for n in ("argument", "output", "alias", "temp", "code")
            },
        },
        "over_bytes": short.over if short is not None else None,
        "without_module_path": ledger.unplaced,
        "notes": list(ledger.notes),
        "entries": rows(ledger.frame()),
    }
