from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.constants import Constants
from analyzers.out_of_memory import OutOfMemoryAtCompile
from hloscope.model.capture import OutOfMemory
from hloscope.model.comparison import Comparison
from hloscope.model.units import Bytes, Measured

Compare = Callable[[Pair], Comparison]

GIVEN, CAPTURED = "holding:table?captured=false", "holding:table"
SHOWN = marked(
    Pair("constants_captured", GIVEN, CAPTURED, claims=False),
    Pair("constants_given", CAPTURED, GIVEN, claims=False),
    Pair("constants_folded", "holding:folded?known=false", "holding:folded", claims=False),
)
SILENT = marked(
    Pair("other_values", CAPTURED, f"{CAPTURED}?seed=1"),
    Pair("other_program", CAPTURED, f"{CAPTURED}?scale=2.0"),
    Pair("small", f"{GIVEN}&rows=16", f"{CAPTURED}?rows=16"),
)


@pytest.mark.parametrize("pair", SHOWN)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    found = findings(compared(pair), Constants())
    assert found
    goldens.check(f"{pair.name}.txt", text(found, claims=pair.claims))


@pytest.mark.parametrize("pair", SILENT)
def test_is_silent(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), Constants()) == ()


@pytest.mark.parametrize("pair", marked(Pair("refused", GIVEN, CAPTURED)))
def test_a_refused_program_comes_first(pair: Pair, compared: Compare) -> None:
    comparison = compared(pair)
    assert findings(comparison, OutOfMemoryAtCompile()) == ()
    assert comparison.rhs.capture is not None
    refusal = OutOfMemory(
        needed=Measured(Bytes(3 << 30)), available=Measured(Bytes(2 << 30)), message=""
    )
    capture = replace(comparison.rhs.capture, out_of_memory=refusal)
    refused = replace(comparison, rhs=replace(comparison.rhs, capture=capture))
    found = refused.explanation.findings
    assert found[0].title == (
        "rhs does not fit into device memory: 3.00 GiB needed, 2.00 GiB available"
    )
    assert [finding.code for finding in found[1:]][:1] == ["CON001"]
