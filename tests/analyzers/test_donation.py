from __future__ import annotations

from collections.abc import Callable

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.donation import Donation
from hloscope.model.comparison import Comparison

Compare = Callable[[Pair], Comparison]

SHOWN = marked(
    Pair("donation_missing", "donating:state", "donating:state?donate=false"),
    Pair("donation_won", "donating:state?donate=false", "donating:state"),
    Pair("donation_dtype", "donating:state", "donating:state?out=bfloat16"),
    Pair("donation_read_late", "donating:read_late?late=false", "donating:read_late", claims=False),
)
SILENT = marked(
    # donated on neither side
    Pair("two_results", "donating:state?donate=false", "donating:state?donate=false&extra=true"),
    # donated on both sides, of another size
    Pair("larger", "donating:state", "donating:state?rows=512"),
    # unusable on both sides
    Pair("unusable", "donating:state?out=bfloat16", "donating:state?out=bfloat16&rows=512"),
)


@pytest.mark.parametrize("pair", SHOWN)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    goldens.check(
        f"{pair.name}.txt", text(findings(compared(pair), Donation()), claims=pair.claims)
    )


@pytest.mark.parametrize("pair", SILENT)
def test_is_silent(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), Donation()) == ()
