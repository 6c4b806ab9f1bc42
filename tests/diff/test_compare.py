from __future__ import annotations

import pytest

from hloscope import diff, match, normalize
from hloscope.hlo import read_text
from hloscope.model.changes import (
    ChangeClass,
    FieldChange,
    ModuleDiff,
    Role,
    Verdict,
)
from hloscope.model.units import Measured
from hloscope.report.plain import plain

BASE = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  w = f32[8,16]{1,0} parameter(0), metadata={op_name="params['w']"}
  x = f32[4,8]{1,0} parameter(1), metadata={op_name="x"}
  d = f32[4,16]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,16]{1,0} tanh(d)
  s = f32[4,16]{1,0} subtract(t, d)
  zero = f32[] constant(0)
  r = f32[4]{0} reduce(s, zero), dimensions={1}, to_apply=sum
  n = f32[8,16]{1,0} negate(w)
  ROOT out = (f32[8,16]{1,0}, f32[4]{0}) tuple(n, r)
}
"""


def compare(lhs: str, rhs: str) -> ModuleDiff:
    left, right = (normalize.normalize(read_text(text)[0]) for text in (lhs, rhs))
    found = diff.compare(left, right, match.match(left, right))
    mirror = diff.compare(right, left, match.match(right, left))
    assert diff.mirrored(found) == mirror
    return found


def edited(old: str, new: str, base: str = BASE) -> str:
    assert base.count(old) == 1
    return base.replace(old, new)


def heads(found: ModuleDiff) -> list[tuple[str | None, str | None, tuple[ChangeClass, ...]]]:
    return [
        (c.lhs and c.lhs.name, c.rhs and c.rhs.name, c.classes)
        for region in found.regions
        for c in region.heads
    ]


def followers(found: ModuleDiff) -> list[str]:
    places = [c.rhs or c.lhs for region in found.regions for c in region.followers]
    return [place.name for place in places if place]


def test_self_diff_is_empty_and_identical() -> None:
    found = compare(BASE, BASE)
    assert (found.verdict, found.empty) == (Verdict.IDENTICAL, True)


def test_noise_is_the_same_graph() -> None:
    noisy = BASE.replace("tanh(d)", 'tanh(d), metadata={op_name="jit(f)/tanh" source_line=3}')
    found = compare(BASE, noisy.replace(" t = ", " other = ").replace("(t, d)", "(other, d)"))
    assert (found.verdict, found.empty) == (Verdict.SAME_GRAPH, True)


def test_inserted_copy_is_the_cause_and_its_user_the_consequence() -> None:
    text = edited("  s = ", "  k = f32[4,16]{1,0} copy(t)\n  s = ")
    found = compare(BASE, text.replace("subtract(t, d)", "subtract(k, d)"))
    assert heads(found) == [(None, "k", (ChangeClass.ADDED,))]
    assert followers(found) == ["s"]
    (region,) = found.regions
    assert region.heads[0].rhs is not None
    assert region.heads[0].rhs.operands == ("t: tanh",)
    assert region.heads[0].rhs.users == ("s: subtract",)


def test_swapped_operands_are_named() -> None:
    found = compare(BASE, edited("subtract(t, d)", "subtract(d, t)"))
    assert heads(found) == [("s", "s", (ChangeClass.OPERAND_ORDER,))]
    assert found.regions[0].heads[0].fields == (
        FieldChange(ChangeClass.OPERAND_ORDER, "operand 0", "t", "d"),
        FieldChange(ChangeClass.OPERAND_ORDER, "operand 1", "d", "t"),
    )


@pytest.mark.parametrize(
    ("old", "new", "name", "classes"),
    [
        ("tanh(d)", "exponential(d)", "t", (ChangeClass.OPCODE,)),
        ("constant(0)", "constant(1)", "zero", (ChangeClass.CONSTANT,)),
        ("t = f32[4,16]{1,0}", "t = f32[4,16]{0,1}", "t", (ChangeClass.LAYOUT,)),
        ("t = f32[4,16]{1,0}", "t = f32[4,16]{1,0:S(1)}", "t", (ChangeClass.MEMORY_SPACE,)),
        ("t = f32[4,16]{1,0}", "t = f32[4,16]{1,0:T(8,128)}", "t", (ChangeClass.TILING,)),
        (
            "rhs_contracting_dims={0}",
            "rhs_contracting_dims={0}, operand_precision={highest,highest}",
            "d",
            (ChangeClass.PRECISION,),
        ),
        ("tanh(d)", "tanh(d), sharding={replicated}", "t", (ChangeClass.SHARDING,)),
    ],
)
def test_one_edit_is_one_cause(
    old: str, new: str, name: str, classes: tuple[ChangeClass, ...]
) -> None:
    found = compare(BASE, edited(old, new))
    assert heads(found) == [(name, name, classes)]
    assert followers(found) == []


def test_dtype_that_ripples_has_one_cause() -> None:
    text = BASE
    for name in ("d", "t", "s"):
        text = edited(f"  {name} = f32[4,16]", f"  {name} = bf16[4,16]", text)
    for old, new in (("w = f32", "w = bf16"), ("x = f32", "x = bf16")):
        text = edited(f"  {old}", f"  {new}", text)
    found = compare(BASE, text.replace("f32[8,16]", "bf16[8,16]"))
    assert heads(found) == [
        ("w", "w", (ChangeClass.DTYPE,)),
        ("x", "x", (ChangeClass.DTYPE,)),
    ]
    assert sorted(followers(found)) == ["d", "n", "s", "t"]


def test_dropped_donation_names_the_parameter() -> None:
    found = compare(BASE, edited(", input_output_alias={ {0}: (0, {}, may-alias) }", ""))
    assert found.regions == ()
    (change,) = found.header
    assert (change.change_class, change.name) == (ChangeClass.DONATION, "w")
    assert (change.lhs, change.rhs) == ("may-alias with 'n'", None)


def test_layout_alone_leaves_the_graph_the_same() -> None:
    found = compare(BASE, edited("t = f32[4,16]{1,0}", "t = f32[4,16]{0,1}"))
    assert found.verdict is Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT
    assert compare(BASE, edited("tanh", "negate")).verdict is Verdict.DIFFERENT


def test_schedule_alone_is_said_by_computation() -> None:
    base = BASE.replace("HloModule m,", "HloModule m, is_scheduled=true,")
    line = "  n = f32[8,16]{1,0} negate(w)\n"
    moved = edited(line, "", base).replace("  x = ", f"{line}  x = ")
    found = compare(base, moved)
    assert found.verdict is Verdict.SAME_UP_TO_SCHEDULE_OR_LAYOUT
    assert found.regions == ()
    assert [(c.lhs, c.moved, c.first) for c in found.schedule] == [("main", 1, ("d", "n"))]


def test_a_part_of_a_combined_collective_has_no_place_of_its_own_in_the_schedule() -> None:
    base = """HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[8] parameter(0), metadata={op_name="x"}
  y = f32[4] parameter(1), metadata={op_name="y"}
  e = f32[8] exponential(x)
  p = f32[8] copy(e)
  q = f32[4] all-reduce(y), replica_groups={}, to_apply=sum
  s = f32[8] sine(p)
  t = f32[4] tanh(q)
  ROOT out = (f32[8], f32[4]) tuple(s, t)
}
"""
    combined = edited("  p = f32[8] copy(e)\n", "", base)
    combined = edited(
        "  q = f32[4] all-reduce(y), replica_groups={}, to_apply=sum\n",
        """  pq = (f32[8], f32[4]) all-reduce(e, y), replica_groups={}, to_apply=sum
  p = f32[8] get-tuple-element(pq), index=0
  q = f32[4] get-tuple-element(pq), index=1
""",
        combined,
    )
    found = compare(base, combined)
    assert found.verdict is Verdict.DIFFERENT
    assert found.schedule == ()


def test_module_attribute_is_a_header_change() -> None:
    found = compare(BASE, edited("HloModule m,", "HloModule m, num_partitions=4,"))
    assert [(c.name, c.lhs, c.rhs) for c in found.header] == [("num_partitions", None, "4")]


def test_equal_layers_fold_into_one_change() -> None:
    def layers(opcode: str) -> str:
        lines = [f"  x{i + 1} = f32[4]{{0}} {opcode}(y{i})\n" for i in range(6)]
        body = "".join(f"  y{i} = f32[4]{{0}} cosine(x{i})\n" + lines[i] for i in range(6))
        start, end = "x0 = f32[4]{0} parameter(0)\n", "ROOT z = f32[4]{0} negate(x6)\n"
        return f"HloModule m\n\nENTRY e {{\n  {start}{body}  {end}}}\n"

    found = compare(layers("tanh"), layers("sine"))
    (region,) = found.regions
    (change,) = region.heads
    assert (region.count, len(change.instances)) == (6, 6)
    assert change.role is Role.HEAD
    assert change.fields == (FieldChange(ChangeClass.OPCODE, "opcode", "tanh", "sine"),)
    # six times an operand and a result of 4 floats
    assert (region.lhs_bytes, region.rhs_bytes) == (192, 192)
    assert (region.lhs_flops, region.rhs_flops) == (24, 24)


def test_json_is_plain_and_complete() -> None:
    found = compare(BASE, edited("tanh(d)", "exponential(d)"))
    data = plain(found)
    assert data["verdict"] == "different"
    (region,) = data["regions"]
    assert region["classes"] == ["opcode"]
    assert region["heads"][0]["lhs"]["text"] == "f32[4,16]{1,0} tanh(d)"
    assert region["heads"][0]["instances"] == [
        {"lhs": [1, 3], "rhs": [1, 3], "lhs_name": "t", "rhs_name": "t"}
    ]


LOOP = """HloModule m

cond {
  p = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(12)
  ROOT lt = pred[] compare(i, n), direction=LT
}

body {
  p = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8]{0} get-tuple-element(p), index=1
  w = f32[8]{0} get-tuple-element(p), index=2
INSIDE
  y = f32[8]{0} add(x, e)
  ROOT out = (s32[], f32[8], f32[8]) tuple(next, y, w)
}

ENTRY main {
  a = f32[8]{0} parameter(0)
  b = f32[8]{0} parameter(1)
  zero = s32[] constant(0)
OUTSIDE
  init = (s32[], f32[8], f32[8]) tuple(zero, a, INIT)
  loop = (s32[], f32[8], f32[8]) while(init), condition=cond, body=body
  ROOT r = f32[8]{0} get-tuple-element(loop), index=1
}
"""


def test_operation_that_leaves_a_loop_is_one_change_and_runs_once() -> None:
    inside = LOOP.replace("INSIDE", "  e = f32[8]{0} exponential(w)").replace("OUTSIDE\n", "")
    outside = LOOP.replace("INSIDE\n", "").replace("add(x, e)", "add(x, w)")
    outside = outside.replace("OUTSIDE", "  e = f32[8]{0} exponential(b)").replace("INIT", "e")
    found = compare(inside.replace("INIT", "b"), outside)
    (region,) = found.regions
    (head,) = region.heads
    assert head.classes == (ChangeClass.LOOP,)
    assert head.fields == (FieldChange(ChangeClass.LOOP, "loop", "loop", None),)
    assert head.lhs is not None
    assert head.rhs is not None
    assert (head.lhs.executions, head.rhs.executions) == (Measured(12), Measured(1))


def test_change_in_a_loop_weighs_as_often_as_the_loop_runs() -> None:
    text = LOOP.replace("INSIDE", "  e = f32[8]{0} exponential(w)").replace("INIT", "b")
    text = text.replace("OUTSIDE\n", "")
    found = compare(text, edited("exponential", "tanh", text))
    assert heads(found) == [("e", "e", (ChangeClass.OPCODE,))]
    (region,) = found.regions
    assert (region.lhs_bytes, region.lhs_flops) == (12 * 2 * 8 * 4, 12 * 8)


def test_parameters_of_one_kind_fold_and_keep_their_paths() -> None:
    extra = "".join(
        f"  k{n} = u32[4]{{0}} parameter({n + 2}), metadata={{op_name=\"rngs['{name}']\"}}\n"
        for n, name in enumerate(["aqt", "dropout"])
    )
    found = compare(BASE, edited("  d = ", extra + "  d = "))
    (region,) = found.regions
    assert (region.count, region.classes) == (2, (ChangeClass.ADDED,))
    assert [i.rhs_name for i in region.heads[0].instances] == ["rngs/aqt", "rngs/dropout"]


TWO_REDUCERS = BASE.replace(
    "ENTRY",
    """most {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

ENTRY""",
).replace("  n = ", "  r2 = f32[4]{0} reduce(s, zero), dimensions={1}, to_apply=most\n  n = ")
TWO_REDUCERS = TWO_REDUCERS.replace(
    "f32[4]{0}) tuple(n, r)", "f32[4]{0}, f32[4]{0}) tuple(n, r, r2)"
)


def test_another_reducer_is_a_change_of_what_calls_it() -> None:
    found = compare(
        TWO_REDUCERS,
        edited(
            "r2 = f32[4]{0} reduce(s, zero), dimensions={1}, to_apply=most",
            "r2 = f32[4]{0} reduce(s, zero), dimensions={0}, to_apply=most",
            TWO_REDUCERS,
        ),
    )
    assert heads(found) == [("r2", "r2", (ChangeClass.ATTRIBUTE,))]
    text = edited(
        "r = f32[4]{0} reduce(s, zero), dimensions={1}, to_apply=sum",
        "r = f32[4]{0} reduce(s, d), dimensions={1}, to_apply=most",
        TWO_REDUCERS,
    )
    found = compare(TWO_REDUCERS, text.replace("reduce(s, d)", "reduce(s, zero)"))
    assert found.verdict is Verdict.DIFFERENT
    assert ChangeClass.CALLED in {c for _, _, classes in heads(found) for c in classes}


def test_equal_reducers_may_be_shared_or_not() -> None:
    shared = TWO_REDUCERS.replace("to_apply=most", "to_apply=sum").replace(
        "dimensions={1}, to_apply=sum\n  n", "dimensions={0}, to_apply=sum\n  n"
    )
    apart = TWO_REDUCERS.replace("maximum", "add").replace(
        "dimensions={1}, to_apply=most", "dimensions={0}, to_apply=most"
    )
    assert compare(shared, apart).regions == ()


def test_control_dependence_is_a_change() -> None:
    found = compare(BASE, edited("negate(w)", "negate(w), control-predecessors={t}"))
    assert heads(found) == [("n", "n", (ChangeClass.CONTROL,))]
    assert found.regions[0].heads[0].fields == (
        FieldChange(ChangeClass.CONTROL, "runs after", None, "t"),
    )


def test_change_inside_a_reducer_is_the_cause() -> None:
    found = compare(BASE, edited("ROOT c = f32[] add(a, b)", "ROOT c = f32[] maximum(a, b)"))
    (region,) = found.regions
    assert {c.lhs.name for c in region.heads if c.lhs} == {"c"}
    assert {c.rhs.name for c in region.heads if c.rhs} == {"c"}


def test_custom_call_that_calls_something_now() -> None:
    base = edited("tanh(d)", 'custom-call(d), custom_call_target="f"')
    found = compare(base, edited('target="f"', 'target="f", called_computations={sum}', base))
    assert heads(found) == [("t", "t", (ChangeClass.CALLED,))]
    assert found.regions[0].heads[0].fields == (
        FieldChange(ChangeClass.CALLED, "calls", None, "called_computations sum: add"),
    )
