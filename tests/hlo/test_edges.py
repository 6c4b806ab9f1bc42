"""The edges of a graph, seen from both ends."""

from __future__ import annotations

from hloscope.hlo import read_text
from hloscope.hlo.edges import BACK, Edges
from hloscope.normalize import normalize

LOOP = """
HloModule loop, is_scheduled=false

%body {
  %b = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%b), index=0
  %x = f32[8] get-tuple-element(%b), index=1
  %one = s32[] constant(1)
  %next = s32[] subtract(%i, %one)
  %y = f32[8] multiply(%x, %x)
  ROOT %r = (s32[], f32[8]) tuple(%next, %y)
}

%condition {
  %c = (s32[], f32[8]) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %zero = s32[] constant(0)
  ROOT %more = pred[] compare(%k, %zero), direction=GT
}

ENTRY %main {
  %n = s32[] parameter(0)
  %v = f32[8] parameter(1)
  %init = (s32[], f32[8]) tuple(%n, %v)
  ROOT %w = (s32[], f32[8]) while(%init), condition=%condition, body=%body
}
"""


def test_uses_name_users_and_slots() -> None:
    (module,) = read_text(LOOP)
    canonical = normalize(module)
    edges = Edges(canonical.flow)
    names = {
        base + k: ins.name
        for base, computation in zip(canonical.offsets, module.computations, strict=True)
        for k, ins in enumerate(computation.instructions)
    }
    names.update(
        (node, f"{names[canonical.flow.sources[node][0]]} carried") for node in canonical.flow.back
    )
    used = {names[node]: [(names[user], slot) for user, slot in edges.uses(node)] for node in names}
    assert {name: users for name, users in used.items() if users} == {
        "n": [("n carried", 1)],
        "v": [("v carried", 1)],
        "n carried": [("more", 1), ("next", 1), ("w", 0)],
        "v carried": [("y", 0), ("y", 0), ("w", 0)],
        "one": [("next", 2)],
        "zero": [("more", 2)],
        "more": [("w", -1)],
        "next": [("w", -2), ("n carried", BACK)],
        "y": [("w", -2), ("v carried", BACK)],
    }
