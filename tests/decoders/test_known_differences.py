"""GPT-3 with one option changed: the first finding names it, and a probe takes it back."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from hloscope.capture.targets import toolchain
from hloscope.model.finding import Confidence, Metric
from hloscope.model.units import Measured
from hloscope.pipeline import OpenOptions, compare, open_pair
from hloscope.pipeline.proving import ProveOptions, prove

GPT3 = "gpt3-tiny:linen?seq=128"


class Change(NamedTuple):
    """Options of the two sides, and what is found.

    Attributes:
      probe: the probe that takes the difference back, `None` where there is none.
      metric: in which it is measured.
    """

    lhs: str
    rhs: str
    code: str
    probe: str | None
    metric: Metric


REMAT = Change("&remat=full", "&remat=none", "REM001", None, Metric.BYTES)
DONATION = Change("", "&donate=false", "DON001", "donate", Metric.BYTES)
LOGITS = Change("&logits_dtype=bfloat16", "", "PRE004", "dtypes", Metric.MOVED)
REPLICATED = Change("&fsdp=4", "&fsdp=1", "SHARD001", "argument-shardings", Metric.BYTES)


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HLOSCOPE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.compile
@pytest.mark.parametrize("target", ["cpu:8", pytest.param("tpu:v5e:2x2", marks=pytest.mark.tpu)])
@pytest.mark.parametrize("change", [REMAT, DONATION, LOGITS, REPLICATED], ids=lambda c: c.code)
def test_is_found_first_and_proven(change: Change, target: str) -> None:
    if target.startswith("tpu") and toolchain("tpu").problem:
        pytest.skip("libtpu is not installed")
    pair = open_pair(GPT3 + change.lhs, GPT3 + change.rhs, OpenOptions(target=target))
    if change.probe is None:
        first = compare(*pair).explanation.findings[0]
        assert (first.code, first.confidence) == (change.code, Confidence.STRUCTURAL)
        return
    proof = prove(*pair, ProveOptions(probes=(change.probe,)))
    (result,) = proof.alone
    assert result.done
    closed = result.metrics[change.metric]
    assert closed.gap == closed.closed != Measured(0)
    assert (proof.findings[0].code, proof.findings[0].confidence) == (
        change.code, Confidence.PROVEN,
    )  # fmt: skip
