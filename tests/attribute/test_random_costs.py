"""Costs and communication of random programs add up, pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloscope import attribute
from hloscope.attribute import Account
from hloscope.hlo import read_proto, trip_count
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule
from hloscope.model.cost import CostDelta, Quantity, times
from hloscope.model.units import Measured
from hloscope.normalize import normalize

pytestmark = pytest.mark.compile
NUMBERS = st.integers(0, 23)


class Side(NamedTuple):
    account: Account
    canonical: CanonicalModule


@lru_cache(maxsize=64)
def side(path: Path) -> Side:
    module = read_proto(path.read_bytes())
    context = attribute.CostContext(mesh={"x": 2})
    return Side(attribute.account(module, trip_count, context), normalize(module))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(pair=st.tuples(NUMBERS, NUMBERS))
def test_deltas_add_up(
    random_programs: list[Path], adds_up: Callable[[CostDelta], None], pair: tuple[int, int]
) -> None:
    lhs, rhs = (side(random_programs[number]) for number in pair)
    pairing = match(lhs.canonical, rhs.canonical)
    adds_up(attribute.cost_delta(lhs.account.cost, rhs.account.cost, pairing))
    sent = attribute.communication_delta(
        lhs.account.communication, rhs.account.communication, pairing
    )
    ledgers = (lhs.account.communication.wire_bytes, rhs.account.communication.wire_bytes)
    assert not any(total.unknown for total in (*ledgers, sent.wire_bytes))
    assert sent.wire_bytes.known == ledgers[1].known - ledgers[0].known


def test_ledgers_add_up(random_programs: list[Path]) -> None:
    """Entries times executions are the totals, and the steps from XLA's rules lead to them."""
    collectives = 0
    for path in random_programs:
        found = side(path).account
        collectives += len(found.communication.collectives)
        for quantity in (Quantity.FLOPS, Quantity.BYTES_READ, Quantity.BYTES_WRITTEN):
            figures = [times(e.executions, getattr(e, quantity)) for e in found.cost.entries]
            known = sum(f.value for f in figures if isinstance(f, Measured))
            assert known == found.cost.totals[quantity].known
        steps = found.cost.reconciliation
        flops = steps.body_once.flops + sum(step.flops for step in steps.steps)
        assert flops == steps.total.flops == found.cost.totals[Quantity.FLOPS].known
    assert collectives  # some run over two devices
