from __future__ import annotations

from collections.abc import Callable

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.cast_copies import CastCopies
from analyzers.logits import WholeLogits
from analyzers.precision import Precision
from analyzers.product_precision import ProductPrecision
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Metric
from hloscope.model.units import Measured

Compare = Callable[[Pair], Comparison]

BLOCK, LOSS = "computing:block", "computing:loss"
SCANNED = "computing:scanned"
TPU = "tpu:v5e:2x2"
PRECISION = (Precision(), CastCopies())
SHOWN = marked(
    Pair("precision_lifted", BLOCK, f"{BLOCK}?lift=strong", TPU, claims=False),
    Pair("precision_lowered", f"{BLOCK}?lift=strong", BLOCK, TPU, claims=False),
    Pair("precision_logits", f"{LOSS}?dtype=bfloat16", LOSS, claims=False),
    Pair("precision_indices", "computing:indexed", "computing:indexed?x64=true", claims=False),
    # the compiler for TPU alone takes the cast out of the loop
    Pair("precision_copies", SCANNED, f"{SCANNED}?weights=float32", TPU, claims=False),
)
SILENT = marked(
    Pair("other_scale", BLOCK, f"{BLOCK}?scale=0.25"),
    Pair("more_rows", BLOCK, f"{BLOCK}?rows=192"),
    Pair("wide_on_both", f"{BLOCK}?lift=strong", f"{BLOCK}?lift=strong&rows=192"),
    Pair("more_layers", f"{SCANNED}?weights=float32", f"{SCANNED}?weights=float32&layers=12"),
)
GIVEN = f"{LOSS}?given=float32"
WHOLE = marked(
    Pair("logits_whole", f"{GIVEN}&parts=4", GIVEN, claims=False),
    Pair("logits_parts", GIVEN, f"{GIVEN}&parts=4", claims=False),
)
NOT_WHOLE = marked(
    Pair("more_tokens", LOSS, f"{LOSS}?tokens=1024"),
    Pair("same_parts", f"{LOSS}?parts=4", f"{LOSS}?parts=4&tokens=1024"),
    Pair("other_type", f"{LOSS}?dtype=bfloat16", LOSS),
)

PRODUCTS = "computing:products"
ASKED = marked(
    Pair("products_highest", PRODUCTS, f"{PRODUCTS}?precision=highest", TPU, claims=False),
    Pair("products_lowered", f"{PRODUCTS}?precision=highest", f"{PRODUCTS}?precision=high"),
    Pair("products_algorithm", PRODUCTS, f"{PRODUCTS}?precision=F32_F32_F32"),
)
ASKED_ALIKE = marked(
    Pair("same_precision", f"{PRODUCTS}?precision=highest",
         f"{PRODUCTS}?precision=highest&rows=256"),
    Pair("default_precision", PRODUCTS, f"{PRODUCTS}?rows=256"),
)  # fmt: skip


@pytest.mark.parametrize("pair", ASKED)
def test_shows_at_which_precision_products_are_asked_for(
    pair: Pair, compared: Compare, goldens: Goldens
) -> None:
    found = findings(compared(pair), ProductPrecision())
    goldens.check(f"{pair.name}.txt", text(found, claims=pair.claims))


@pytest.mark.parametrize("pair", marked(
    Pair("products_highest_and_replicated", f"{PRODUCTS}?placed=parts",
         f"{PRODUCTS}?placed=copies&precision=highest"),
))  # fmt: skip
def test_claims_nothing_that_another_sharding_explains(pair: Pair, compared: Compare) -> None:
    comparison = compared(pair)
    (finding,) = findings(comparison, ProductPrecision())
    assert finding.held.of(Metric.BYTES) == Measured(0)
    assert comparison.memory is not None
    assert comparison.memory.total != 0


@pytest.mark.parametrize("pair", ASKED_ALIKE)
def test_says_nothing_of_products_at_one_precision(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), ProductPrecision()) == ()


@pytest.mark.parametrize("pair", SHOWN)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    found = findings(compared(pair), *PRECISION)
    assert found
    goldens.check(f"{pair.name}.txt", text(found, claims=pair.claims))


# the compiler for CPU of some versions multiplies bf16 matrices in f32 whatever the program says
@pytest.mark.parametrize("pair", marked(Pair("lifted_cpu", BLOCK, f"{BLOCK}?lift=strong")))
def test_shows_on_every_compiler(pair: Pair, compared: Compare) -> None:
    codes = {finding.code for finding in findings(compared(pair), Precision())}
    assert codes & {"PRE001", "PRE005"}


@pytest.mark.parametrize("pair", SILENT)
def test_is_silent(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), *PRECISION) == ()


@pytest.mark.parametrize("pair", WHOLE)
def test_shows_whole_logits(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    found = findings(compared(pair), WholeLogits())
    assert found
    goldens.check(f"{pair.name}.txt", text(found, claims=pair.claims))


@pytest.mark.parametrize("pair", NOT_WHOLE)
def test_is_silent_about_logits(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), WholeLogits()) == ()
