"""Edits leave everything that was not edited paired."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloscope.hlo import read_proto, read_text
from hloscope.match import match
from hloscope.model.canonical import CanonicalModule, Ref
from hloscope.model.pairing import Budget, Pairing, Rule
from hloscope.normalize import normalize


def canonical(text: str) -> CanonicalModule:
    (module,) = read_text(text)
    return normalize(module)


def layers(*bodies: str, dtype: str = "f32") -> str:
    """An entry of one line per layer; `{x}` is the layer before, `{n}` the layer's number."""
    lines = [f"  %v0 = {dtype}[8]{{0}} parameter(0)", f"  %c = {dtype}[8]{{0}} parameter(1)"]
    lines += [body.format(x=f"%v{n}", n=n + 1) for n, body in enumerate(bodies)]
    lines.append(f"  ROOT %out = ({dtype}[8]{{0}}) tuple(%v{len(bodies)})")
    return "HloModule m\n\nENTRY %main {\n" + "\n".join(lines) + "\n}\n"


LAYER = "  %v{n} = f32[8]{{0}} subtract({x}, %c)"


def named(lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing) -> dict[str, str]:
    """Names of the pairs."""
    return {lhs.instruction(p.lhs).name: rhs.instruction(p.rhs).name for p in pairing.pairs}


CHAIN = layers(*[LAYER] * 6)


def paired(lhs: str, rhs: str) -> tuple[CanonicalModule, CanonicalModule, Pairing]:
    left, right = canonical(lhs), canonical(rhs)
    return left, right, match(left, right)


def changed(lhs: CanonicalModule, rhs: CanonicalModule, pairing: Pairing) -> list[str]:
    """lhs names of pairs whose labels differ or whose operands are not paired in place."""
    found = []
    for pair in pairing.pairs:
        left, right = lhs.node(pair.lhs), rhs.node(pair.rhs)
        mine = [pairing.partners[s] for s in lhs.sources(left)]
        others = list(rhs.sources(right))
        if lhs.flow.commutative[left]:
            mine, others = sorted(mine), sorted(others)
        if lhs.label(pair.lhs) != rhs.label(pair.rhs) or mine != others:
            found.append(lhs.instruction(pair.lhs).name)
    return found


def test_a_module_pairs_with_itself_in_full() -> None:
    left, right, pairing = paired(CHAIN, CHAIN)
    assert named(left, right, pairing) == {
        name: name for name in ("v0", "c", "v1", "v2", "v3", "v4", "v5", "v6", "out")
    }
    assert {p.rule for p in pairing.pairs} == {Rule.SAME_MODULE}
    assert {p.confidence for p in pairing.pairs} == {1.0}
    assert (pairing.lhs_only, pairing.rhs_only, pairing.notes) == ((), (), ())


def test_an_inserted_copy_is_the_only_one_left() -> None:
    inserted = CHAIN.replace(
        "subtract(%v3, %c)", "subtract(%w, %c)\n  %after = f32[] constant(0)"
    ).replace("  %v4", "  %w = f32[8]{0} copy(%v3)\n  %v4")
    inserted = inserted.replace("\n  %after = f32[] constant(0)", "")
    left, right, pairing = paired(CHAIN, inserted)
    assert pairing.lhs_only == ()
    assert [right.instruction(r).name for r in pairing.rhs_only] == ["w"]
    assert all(mine == other for mine, other in named(left, right, pairing).items())
    assert changed(left, right, pairing) == ["v4"]


def test_swapped_operands_are_found() -> None:
    left, right, pairing = paired(CHAIN, CHAIN.replace("subtract(%v3, %c)", "subtract(%c, %v3)"))
    assert (pairing.lhs_only, pairing.rhs_only) == ((), ())
    assert changed(left, right, pairing) == ["v4"]


def test_the_changed_one_of_equal_layers_is_named() -> None:
    left, right, pairing = paired(CHAIN, CHAIN.replace("subtract(%v1, %c)", "divide(%v1, %c)"))
    assert (pairing.lhs_only, pairing.rhs_only) == ((), ())
    assert changed(left, right, pairing) == ["v2"]


def test_a_dtype_change_ripples_and_everything_stays_paired() -> None:
    narrow = layers(*[LAYER] * 3, *[LAYER.replace("f32", "bf16")] * 3)
    narrow = narrow.replace("(f32[8]{0}) tuple", "(bf16[8]{0}) tuple")
    left, right, pairing = paired(CHAIN, narrow)
    assert named(left, right, pairing) == {
        name: name for name in ("v0", "c", "v1", "v2", "v3", "v4", "v5", "v6", "out")
    }
    assert changed(left, right, pairing) == ["v4", "v5", "v6"]


def test_of_a_doubled_value_one_pairs_and_the_other_is_extra() -> None:
    once = layers(LAYER, "  %v{n} = f32[8]{{0}} divide({x}, {x})", LAYER)
    twice = once.replace("divide(%v1, %v1)", "divide(%v1, %again)").replace(
        "  %v2", "  %again = f32[8]{0} subtract(%v0, %c)\n  %v2"
    )
    left, right, pairing = paired(once, twice)
    assert pairing.lhs_only == ()
    assert len(pairing.rhs_only) == 1
    assert right.instruction(pairing.rhs_only[0]).opcode == "subtract"
    assert changed(left, right, pairing) == ["v2"]


def test_a_removed_layer_leaves_its_neighbours_paired() -> None:
    left, _, pairing = paired(CHAIN, layers(*[LAYER] * 5))
    assert [left.instruction(r).opcode for r in pairing.lhs_only] == ["subtract"]
    assert pairing.rhs_only == ()


def test_parameters_pair_by_path_wherever_they_stand() -> None:
    with_paths = CHAIN.replace("parameter(0)", "parameter(0), metadata={op_name=\"p['x']\"}")
    with_paths = with_paths.replace("parameter(1)", "parameter(1), metadata={op_name=\"p['y']\"}")
    moved = with_paths.replace("parameter(0)", "parameter(9)").replace(
        "parameter(1)", "parameter(0)"
    )
    moved = moved.replace("parameter(9)", "parameter(1)").replace("subtract(%v5", "divide(%v5")
    left, right, pairing = paired(with_paths, moved)
    assert named(left, right, pairing)["v0"] == "v0"
    assert {p.rule for p in pairing.pairs if p.lhs in (Ref(0, 0), Ref(0, 1))} == {Rule.SAME_PATH}
    assert changed(left, right, pairing) == ["v6"]


def test_a_budget_that_runs_out_is_said() -> None:
    def with_iotas(*sizes: int) -> CanonicalModule:
        lines = [f"  %n{n} = s32[{n}]{{0}} iota(), iota_dimension=0\n" for n in sizes]
        return canonical(CHAIN.replace("  %v1", "".join(lines) + "  %v1"))

    lhs, rhs = with_iotas(3, 4), with_iotas(5, 6)
    assert match(lhs, rhs).notes == ()
    assert match(lhs, rhs, budget=Budget(assignment_size=1)).notes == (
        "left 2 and 2 instructions of one computation unassigned: more than the budget of 1",
    )


@given(
    st.lists(st.sampled_from(("subtract", "divide", "power")), min_size=1, max_size=12),
    st.lists(st.sampled_from(("subtract", "divide", "power")), min_size=1, max_size=12),
)
@settings(deadline=None, max_examples=60, derandomize=True)
def test_exchanging_the_sides_mirrors_the_pairing(mine: list[str], others: list[str]) -> None:
    lhs, rhs = (
        canonical(layers(*[LAYER.replace("subtract", op) for op in ops])) for ops in (mine, others)
    )
    pairing = match(lhs, rhs)
    assert match(rhs, lhs) == pairing.mirrored()
    assert len(pairing.pairs) + len(pairing.lhs_only) == lhs.count
    assert len(pairing.pairs) + len(pairing.rhs_only) == rhs.count
    assert len({p.rhs for p in pairing.pairs}) == len(pairing.pairs)


@pytest.mark.parametrize(
    ("name", "lhs_only", "rhs_only", "differ"),
    [("gpt3-52k", 0, 30, 3), ("gpt3-6b-L4", 0, 31, 3), ("llama2-L4", 0, 31, 3)],
)
def test_linen_and_nnx_differ_by_rng_state_and_the_step_counter(
    corpus: Path, name: str, lhs_only: int, rhs_only: int, differ: int
) -> None:
    lhs, rhs = (
        normalize(
            read_proto(
                next((corpus / "maxtext_aot").glob(f"{name}.{stack}/*after*.pb")).read_bytes()
            )
        )
        for stack in ("linen", "nnx")
    )
    pairing = match(lhs, rhs)
    assert len(pairing.lhs_only) == lhs_only
    assert len(pairing.rhs_only) == rhs_only
    assert sum(rhs.instruction(r).opcode == "parameter" for r in pairing.rhs_only) == 30
    operations = [pair for pair in pairing.pairs if lhs.label(pair.lhs) != rhs.label(pair.rhs)]
    assert len(operations) <= differ


CALLED = """
HloModule m

%first {{
  %a1 = f32[] parameter(0)
  %b1 = f32[] parameter(1)
  ROOT %s1 = f32[] {first}(%a1, %b1)
}}

%second {{
  %a2 = f32[] parameter(0)
  %b2 = f32[] parameter(1)
  ROOT %s2 = f32[] add(%a2, %b2)
}}
{third}
ENTRY %main {{
  %p = f32[8,4] parameter(0)
  %zero = f32[] constant(0)
  %r1 = f32[8] reduce(%p, %zero), dimensions={{1}}, to_apply=%first
  %e = f32[8] exponential(%r1)
  %r2 = f32[] reduce(%e, %zero), dimensions={{0}}, to_apply=%second
{call}
}}
"""
THIRD = """
%third {
  %a3 = f32[] parameter(0)
  %b3 = f32[] parameter(1)
  ROOT %s3 = f32[] add(%a3, %b3)
}
"""


def test_called_computations_pair_through_their_callers() -> None:
    lhs = CALLED.format(first="add", third="", call="  ROOT %out = f32[] sine(%r2)")
    call = "  %all = f32[] all-reduce(%r2), replica_groups={}, to_apply=%third\n"
    rhs = CALLED.format(first="subtract", third=THIRD, call=call + "  ROOT %out = f32[] sine(%all)")
    left, right, pairing = paired(lhs, rhs)
    names = named(left, right, pairing)
    assert names == {name: name for name in names}
    assert {"a1", "b1", "s1", "a2", "b2", "s2", "r1", "r2"} <= names.keys()
    assert {right.instruction(r).name for r in pairing.rhs_only} == {"a3", "b3", "s3", "all"}


def test_swapped_inputs_are_not_each_others_changes() -> None:
    text = """
HloModule m

ENTRY %main {{
  %rows = s32[4,4] iota(), iota_dimension=0
  %columns = s32[4,4] iota(), iota_dimension=1
  ROOT %below = pred[4,4] compare({operands}), direction=GE
}}
"""
    left, right, pairing = paired(
        text.format(operands="%rows, %columns"), text.format(operands="%columns, %rows")
    )
    assert changed(left, right, pairing) == ["below"]


OUTER = """
HloModule m

{inner}
%outer {{
  %x = f32[8] parameter(0)
{body}
}}

ENTRY %main {{
  %p = f32[8] parameter(0)
  ROOT %f = f32[8] fusion(%p), kind=kLoop, calls=%outer
}}
"""
INNER = """
%inner {
  %y = f32[8] parameter(0)
  %one = f32[8] sine(%y)
  %two = f32[8] cosine(%one)
  ROOT %three = f32[8] tanh(%two)
}
"""


def test_a_fusion_pairs_with_the_one_around_it_rather_than_with_one_inside() -> None:
    nested = "  ROOT %g = f32[8] fusion(%x), kind=kLoop, calls=%inner"
    flat = """  %one = f32[8] sine(%x)
  %two = f32[8] cosine(%one)
  ROOT %three = f32[8] tanh(%two)"""
    left, right, pairing = paired(
        OUTER.format(inner=INNER, body=nested), OUTER.format(inner="", body=flat)
    )
    assert named(left, right, pairing)["f"] == "f"
    assert "g" in {left.instruction(ref).name for ref in pairing.lhs_only}


def moments(path: str, extents: str) -> str:
    """A step that scales one argument by another."""
    shape = f"f32[{extents}]{{1,0}}"
    return (
        f"HloModule m\n\nENTRY %main {{\n"
        f"  %w = f32[8,8]{{1,0}} parameter(0), metadata={{op_name=\"p['w']\"}}\n"
        f'  %m = {shape} parameter(1), metadata={{op_name="{path}"}}\n'
        f"  %s = {shape} negate(%m)\n"
        f"  ROOT %out = (f32[8,8]{{1,0}}, {shape}) tuple(%w, %s)\n}}\n"
    )


@pytest.mark.parametrize(
    ("path", "extents", "same"),
    [
        ("p['m']", "4,8", True),  # grown
        ("p['mu']['other']", "8,8", True),  # renamed
        ("p['mu']['other']", "4,8", False),
    ],
)
def test_an_argument_of_another_path_and_shape_is_another_one(
    path: str, extents: str, same: bool
) -> None:
    lhs, rhs, pairing = paired(moments("p['m']", "8,8"), moments(path, extents))
    assert named(lhs, rhs, pairing).get("m") == ("m" if same else None)
