"""Causes in loops, shardings, layouts, kernels, collectives and caches."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from golden import Goldens
from pairs import Pair, findings, marked, text

from analyzers.accumulation import Accumulation
from analyzers.attention_scores import AttentionScores
from analyzers.carry_copies import CarryCopies
from analyzers.collectives import Collectives
from analyzers.copies import Copies
from analyzers.fusion import Fusions
from analyzers.hoisted_gather import HoistedGather
from analyzers.kv_cache import KvCache
from analyzers.loop_outputs import LoopOutputs
from analyzers.mesh import Meshes
from analyzers.outputs import Outputs
from analyzers.padding import Padding
from analyzers.replicated import Replicated
from analyzers.resharding import Resharding
from analyzers.residuals import Residuals
from analyzers.scatter import Scatter
from analyzers.sharding_constraints import ShardingConstraints
from analyzers.unrolled import Unrolled
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Direction
from hloscope.plugin import Analyzer

Compare = Callable[[Pair], Comparison]

TPU = "tpu:v5e:2x2"
ANALYZER: dict[str, type[Analyzer]] = {
    code: analyzer
    for analyzer in (
        Accumulation, AttentionScores, CarryCopies, Collectives, Copies, Fusions,
        HoistedGather, KvCache, LoopOutputs, Meshes, Outputs, Padding, Replicated, Resharding,
        Residuals, Scatter, ShardingConstraints, Unrolled,
    )
    for code in analyzer.codes
}  # fmt: skip


def shown(code: str, name: str, lhs: str, rhs: str, target: str = "cpu:8") -> Pair:
    return Pair(f"{code.lower()}_{name}", lhs, rhs, target, claims=False)


WORSE = marked(
    shown("LOOP001", "returned", "looping:returned", "looping:returned?back=true"),
    shown("LOOP002", "stacked", "looping:stacked", "looping:stacked?what=read"),
    shown("LOOP003", "long", "looping:residuals", "looping:residuals?long=true"),
    shown("LOOP004", "old", "looping:history", "looping:history?old=true"),
    shown("LOOP005", "again", "looping:outputs", "looping:outputs?what=again"),
    shown("SHARD001", "whole", "sharded:arguments", "sharded:arguments?spec=none"),
    shown("SHARD002", "whole", "sharded:results", "sharded:results?whole=true"),
    shown("SHARD003", "between", "sharded:between", "sharded:between?whole=true"),
    shown("SHARD004", "missing", "sharded:cache", "sharded:cache?constrain=false"),
    shown("SHARD005", "early", "sharded:layers", "sharded:layers?early=true"),
    shown("SHARD006", "turned", "sharded:middle", "sharded:middle?turn=true"),
    shown("SHARD008", "sizes", "sharded:arranged", "sharded:arranged?shape=4x1"),
    shown("COPY002", "turned", "kernels:turned", "kernels:turned?back=true", TPU),
    shown("PAD001", "columns", "kernels:laid?order=columns", "kernels:laid", TPU),
    shown("FUS001", "barriers", "kernels:chain", "kernels:chain?barriers=2", TPU),
    shown("COLL001", "more", "sharded:reduced", "sharded:reduced?more=true"),
    shown("COLL004", "axes", "sharded:reduced", "sharded:reduced?axes=a%2Bb"),
    shown("COLL005", "wide", "sharded:reduced", "sharded:reduced?wide=true", TPU),
    shown("COLL007", "every", "sharded:summed", "sharded:summed?every=true"),
    shown("OUT001", "value", "training:stack", "training:stack?gives=value"),
    shown("DUS001", "mapped", "kernels:written", "kernels:written?mapped=true"),
    shown("DUS001", "loops", "kernels:written", "kernels:written?mapped=true", TPU),
    shown("ATT001", "whole", "kernels:attention?blocks=8", "kernels:attention"),
    shown("KV001", "mask", "kernels:cached", "kernels:cached?how=mask"),
    shown("KV001", "grown", "kernels:cached", "kernels:cached?how=grow"),
    shown("KV001", "layers", "kernels:cached_layers", "kernels:cached_layers?mask=true", TPU),
)
# what is neither better nor worse by itself
NEUTRAL = marked(
    shown("LOOP006", "unrolled", "looping:layers", "looping:layers?scan=false"),
    shown("LOOP006", "unroll", "looping:layers", "looping:layers?unroll=6"),
    shown("LOOP007", "parts", "training:step", "training:step?parts=4"),
    shown("SHARD008", "order", "sharded:arranged", "sharded:arranged?names=model,data"),
)
SILENT = {
    # the result takes the argument's memory over
    "LOOP001": ("looping:returned?donate=true", "looping:returned?back=true&donate=true"),
    # what is stacked is not what is read
    "LOOP002": ("looping:stacked", "looping:stacked?what=changed"),
    # nothing is kept where nothing is derived
    "LOOP003": ("looping:residuals?grad=false", "looping:residuals?grad=false&long=true"),
    "LOOP004": ("looping:history", "looping:history?length=96"),
    "LOOP005": ("looping:outputs", "looping:outputs?what=two"),
    # more layers are more turns, not more text
    "LOOP006": ("looping:layers", "looping:layers?count=12"),
    # more parts on one side, a loop around the work on both
    "LOOP007": ("training:step?parts=2", "training:step?parts=4"),
    "SHARD001": ("sharded:arguments", "sharded:arguments?size=1024"),
    "SHARD002": ("sharded:results", "sharded:results?size=1024"),
    # larger on every device, and cut into as many parts
    "SHARD003": ("sharded:between", "sharded:between?rows=1024"),
    "SHARD004": ("sharded:cache", "sharded:cache?rows=1024"),
    "SHARD005": ("sharded:layers", "sharded:layers?count=8"),
    "SHARD006": ("sharded:middle", "sharded:middle?rows=2048"),
    "SHARD008": ("sharded:arranged", "sharded:arranged?width=1024"),
    "COPY002": ("kernels:turned", "kernels:turned?rows=1024"),
    # eight columns in eight rows of a tile: as many elements, no padding
    "PAD001": ("kernels:laid?order=columns", "kernels:laid?order=columns&rows=131072"),
    "FUS001": ("kernels:chain", "kernels:chain?tail=sin"),
    "COLL001": ("sharded:reduced", "sharded:reduced?size=512"),
    "COLL007": ("sharded:summed", "sharded:summed?turns=8"),
    # the same results under other names
    "OUT001": ("training:stack?gives=value", "training:stack?gives=named"),
    # a position for each row of a batch on both sides
    "DUS001": ("kernels:written?mapped=true", "kernels:written?mapped=true&length=512"),
    # a loss over a vocabulary has an exponential between products as well
    "ATT001": ("kernels:logits", "kernels:logits?vocabulary=2048"),
    "KV001": ("kernels:cached?how=mask", "kernels:cached?how=mask&length=512"),
}
SILENT_PAIRS = marked(
    # what is recomputed has its constraints a second time
    Pair("shard004_recomputed", "sharded:kept", "sharded:kept?remat=true"),
    *(
        Pair(
            f"{code.lower()}_silent",
            *specs,
            TPU if code in ("PAD001", "FUS001", "COPY002") else "cpu:8",
        )
        for code, specs in SILENT.items()
    ),
)


def _code(pair: Pair) -> str:
    return pair.name.partition("_")[0].upper()


def _mirrored(pair: Pair) -> Pair:
    return pair._replace(lhs=pair.rhs, rhs=pair.lhs)


@pytest.mark.parametrize("pair", WORSE)
def test_shows(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    code = _code(pair)
    found = [f for f in findings(compared(pair), ANALYZER[code]()) if f.code == code]
    assert Direction.WORSE in {f.direction for f in found}
    goldens.check(f"{pair.name}.txt", text(tuple(found[:1]), claims=False))


@pytest.mark.parametrize("pair", WORSE)
def test_calls_the_way_back_an_improvement(pair: Pair, compared: Compare) -> None:
    code = _code(pair)
    found = [f for f in findings(compared(_mirrored(pair)), ANALYZER[code]()) if f.code == code]
    assert Direction.BETTER in {f.direction for f in found}


@pytest.mark.parametrize("pair", NEUTRAL)
def test_shows_what_takes_no_side(pair: Pair, compared: Compare, goldens: Goldens) -> None:
    (finding,) = findings(compared(pair), ANALYZER[_code(pair)]())
    goldens.check(f"{pair.name}.txt", text((finding,), claims=False))


@pytest.mark.parametrize("pair", SILENT_PAIRS)
def test_is_silent(pair: Pair, compared: Compare) -> None:
    assert findings(compared(pair), ANALYZER[_code(pair)]()) == ()
