"""Causes that no small program shows with every compiler, on modules made for them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from golden import Goldens
from pairs import findings, text

from analyzers.collectives import Collectives
from analyzers.copies import Copies
from analyzers.donation import Donation
from analyzers.fusion import Fusions
from analyzers.resharding import Resharding
from hloscope import open as open_side
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Direction
from hloscope.pipeline import compare
from hloscope.plugin import Analyzer

ADD = "add { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y) }\n"
BIG, HALF = "f32[512,1024]{1,0}", "f32[256,1024]{1,0}"
GROUPS = "replica_groups={{0,1}}"

LEFT_ALONE = (
    f"f {{ p = {BIG} parameter(0)\n e = {BIG} exponential(p)\n ROOT t = {BIG} tanh(e) }}\n"
    f"ENTRY main {{ a = {BIG} parameter(0)\n ROOT r = {BIG} fusion(a), kind=kLoop, calls=f }}",
    f"ENTRY main {{ a = {BIG} parameter(0)\n e = {BIG} exponential(a)\n ROOT t = {BIG} tanh(e) }}",
)
WORKED_OUT_TWICE = (
    f"f {{ p = {BIG} parameter(0)\n ROOT e = {BIG} exponential(p) }}\n"
    f"g {{ p = {BIG} parameter(0)\n ROOT s = {BIG} sine(p) }}\n"
    f"h {{ p = {BIG} parameter(0)\n ROOT c = {BIG} cosine(p) }}\n"
    f"ENTRY main {{ a = {BIG} parameter(0)\n e = {BIG} fusion(a), kind=kLoop, calls=f\n"
    f" s = {BIG} fusion(e), kind=kLoop, calls=g\n c = {BIG} fusion(e), kind=kLoop, calls=h\n"
    f" ROOT r = ({BIG}, {BIG}) tuple(s, c) }}",
    f"g {{ p = {BIG} parameter(0)\n e = {BIG} exponential(p)\n ROOT s = {BIG} sine(e) }}\n"
    f"h {{ p = {BIG} parameter(0)\n e = {BIG} exponential(p)\n ROOT c = {BIG} cosine(e) }}\n"
    f"ENTRY main {{ a = {BIG} parameter(0)\n s = {BIG} fusion(a), kind=kLoop, calls=g\n"
    f" c = {BIG} fusion(a), kind=kLoop, calls=h\n ROOT r = ({BIG}, {BIG}) tuple(s, c) }}",
)
SENT_AGAIN = (
    f"ENTRY main {{ a = {HALF} parameter(0)\n g = {BIG} all-gather(a), {GROUPS}, dimensions={{0}}\n"
    f" n = {BIG} negate(g)\n ROOT s = {BIG} multiply(g, n) }}",
    f"ENTRY main {{ a = {HALF} parameter(0)\n g = {BIG} all-gather(a), {GROUPS}, dimensions={{0}}\n"
    f" h = {BIG} all-gather(a), {GROUPS}, dimensions={{0}}\n"
    f" n = {BIG} negate(h)\n ROOT s = {BIG} multiply(g, n) }}",
)
NOTHING_BESIDE = (
    f"ENTRY main {{ a = {HALF} parameter(0)\n b = {BIG} parameter(1)\n"
    f" s = ({HALF}, {BIG}) all-gather-start(a), {GROUPS}, dimensions={{0}}\n"
    f" t = {BIG} tanh(b)\n d = {BIG} all-gather-done(s)\n ROOT r = {BIG} add(d, t) }}",
    f"ENTRY main {{ a = {HALF} parameter(0)\n b = {BIG} parameter(1)\n t = {BIG} tanh(b)\n"
    f" d = {BIG} all-gather(a), {GROUPS}, dimensions={{0}}\n ROOT r = {BIG} add(d, t) }}",
)


def _reduced(extent: int) -> str:
    shape = f"f32[{extent},1024]{{1,0}}"
    return (
        f"{ADD}ENTRY main {{ a = {BIG} parameter(0)\n s = {shape} slice(a), "
        f"slice={{[0:{extent}],[0:1024]}}\n ROOT r = {shape} all-reduce(s), {GROUPS}, "
        "to_apply=add }"
    )


SENDS_MORE = (_reduced(256), _reduced(512))
COPIED = (
    f"ENTRY main {{ a = {BIG} parameter(0)\n ROOT t = {BIG} tanh(a) }}",
    f"ENTRY main {{ a = {BIG} parameter(0)\n c = {BIG} copy(a)\n ROOT t = {BIG} tanh(c) }}",
)
OTHER_LAYOUT = (
    COPIED[0],
    "ENTRY main { a = f32[512,1024]{0,1} parameter(0)\n ROOT t = f32[512,1024]{0,1} tanh(a) }",
)
REPLICATED_BETWEEN = (
    f"ENTRY main {{ a = {HALF} parameter(0)\n ROOT r = {HALF} all-to-all(a), {GROUPS}, "
    "dimensions={0} }",
    f"ENTRY main {{ a = {HALF} parameter(0)\n i = s32[] partition-id()\n z = s32[] constant(0)\n"
    f" g = {BIG} all-gather(a), {GROUPS}, dimensions={{0}}\n"
    f" ROOT r = {HALF} dynamic-slice(g, i, z), dynamic_slice_sizes={{256,1024}} }}",
)
DONATED = (
    "input_output_alias={ {}: (0, {}, may-alias) }",
    "buffer_donor={ (0, {}) }",
)
# all arguments in one tuple, as a TPU program is given more than 2,000 of them
OUT_OF_A_TUPLE = (
    f"ENTRY main {{ all = ({HALF}, {BIG}) parameter(0)\n"
    f" a = {BIG} get-tuple-element(all), index=1\n b = {HALF} get-tuple-element(all), index=0\n"
    f" t = {BIG} tanh(a)\n u = {HALF} tanh(b)\n ROOT r = ({BIG}, {HALF}) tuple(t, u) }}"
)
ONE_OF_TWO = (
    "input_output_alias={ {0}: (0, {1}, may-alias), {1}: (0, {0}, may-alias) }",
    "input_output_alias={ {1}: (0, {0}, may-alias) }",
)


class Made(NamedTuple):
    """A module without its first line, on each side."""

    code: str
    analyzer: type[Analyzer]
    bodies: tuple[str, str]
    headers: tuple[str, str] = ("", "")


MADE = (
    Made("FUS003", Fusions, LEFT_ALONE),
    Made("FUS002", Fusions, WORKED_OUT_TWICE),
    Made("COLL002", Collectives, SENT_AGAIN),
    Made("COLL003", Collectives, NOTHING_BESIDE),
    Made("COLL006", Collectives, SENDS_MORE),
    Made("COPY001", Copies, COPIED),
    Made("COPY003", Copies, OTHER_LAYOUT),
    Made("SHARD007", Resharding, REPLICATED_BETWEEN),
    Made("DON001", Donation, (OUT_OF_A_TUPLE, OUT_OF_A_TUPLE), ONE_OF_TWO),
    Made("DON003", Donation, (COPIED[0], COPIED[0]), DONATED),
)
# both sides have it, or a smaller one of it: what must not be called a difference
LOOK_ALIKES = tuple(
    made._replace(bodies=(made.bodies[1], made.bodies[1].replace("1024", "2048")),
                  headers=(made.headers[1], made.headers[1]))
    for made in MADE
    if made.code not in ("COLL006", "COPY003")
)  # fmt: skip


def _compared(folder: Path, made: Made) -> Comparison:
    sides = []
    for name, body, header in zip("lr", made.bodies, made.headers, strict=True):
        path = folder / f"{name}.txt"
        attributes = f", {header}" if header else ""
        head = f"HloModule m, is_scheduled=true, num_partitions=2{attributes}"
        path.write_text(f"{head}\n\n{body}\n")
        sides.append(open_side(path))
    return compare(*sides)


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.code)
def test_shows(made: Made, tmp_path: Path, goldens: Goldens) -> None:
    found = [f for f in findings(_compared(tmp_path, made), made.analyzer()) if f.code == made.code]
    goldens.check(f"made_{made.code.lower()}.txt", text(found[:1]))


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.code)
def test_calls_the_way_back_an_improvement(made: Made, tmp_path: Path) -> None:
    back = made._replace(bodies=made.bodies[::-1], headers=made.headers[::-1])
    found = [f for f in findings(_compared(tmp_path, back), made.analyzer()) if f.code == made.code]
    assert Direction.WORSE not in {f.direction for f in found}


@pytest.mark.parametrize("made", LOOK_ALIKES, ids=lambda made: made.code)
def test_is_silent(made: Made, tmp_path: Path) -> None:
    found = findings(_compared(tmp_path, made), made.analyzer())
    assert made.code not in {finding.code for finding in found}
