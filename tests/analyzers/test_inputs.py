from __future__ import annotations

from collections.abc import Callable

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.inputs import Inputs
from hloscope.model.comparison import Comparison

Compare = Callable[[Pair], Comparison]

BASE = "taking:step"
SHOWN = marked(
    Pair("inputs_rng", BASE, f"{BASE}?rng=4", claims=False),
    Pair("inputs_rng_gone", f"{BASE}?rng=1", BASE, claims=False),
    Pair("inputs_pruned", BASE, f"{BASE}?used=false"),
    Pair("inputs_dtype", f"{BASE}?dtype=bfloat16", BASE),
    Pair("inputs_shape", BASE, f"{BASE}?rows=64"),
    Pair("inputs_weak", BASE, f"{BASE}?weak=true"),
)
SILENT = marked(
    Pair("inputs_renamed", BASE, f"{BASE}?names=other"),
    Pair("inputs_value", f"{BASE}?weak=true", f"{BASE}?weak=true&scale=2.5"),
    Pair("inputs_donated", "donating:state", "donating:state?donate=false"),
)


@pytest.mark.parametrize("pair", SHOWN)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    goldens.check(f"{pair.name}.txt", text(findings(compared(pair), Inputs()), claims=pair.claims))


@pytest.mark.parametrize("pair", SILENT)
def test_is_silent(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), Inputs()) == ()
