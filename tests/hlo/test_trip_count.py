from __future__ import annotations

import pytest

from hloscope.hlo import read_text, trip_count
from hloscope.model.canonical import Ref
from hloscope.model.units import Maybe, Measured, Missing

LOOP = """HloModule m
%condition {{
  %c = (s32[], f32[8], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %end = s32[] get-tuple-element(%c), index=2
  %limit = s32[] constant({limit})
  ROOT %less = pred[] compare({compare}), direction={direction}
}}
%add_one {{
  %a = s32[] parameter(0)
  %b = s32[] constant({step})
  ROOT %sum = s32[] add(%b, %a)
}}
%body {{
  %c = (s32[], f32[8], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %copied = s32[] copy(%i)
  %next = s32[] fusion(%copied), kind=kLoop, calls=%add_one
  %x = f32[8] get-tuple-element(%c), index=1
  %end = s32[] get-tuple-element(%c), index=2
  ROOT %t = (s32[], f32[8], s32[]) tuple(%next, %x, %end)
}}
ENTRY %main {{
  %x = f32[8] parameter(0)
  %n = s32[] parameter(1)
  %start = s32[] constant({start})
  %same = s32[] copy(%start)
  %seven = s32[] constant(7)
  %init = (s32[], f32[8], s32[]) tuple({first}, %x, {carried})
  ROOT %w = (s32[], f32[8], s32[]) while(%init), condition=%condition, body=%body{config}
}}
"""

DEFAULTS = {
    "limit": "5",
    "compare": "%i, %limit",
    "direction": "LT",
    "step": "1",
    "start": "0",
    "first": "%same",
    "carried": "%seven",
    "config": "",
}


def count(**changes: str) -> Maybe[int]:
    (module,) = read_text(LOOP.format(**{**DEFAULTS, **changes}))
    assert module.entry is not None
    entry = module.computations[module.entry]
    return trip_count(module, Ref(module.entry, entry.root))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 5),
        ({"step": "2"}, 3),
        ({"start": "3"}, 2),
        ({"start": "9"}, 0),
        ({"direction": "LE"}, 6),
        ({"direction": "NE"}, 5),
        ({"compare": "%limit, %i", "direction": "GT"}, 5),
        ({"start": "5", "limit": "0", "step": "-1", "direction": "GT"}, 5),
        ({"start": "5", "limit": "0", "step": "-2", "direction": "GE"}, 3),
        ({"compare": "%i, %end"}, 7),
        ({"compare": "%end, %i", "direction": "GT"}, 7),
        ({"config": ', backend_config={"known_trip_count":{"n":"42"},"x":1}'}, 42),
    ],
)
def test_counts(changes: dict[str, str], expected: int) -> None:
    assert count(**changes) == Measured(expected)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"first": "%n"}, "the loop's counter does not start at a constant"),
        ({"step": "0"}, "the loop's counter does not move"),
        ({"step": "-1"}, "the loop's counter moves away from its bound"),
        ({"step": "2", "direction": "NE"}, "the loop's counter passes its bound"),
        ({"compare": "%i, %end", "carried": "%n"}, "the loop's bound is not a constant"),
        (
            {"compare": "%limit, %limit"},
            "the loop's condition is no comparison of a counter with a constant",
        ),
    ],
)
def test_reasons(changes: dict[str, str], reason: str) -> None:
    assert count(**changes) == Missing(reason)


def test_an_inner_loop_whose_start_the_outer_one_carries() -> None:
    (module,) = read_text(
        """HloModule m
%cond { %c = (s32[], s32[]) parameter(0)
 %i = s32[] get-tuple-element(%c), index=0
 %k = s32[] constant(4)
 ROOT %l = pred[] compare(%i, %k), direction=LT }
%inner { %c = (s32[], s32[]) parameter(0)
 %i = s32[] get-tuple-element(%c), index=0
 %z = s32[] get-tuple-element(%c), index=1
 %one = s32[] constant(1)
 %n = s32[] add(%i, %one)
 ROOT %t = (s32[], s32[]) tuple(%n, %z) }
%outer { %c = (s32[], s32[]) parameter(0)
 %i = s32[] get-tuple-element(%c), index=0
 %z = s32[] get-tuple-element(%c), index=1
 %init = (s32[], s32[]) tuple(%z, %z)
 %w = (s32[], s32[]) while(%init), condition=%cond, body=%inner
 %two = s32[] constant(2)
 %n = s32[] add(%i, %two)
 ROOT %t = (s32[], s32[]) tuple(%n, %z) }
ENTRY %e {
 %zero = s32[] constant(0)
 %init = (s32[], s32[]) tuple(%zero, %zero)
 ROOT %w = (s32[], s32[]) while(%init), condition=%cond, body=%outer
}"""
    )
    found = {
        (c.name, i.name): trip_count(module, Ref(number, position))
        for number, c in enumerate(module.computations)
        for position, i in enumerate(c.instructions)
        if i.opcode == "while"
    }
    assert found == {("outer", "w"): Measured(4), ("e", "w"): Measured(2)}
