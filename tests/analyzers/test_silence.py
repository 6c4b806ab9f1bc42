"""Pairs that differ in nothing but noise give no finding at all, from no analyzer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pairs import Pair, marked

from hloscope.model.comparison import Comparison

Compare = Callable[[Pair], Comparison]

A, B = "noise:one", "noise:other"
SAME = marked(
    *(
        Pair(f"noise_{name}", f"{A}?program={name}", f"{B}?program={name}", target)
        for name in ("mlp", "scan", "attention", "sharded")
        for target in ("cpu:8",)
    ),
    Pair("noise_tpu", f"{A}?program=attention", f"{B}?program=attention", "tpu:v5e:2x2"),
    # the order of options in a spec
    Pair(
        "noise_options",
        "donating:state?rows=64&donate=false",
        "donating:state?donate=false&rows=64",
    ),
    Pair("noise_self", f"{A}?program=scan", f"{A}?program=scan"),
)


@pytest.mark.parametrize("pair", SAME)
def test_finds_nothing(pair: Pair, compared: Compare) -> None:
    explanation = compared(pair).explanation
    assert explanation.findings == ()
    assert explanation.crashes == ()
    assert len(explanation.analyzers) > 20
