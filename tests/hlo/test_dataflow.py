"""Data flow with every call, fusion and loop opened."""

from __future__ import annotations

from hloscope.hlo import read_text
from hloscope.hlo.dataflow import Dataflow, NodeKind, dataflow
from hloscope.model.units import Measured
from hloscope.queries.flow import flow
from hloscope.queries.loops import readers, refills, scanned_from, slot_behind, stacks

CARRY = "(s32[], f32[8], f32[4,8], f32[4,8], f32[4,8])"
SCAN = """
HloModule m

%cut (whole: f32[4,8], i: s32[]) -> f32[8] {
  %whole = f32[4,8] parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %slice = f32[1,8] dynamic-slice(%whole, %i, %zero), dynamic_slice_sizes={1,8}
  ROOT %flat = f32[8] reshape(%slice)
}

%body (p: CARRY) -> CARRY {
  %p = CARRY parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8] get-tuple-element(%p), index=1
  %ys = f32[4,8] get-tuple-element(%p), index=2
  %ws = f32[4,8] get-tuple-element(%p), index=3
  %w = f32[8] call(%ws, %i), to_apply=%cut
  %y = f32[8] multiply(%x, %w)
  %row = f32[1,8] reshape(%y)
  %zero = s32[] constant(0)
  %filled = f32[4,8] dynamic-update-slice(%ys, %row, %i, %zero)
  %again = f32[4,8] copy(%ws)
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %t = CARRY tuple(%next, %y, %filled, %ws, %again)
}

%until (q: CARRY) -> pred[] {
  %q = CARRY parameter(0)
  %i = s32[] get-tuple-element(%q), index=0
  %four = s32[] constant(4)
  ROOT %less = pred[] compare(%i, %four), direction=LT
}

ENTRY %main (a: f32[8], b: f32[4,8]) -> (f32[8], f32[4,8], f32[4,8], f32[8]) {
  %a = f32[8] parameter(0)
  %b = f32[4,8] parameter(1)
  %zero = s32[] constant(0)
  %nothing = f32[] constant(0)
  %empty = f32[4,8] broadcast(%nothing), dimensions={}
  %start = CARRY tuple(%zero, %a, %empty, %b, %empty)
  %loop = CARRY while(%start), condition=%until, body=%body
  %last = f32[8] get-tuple-element(%loop), index=1
  %all = f32[4,8] get-tuple-element(%loop), index=2
  %same = f32[4,8] get-tuple-element(%loop), index=3
  %w0 = f32[8] call(%b, %zero), to_apply=%cut
  ROOT %out = (f32[8], f32[4,8], f32[4,8], f32[8]) tuple(%last, %all, %same, %w0)
}
"""


def opened() -> Dataflow:
    (module,) = read_text(SCAN.replace("CARRY", CARRY))
    return dataflow(module)


def test_a_loop_tells_what_it_carries() -> None:
    found = opened()
    (loop,) = found.loops
    assert loop.trips == Measured(4)
    first = [found.opcode(found.nodes[slot].operands[0]) for slot in loop.slots]
    assert first == ["constant", "parameter", "broadcast", "parameter", "broadcast"]
    after = [found.opcode(node) or found.nodes[node].kind for node in loop.after]
    assert after == ["add", "multiply", "dynamic-update-slice", NodeKind.SLOT, "copy"]
    assert [slot in found.invariant for slot in loop.slots] == [False, False, False, True, False]


def test_a_shared_computation_is_opened_for_each_caller() -> None:
    found = opened()
    slices = [n for n in range(len(found.nodes)) if found.opcode(n) == "dynamic-slice"]
    assert [found.nodes[n].loops for n in slices] == [(0,), ()]
    # both cut the same parameter, one as the loop hands it on
    assert {found.origin(found.nodes[n].operands[0]) for n in slices} == {found.parameters[1]}


def test_what_a_loop_hands_on_is_what_it_was_given() -> None:
    found = opened()
    assert found.origin(found.outputs[2]) == found.parameters[1]
    assert found.nodes[found.outputs[0]].kind is NodeKind.RESULT


def test_stacks_scans_and_refills_are_told_apart() -> None:
    found = opened()
    (loop,) = found.loops
    (stack,) = stacks(found)
    assert (stack.slot, found.opcode(stack.update)) == (loop.slots[2], "multiply")
    weight = found.nodes[stack.update].operands[1]
    assert scanned_from(found, weight, 0) == found.parameters[1]
    assert scanned_from(found, stack.update, 0) is None
    (refill,) = refills(found)
    assert (refill.slot, refill.source) == (loop.slots[4], loop.slots[3])
    assert slot_behind(found, refill.copy) == loop.slots[3]


def test_readers_are_found_through_loops() -> None:
    found = opened()
    names = sorted(found.opcode(n) for n in readers(found, found.parameters[1]))
    assert names == ["dynamic-slice", "dynamic-slice"]


def test_a_flow_is_opened_once() -> None:
    module = opened().module
    assert flow(module) is flow(module)


def test_calls_without_end_stay_closed() -> None:
    lines = ["HloModule deep", "%f0 (p: f32[]) -> f32[] {", "  ROOT %p = f32[] parameter(0)", "}"]
    for n in range(1, 200):
        lines += [
            f"%f{n} (p: f32[]) -> f32[] {{",
            "  %p = f32[] parameter(0)",
            f"  %one = f32[] call(%p), to_apply=%f{n - 1}",
            f"  ROOT %two = f32[] call(%one), to_apply=%f{n - 1}",
            "}",
        ]
    lines += ["ENTRY %main (p: f32[]) -> f32[] {", "  %p = f32[] parameter(0)",
              "  ROOT %r = f32[] call(%p), to_apply=%f199", "}"]  # fmt: skip
    (module,) = read_text("\n".join(lines))
    found = dataflow(module)
    assert found.closed > 0
    assert found.opcode(found.outputs[0]) == "call"
