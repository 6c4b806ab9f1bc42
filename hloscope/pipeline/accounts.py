"""From one side to its cost and communication ledgers."""

from __future__ import annotations

from hloscope import attribute, hlo
from hloscope.model.source import Source
from hloscope.model.target import Target


def account_of(source: Source, target: Target | None) -> attribute.Account:
    """What a side computes, moves and sends, with everything that is known beside its module."""
    return attribute.account(
        source.module,
        hlo.trip_count,
        attribute.CostContext(
            label=source.label,
            chip=target.chip if target else None,
            mesh=source.capture.provenance.ambient_mesh if source.capture else None,
            measured=source.times,
            reported=source.capture.cost if source.capture else None,
        ),
    )
