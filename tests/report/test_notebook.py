"""In a notebook every object shows itself."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from comparisons import EXPLANATION, LHS, RHS, compared
from samples import EVIL, Samples

import hloscope.model
from hloscope.model.capture import CostFigures, MemoryFigures
from hloscope.model.comparison import Comparison
from hloscope.model.showing import Shown, table_html
from hloscope.model.units import Bytes, Measured, Missing


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compared(LHS, RHS, labels=(EVIL, "rhs"))


def test_every_part_of_a_comparison_shows_itself(comparison: Comparison) -> None:
    parts = (
        comparison, comparison.changes, comparison.inputs, comparison.cost, comparison.cost.lhs,
        comparison.communication, comparison.communication.lhs, comparison.explanation,
        EXPLANATION.findings[0],
    )  # fmt: skip
    for part in parts:
        assert part is not None
        html = part._repr_html_()
        assert html.count("<table") == html.count("</table>") >= 1
        assert "<script" not in html
        assert html.count("<tr") < 40


def test_a_comparison_answers_first(comparison: Comparison) -> None:
    html = comparison._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; against rhs" in html
    for text in ("10.00 KiB", "<td>+6.00 KiB</td>", "different", "DON001", "3.00 MiB"):
        assert text in html


def test_figures_are_readable_and_unknown_is_not_zero() -> None:
    unknown = Missing("not known at this depth")
    html = MemoryFigures(
        argument=Measured(Bytes(3 << 20)), output=unknown, alias=unknown, temp=unknown,
        code=unknown, source="memory_analysis",
    )._repr_html_()  # fmt: skip
    assert "<td>3.00 MiB</td>" in html
    assert "<td>0 B</td>" not in html
    assert html.count("not known at this depth") == 4
    cost = CostFigures(
        flops=unknown, bytes_accessed=unknown, transcendentals=unknown, optimal_seconds=unknown,
        source="none",
    )  # fmt: skip
    assert "not known at this depth" in cost._repr_html_()


def test_the_largest_come_first_and_the_rest_is_counted(comparison: Comparison) -> None:
    html = comparison.cost.lhs._repr_html_()
    assert "NA" not in html
    assert html.index("dot.6") < html.index("sum.14")
    many = table_html("many", pd.DataFrame({"bytes": [2048] * 20}))
    assert "many (the first 12 of 20 rows)" in many
    assert many.count("2.00 KiB") == 12


def _shown() -> list[type[Shown]]:
    """Every record that shows itself."""
    rooms = pkgutil.iter_modules(hloscope.model.__path__, "hloscope.model.")
    found = {
        value
        for room in rooms
        for value in vars(import_module(room.name)).values()
        if isinstance(value, type) and issubclass(value, Shown) and value is not Shown
    }
    return sorted(found, key=lambda kind: kind.__name__)


# what a user gets back from `hloscope.*`, `compare_values`, and the verbs' own functions
ANSWERS = (
    "Baseline", "Bisection", "Blame", "Capture", "CommunicationDelta", "CommunicationLedger",
    "Comparison", "CostDelta", "CostFigures", "CostLedger", "Explanation", "Finding", "GateReport",
    "Judgement", "LeavesDelta", "LedgerDelta", "MemoryFigures", "MemoryLedger", "Module",
    "ModuleDiff", "Noise", "Pairing", "Parity", "PassBisection", "Plan", "Program", "Proof",
    "Source", "Target",
)  # fmt: skip


def test_whatever_a_user_gets_back_shows_itself() -> None:
    assert set(ANSWERS) <= {kind.__name__ for kind in _shown()}


@pytest.mark.parametrize("kind", _shown(), ids=lambda kind: kind.__name__)
def test_any_record_shows_itself(kind: type[Shown]) -> None:
    for known, parts in ((True, 1), (False, 1), (True, 0), (False, 0)):
        html = Samples(known=known, parts=parts).make(kind)._repr_html_()
        assert html.count("<table") == html.count("</table>") >= 1
        assert "<caption" in html
        assert "<script" not in html
