from __future__ import annotations

from collections.abc import Callable

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.remat import Remat
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Direction, Metric

Compare = Callable[[Pair], Comparison]

ALL, NONE = "training:stack?remat=all", "training:stack"
UNROLLED = "training:stack?scan=false&layers=3"
SHOWN = marked(
    Pair("remat_lost", ALL, NONE, claims=False),
    Pair("remat_won", NONE, ALL, claims=False),
    Pair("remat_policy", ALL, "training:stack?remat=dots", claims=False),
    Pair("remat_merged", UNROLLED, f"{UNROLLED}&remat=merged", claims=False),
    Pair("remat_merged_lost", f"{UNROLLED}&remat=all", f"{UNROLLED}&remat=merged", claims=False),
)
SILENT = marked(
    Pair("remat_wider", ALL, "training:stack?remat=all&pad=64"),
    Pair("no_remat_wider", NONE, "training:stack?pad=64"),
    # a loop over layers and layers one after the other recompute the same
    Pair("remat_unrolled", ALL, f"{UNROLLED}&remat=all"),
    Pair("unrolled", NONE, UNROLLED),
)


@pytest.mark.parametrize("pair", SHOWN)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    goldens.check(f"{pair.name}.txt", text(findings(compared(pair), Remat()), claims=pair.claims))


@pytest.mark.parametrize("pair", SILENT)
def test_is_silent(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), Remat()) == ()


@pytest.mark.parametrize("pair", marked(Pair("remat_lost", ALL, NONE)))
def test_claims_the_residuals_and_the_work_saved(pair: Pair, compared: Compare) -> None:
    comparison = compared(pair)
    (finding,) = findings(comparison, Remat())
    assert comparison.memory is not None
    assert finding.direction is Direction.WORSE
    # two stacked values of [layers, rows, 4 * width] at least
    assert finding.held.known(Metric.BYTES) >= 2 * 4 * 256 * 256 * 4
    # the product of a layer that its backward pass needs again
    assert finding.held.known(Metric.FLOPS) <= -4 * 2 * 256 * 64 * 256
