"""The gap: a line for each quantity, and nothing unknown is a number."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from comparisons import compared

from hloscope.model.comparison import Comparison
from hloscope.model.cost import Total
from hloscope.report.document import Table
from hloscope.report.gap import gap_section

NOTHING = Total(0, (("a custom call", 3),))


def rows(comparison: Comparison) -> dict[str, tuple[str, ...]]:
    table = gap_section(comparison).blocks[0]
    assert isinstance(table, Table)
    return {row[0]: row[1:] for row in table.rows}


@pytest.mark.parametrize(
    ("lhs", "rhs", "row"),
    [
        (Total(2.0), Total(3.0), ("2 s", "3 s", "+1 s", "+50.0%")),
        (Total(2.0), Total(2.0), ("2 s", "2 s", "0 s", "")),
        (Total(2.0), Total(3.0, (("why", 1),)), ("2 s", ">=3 s", "+1 s", "+50.0%")),
        (Total(2.0), NOTHING, ("2 s", "unknown", "unknown", "")),
        (NOTHING, Total(2.0), ("unknown", "2 s", "unknown", "")),
        (NOTHING, NOTHING, None),
    ],
)
def test_time(lhs: Total, rhs: Total, row: tuple[str, ...] | None) -> None:
    comparison = compared()
    cost = replace(
        comparison.cost,
        lhs=replace(comparison.cost.lhs, seconds=lhs),
        rhs=replace(comparison.cost.rhs, seconds=rhs),
    )
    assert rows(replace(comparison, cost=cost)).get("time a step (estimate)") == row


def test_text_without_buffers_has_no_memory() -> None:
    assert rows(compared()) == {
        "device memory at peak": ("unknown", "unknown", "unknown", ""),
        "bytes moved a step": ("10.00 KiB", "16.00 KiB", "+6.00 KiB", "+60.0%"),
        "FLOPs a step": ("12.38 kFLOP", "12.38 kFLOP", "0 FLOP", ""),
    }
