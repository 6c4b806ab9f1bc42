"""Nodes that look alike from everywhere, and are told apart by where they are."""

from __future__ import annotations

from hloscope.hlo import read_text
from hloscope.normalize import normalize

LOOP = """
body_{n} {{
  carry.{n} = s32[2] parameter(0)
  ROOT next.{n} = s32[2] negate(carry.{n})
}}

condition_{n} {{
  tested.{n} = s32[2] parameter(0)
  ROOT go.{n} = pred[] constant(true)
}}
"""
LOOPS = """HloModule loops, is_scheduled=true
{bodies}
ENTRY main {{
  start = s32[2] constant({{0,0}})
  while.1 = s32[2] while(start), condition=condition_1, body=body_1
  while.2 = s32[2] while(start), condition=condition_2, body=body_2
  while.3 = s32[2] while(start), condition=condition_3, body=body_3
  add.1 = s32[2] add({first})
  ROOT add.2 = s32[2] add({second})
}}
"""


def full_fingerprint(text: str) -> str:
    (module,) = read_text(text)
    return normalize(module).full_fingerprint


def loops(first: str, second: str) -> str:
    bodies = "".join(LOOP.format(n=n) for n in (1, 2, 3))
    return LOOPS.format(bodies=bodies, first=first, second=second)


def test_equal_loops_are_told_apart_by_their_place_in_the_schedule() -> None:
    straight = full_fingerprint(loops("while.1, while.2", "add.1, while.3"))
    assert full_fingerprint(loops("while.2, while.1", "while.3, add.1")) == straight
    assert full_fingerprint(loops("while.3, while.2", "add.1, while.1")) != straight
