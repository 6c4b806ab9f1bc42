from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloscope.attribute import (
    By,
    CostContext,
    account,
    communication_delta,
    cost_delta,
    group_delta,
)
from hloscope.attribute.cost_account import Account
from hloscope.hlo import read_text, trip_count
from hloscope.match import match
from hloscope.model.communication import ChangeKind, CommunicationDelta
from hloscope.model.cost import CostDelta, Quantity, Step, Total
from hloscope.model.hlo import Module
from hloscope.model.pairing import Pairing
from hloscope.model.units import Measured, Missing
from hloscope.normalize import normalize

Law = Callable[[CostDelta], None]

BASE = """HloModule m, num_partitions=4
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = f32[] add(x, y) }
ENTRY e { a = f32[8,16]{1,0} parameter(0), metadata={op_name="a"}
 w = f32[16,16]{1,0} parameter(1), metadata={op_name="w"}
 d = f32[8,16]{1,0} dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 t = f32[8,16]{1,0} tanh(d)
 c = f32[8,16]{1,0} custom-call(t), custom_call_target="mystery"
 ROOT r = f32[8,16]{1,0} all-reduce(c), replica_groups={{0,1,2,3}}, to_apply=add }
"""

LOOPED = """HloModule m, num_partitions=4
body { p = (s32[], f32[4,8,16]{2,1,0}, f32[32,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[4,8,16]{2,1,0} get-tuple-element(p), index=1
 y = f32[32,16]{1,0} get-tuple-element(p), index=2
 z = s32[] constant(0)
 s = f32[1,8,16]{2,1,0} dynamic-slice(x, i, z, z), dynamic_slice_sizes={1,8,16}
 q = f32[8,16]{1,0} reshape(s)
 g = f32[32,16]{1,0} all-gather(q), replica_groups={{0,1,2,3}}, dimensions={0}
 n = f32[32,16]{1,0} add(y, g)
 o = s32[] constant(1)
 j = s32[] add(i, o)
 ROOT t = (s32[], f32[4,8,16]{2,1,0}, f32[32,16]{1,0}) tuple(j, x, n) }
cond { p = (s32[], f32[4,8,16]{2,1,0}, f32[32,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 k = s32[] constant(4)
 ROOT r = pred[] compare(i, k), direction=LT }
ENTRY e { a = f32[4,8,16]{2,1,0} parameter(0), metadata={op_name="a"}
 y = f32[32,16]{1,0} parameter(1), metadata={op_name="y"}
 z = s32[] constant(0)
 s = (s32[], f32[4,8,16]{2,1,0}, f32[32,16]{1,0}) tuple(z, a, y)
 w = (s32[], f32[4,8,16]{2,1,0}, f32[32,16]{1,0}) while(s), body=body, condition=cond
 ROOT r = f32[32,16]{1,0} get-tuple-element(w), index=2 }
"""

HOISTED = """HloModule m, num_partitions=4
body { p = (s32[], f32[4,32,16]{2,1,0}, f32[32,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[4,32,16]{2,1,0} get-tuple-element(p), index=1
 y = f32[32,16]{1,0} get-tuple-element(p), index=2
 z = s32[] constant(0)
 s = f32[1,32,16]{2,1,0} dynamic-slice(x, i, z, z), dynamic_slice_sizes={1,32,16}
 g = f32[32,16]{1,0} reshape(s)
 n = f32[32,16]{1,0} add(y, g)
 o = s32[] constant(1)
 j = s32[] add(i, o)
 ROOT t = (s32[], f32[4,32,16]{2,1,0}, f32[32,16]{1,0}) tuple(j, x, n) }
cond { p = (s32[], f32[4,32,16]{2,1,0}, f32[32,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 k = s32[] constant(4)
 ROOT r = pred[] compare(i, k), direction=LT }
ENTRY e { a = f32[4,8,16]{2,1,0} parameter(0), metadata={op_name="a"}
 y = f32[32,16]{1,0} parameter(1), metadata={op_name="y"}
 z = s32[] constant(0)
 g = f32[4,32,16]{2,1,0} all-gather(a), replica_groups={{0,1,2,3}}, dimensions={1}
 s = (s32[], f32[4,32,16]{2,1,0}, f32[32,16]{1,0}) tuple(z, g, y)
 w = (s32[], f32[4,32,16]{2,1,0}, f32[32,16]{1,0}) while(s), body=body, condition=cond
 ROOT r = f32[32,16]{1,0} get-tuple-element(w), index=2 }
"""


class Both(NamedTuple):
    """Two modules accounted for, and paired."""

    lhs: Account
    rhs: Account
    pairing: Pairing

    def costs(self) -> CostDelta:
        return cost_delta(self.lhs.cost, self.rhs.cost, self.pairing)

    def comms(self) -> CommunicationDelta:
        return communication_delta(self.lhs.communication, self.rhs.communication, self.pairing)


def both(lhs: str, rhs: str) -> Both:
    modules: list[Module] = [read_text(text)[0] for text in (lhs, rhs)]
    context = CostContext(mesh={"x": 4})
    left, right = (account(module, trip_count, context) for module in modules)
    return Both(left, right, match(normalize(modules[0]), normalize(modules[1])))


def test_a_side_against_itself_differs_in_nothing() -> None:
    found = both(BASE, BASE)
    delta = found.costs()
    assert delta.entries == ()
    assert delta.equal == len(found.lhs.cost.entries)
    assert (delta.flops, delta.bytes) == (Total(0), Total(0))
    assert found.comms().changes == ()


def test_another_function_of_the_same_size_is_no_difference_of_cost(adds_up: Law) -> None:
    delta = both(BASE, BASE.replace("tanh", "exponential")).costs()
    adds_up(delta)
    assert (delta.flops, delta.transcendentals.known, delta.bytes) == (Total(0), 0, Total(0))


def test_an_added_copy_is_an_entry_of_its_own(adds_up: Law) -> None:
    rhs = BASE.replace(
        " t = f32[8,16]{1,0} tanh(d)", " k = f32[8,16]{1,0} copy(d)\n t = f32[8,16]{1,0} tanh(k)"
    )
    delta = both(BASE, rhs).costs()
    adds_up(delta)
    (entry,) = delta.entries
    assert (entry.lhs, entry.entry.name) == (None, "k")
    assert (entry.flops, entry.bytes) == (Measured(0), Measured(2 * 512))


def test_another_dtype_moves_half_the_bytes(adds_up: Law) -> None:
    delta = both(BASE, BASE.replace("f32", "bf16")).costs()
    adds_up(delta)
    assert delta.bytes.known == -sum(
        delta.lhs.totals[q].known // 2 for q in (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN)
    )


def test_what_is_unknown_on_one_side_is_named_and_still_adds_up(adds_up: Law) -> None:
    rhs = BASE.replace('custom-call(t), custom_call_target="mystery"', "negate(t)")
    delta = both(BASE, rhs).costs()
    adds_up(delta)
    reason = "custom call 'mystery' does not say what it does"
    assert delta.flops.unknown == ((reason, 1),)
    unknown = [e for e in delta.entries if isinstance(e.flops, Missing)]
    assert [entry.flops for entry in unknown] == [Missing(reason)]


def test_equal_unknowns_are_no_difference() -> None:
    delta = both(BASE, BASE.replace("tanh", "exponential")).costs()
    assert all(entry.entry.name != "c" for entry in delta.entries)
    assert delta.uncompared == Step("pairs with one side unknown", 0, 0, 0)


def test_a_gather_hoisted_out_of_the_loop(adds_up: Law) -> None:
    found = both(LOOPED, HOISTED)
    adds_up(found.costs())
    (change,) = found.comms().changes
    assert change.kinds == (ChangeKind.OUT_OF_LOOP, ChangeKind.GROWN)
    assert change.wire_bytes == Measured(0)
    assert change.lhs is not None
    assert change.rhs is not None
    assert (change.lhs.executions, change.rhs.executions) == (Measured(4), Measured(1))
    assert (change.lhs.shape, change.rhs.shape) == ("f32[32,16]", "f32[4,32,16]")
    (back,) = both(HOISTED, LOOPED).comms().changes
    assert back.kinds == (ChangeKind.INTO_LOOP, ChangeKind.SHRUNK)


REDUCE = "all-reduce(c), replica_groups={{0,1,2,3}}, to_apply=add"
CHANGED = {
    "negate(c)": ((ChangeKind.GONE,), -768),
    "all-reduce(c), replica_groups={{0,1},{2,3}}, to_apply=add": ((ChangeKind.AXES,), -256),
    "all-reduce(c), replica_groups=[1,4]<=[4], to_apply=add": ((), 0),
    "all-gather(c), replica_groups={{0,1,2,3}}, dimensions={0}": (
        (ChangeKind.KIND, ChangeKind.GROWN),
        1536 - 768,
    ),
}


@pytest.mark.parametrize("instruction", CHANGED)
def test_what_became_of_a_collective(instruction: str) -> None:
    kinds, wire = CHANGED[instruction]
    rhs = BASE.replace(REDUCE, instruction)
    if "all-gather" in instruction:
        rhs = rhs.replace(
            "ROOT r = f32[8,16]{1,0} all-gather", "ROOT r = f32[32,16]{1,0} all-gather"
        )
    delta = both(BASE, rhs).comms()
    assert delta.wire_bytes == Total(wire)
    assert [change.kinds for change in delta.changes] == ([kinds] if kinds else [])


def test_a_collective_in_another_dtype() -> None:
    (change,) = both(BASE, BASE.replace("f32", "bf16")).comms().changes
    assert change.kinds == (ChangeKind.DTYPE, ChangeKind.SHRUNK)
    assert change.wire_bytes == Measured(-384)


def test_a_new_collective() -> None:
    (change,) = both(BASE.replace(REDUCE, "negate(c)"), BASE).comms().changes
    assert (change.kinds, change.lhs, change.wire_bytes) == (
        (ChangeKind.NEW,),
        None,
        Measured(768),
    )


@pytest.mark.parametrize("by", By)
def test_groups_add_up_to_the_delta(by: By) -> None:
    delta = both(LOOPED, HOISTED).costs()
    groups = group_delta(delta, by)
    assert sum(group.flops.known for group in groups) == delta.flops.known
    assert sum(group.bytes.known for group in groups) == delta.bytes.known
    assert sum(group.entries for group in groups) == len(delta.entries)


def test_frames_have_their_columns_even_when_empty() -> None:
    same = both(BASE, BASE)
    assert {"lhs", "rhs", "flops", "bytes"} <= set(same.costs().frame().columns)
    assert {"change", "wire_bytes"} <= set(same.comms().frame().columns)
    changed = both(LOOPED, HOISTED)
    assert changed.comms().frame()["change"].tolist() == ["moved out of a loop, grown"]
    assert str(changed.costs().frame()["bytes"].dtype) == "Int64"


OPERATIONS = ("add", "multiply", "negate", "tanh", "copy")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A chain of operations, some on the result before last."""
    names = ["a", "b"]
    lines = []
    for number, operation in enumerate(draw(st.lists(st.sampled_from(OPERATIONS), max_size=8))):
        operands = [names[-1], draw(st.sampled_from(names))]
        count = 2 if operation in ("add", "multiply") else 1
        lines.append(f" n{number} = f32[8,16]{{1,0}} {operation}({', '.join(operands[:count])})")
        names.append(f"n{number}")
    body = "\n".join(lines)
    return (
        "HloModule m\nENTRY e {\n a = f32[8,16]{1,0} parameter(0)\n"
        f" b = f32[8,16]{{1,0}} parameter(1)\n{body}\n"
        f" ROOT r = f32[8,16]{{1,0}} negate({names[-1]})\n}}\n"
    )


@settings(deadline=None, max_examples=60, derandomize=True)
@given(lhs=programs(), rhs=programs())
def test_deltas_add_up_and_mirror(adds_up: Law, lhs: str, rhs: str) -> None:
    found = both(lhs, rhs)
    delta = found.costs()
    adds_up(delta)
    mirrored = cost_delta(found.rhs.cost, found.lhs.cost, found.pairing.mirrored())
    adds_up(mirrored)
    assert (mirrored.flops.known, mirrored.bytes.known, mirrored.equal) == (
        -delta.flops.known,
        -delta.bytes.known,
        delta.equal,
    )
