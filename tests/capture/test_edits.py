"""Probes' edits of StableHLO, held to whole lines of the edited module."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from jaxlib import _jax
from jaxlib.mlir import ir

from hloscope.capture.edits.performing import edit, read_programs
from hloscope.capture.jax_private import modules
from hloscope.errors import HloscopeError
from hloscope.model.edits import Edited, EditPlan, LeafPair

MESH = '  sdy.mesh @mesh = <["data"=1, "fsdp"=4]>\n'
FLIPPED = '  sdy.mesh @mesh = <["data"=4, "fsdp"=1]>\n'


def _bytecode(text: str) -> bytes:
    with modules.context(), ir.Location.unknown():
        return modules.bytecode(ir.Module.parse(f"module @jit_f {{\n{text}\n}}"))


def _text(bytecode: bytes) -> str:
    with modules.context():
        return str(ir.Module.parse(bytecode))


def _options(**flags: str) -> bytes:
    options = _jax.CompileOptions()
    options.env_option_overrides = list(flags.items())
    serialized: bytes = options.SerializeAsString()
    return serialized


def _probe(
    name: str,
    lhs: str,
    rhs: str,
    *,
    arguments: int = 1,
    outputs: int = 1,
    operations: Mapping[int, int] | None = None,
) -> tuple[Edited, str]:
    plan = EditPlan(
        arguments=tuple(LeafPair(n, n, f"a{n}") for n in range(arguments)),
        outputs=tuple(LeafPair(n, n, f"r{n}") for n in range(outputs)),
        operations=operations or {},
        probes=((name,),),
    )
    (edited,) = edit((_bytecode(lhs), _options()), (_bytecode(rhs), _options()), plan)
    assert edited.problem == ""
    return edited, _text(edited.stablehlo) if edited.stablehlo else ""


def _function(arguments: str, results: str, body: str) -> str:
    return f"  func.func public @main({arguments}) -> {results} {{\n{body}\n  }}"


_STEP = "    %0 = stablehlo.negate %a : tensor<8xf32>\n    return %0 : tensor<8xf32>"


def test_what_lhs_donates_is_donated_to_the_output_that_lhs_names() -> None:
    lhs = _function("%a: tensor<8xf32> {tf.aliasing_output = 0 : i32}", "tensor<8xf32>", _STEP)
    rhs = _function("%a: tensor<8xf32>", "tensor<8xf32>", _STEP)
    edited, text = _probe("donate", lhs, rhs)
    assert edited.done == ("a0 donated to output 0",)
    assert edited.arguments == {"donate": (LeafPair(0, 0, "a0"),)}
    assert "%arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}" in text


def test_what_no_longer_fits_its_output_is_offered_to_any() -> None:
    lhs = _function("%a: tensor<8xf32> {tf.aliasing_output = 0 : i32}", "tensor<8xf32>", _STEP)
    other = (
        "    %0 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xbf16>\n"
        "    return %0 : tensor<8xbf16>"
    )
    rhs = _function("%a: tensor<8xf32>", "tensor<8xbf16>", other)
    edited, text = _probe("donate", lhs, rhs)
    assert edited.done == ("a0 donated, to whichever output fits",)
    assert "%arg0: tensor<8xf32> {jax.buffer_donor = true}" in text


def test_nothing_is_edited_where_the_sides_agree() -> None:
    same = _function("%a: tensor<8xf32> {jax.buffer_donor = true}", "tensor<8xf32>", _STEP)
    edited, _ = _probe("donate", same, same)
    assert (edited.done, edited.stablehlo) == ((), b"")


def test_shardings_are_said_over_the_mesh_of_rhs() -> None:
    sharded = '%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}]>'
    lhs = MESH + _function(f"{sharded}}}", "tensor<8xf32>", _STEP)
    rhs = FLIPPED + _function(f"{sharded}, tf.aliasing_output = 0 : i32}}", "tensor<8xf32>", _STEP)
    edited, text = _probe("argument-shardings", lhs, rhs)
    assert edited.done == ('a0: [{"fsdp"}] -> [{"data"}]',)
    assert '{jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}' in text


def test_an_axis_of_size_one_is_no_difference() -> None:
    sharded = _function(
        '%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}',
        "tensor<8xf32>",
        _STEP,
    )
    plain = _function(
        "%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}", "tensor<8xf32>", _STEP
    )
    assert _probe("argument-shardings", MESH + sharded, MESH + plain)[0].done == ()


_CHAIN = """    %0 = stablehlo.negate %a : tensor<8xf32>
{between}    %2 = stablehlo.sine {read} : tensor<8xf32>
    return %2 : tensor<8xf32>"""
_CONSTRAINED = (
    '    %1 = sdy.sharding_constraint %0 <@mesh, [{"fsdp"}]> : tensor<8xf32>\n',
    "%1",
)


def _chain(between: tuple[str, str]) -> str:
    body = _CHAIN.format(between=between[0], read=between[1])
    return MESH + _function("%a: tensor<8xf32>", "tensor<8xf32>", body)


def test_a_constraint_of_lhs_is_put_on_the_same_value() -> None:
    edited, text = _probe(
        "constraints", _chain(_CONSTRAINED), _chain(("", "%0")), operations={0: 0, 2: 1}
    )
    assert edited.done == ('-:5: constrained to [{"fsdp"}]',)
    assert text == _text(_bytecode(_chain(_CONSTRAINED)))


def test_a_constraint_that_lhs_has_not_goes() -> None:
    edited, text = _probe(
        "constraints", _chain(("", "%0")), _chain(_CONSTRAINED), operations={0: 0, 1: 2}
    )
    assert edited.done == ('-:5: no longer constrained to [{"fsdp"}]',)
    assert text == _text(_bytecode(_chain(("", "%0"))))


def test_what_one_probe_took_out_is_gone_for_the_next() -> None:
    plan = EditPlan(
        arguments=(LeafPair(0, 0, "a"),),
        outputs=(LeafPair(0, 0, "r"),),
        # rhs's constraint is the counterpart of lhs's last operation
        operations={0: 0, 1: 1},
        probes=(("constraints", "barriers", "dtypes", "drop-outputs"),),
    )
    sides = (
        (_bytecode(_chain(("", "%0"))), _options()),
        (_bytecode(_chain(_CONSTRAINED)), _options()),
    )
    (edited,) = edit(*sides, plan)
    assert edited.problem == ""
    assert edited.done == ('-:5: no longer constrained to [{"fsdp"}]',)
    assert _text(edited.stablehlo) == _text(_bytecode(_chain(("", "%0"))))


def test_a_constraint_that_cannot_be_said_as_on_lhs_is_left_alone() -> None:
    other = _chain(_CONSTRAINED).replace('"data"=1, "fsdp"=4', '"data"=3, "fsdp"=2')
    edited, _ = _probe("constraints", other, _chain(_CONSTRAINED), operations={0: 0, 1: 1, 2: 2})
    assert edited.done == ()
    assert edited.skipped == ("constraint of -:5: meshes of 6 and 4 devices",)


_BARRED = ("    %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>\n", "%1")


@pytest.mark.parametrize(
    ("lhs", "rhs", "pairs"),
    [(_BARRED, ("", "%0"), {0: 0, 2: 1}), (("", "%0"), _BARRED, {0: 0, 1: 2})],
)
def test_barriers_are_where_lhs_has_them(
    lhs: tuple[str, str], rhs: tuple[str, str], pairs: Mapping[int, int]
) -> None:
    edited, text = _probe("barriers", _chain(lhs), _chain(rhs), operations=pairs)
    assert len(edited.done) == 1
    assert text == _text(_bytecode(_chain(lhs)))


def _summing(kind: str) -> str:
    """A loop that carries a value of a type, read as f32."""
    return _function(
        "%a: tensor<8xf32>",
        "tensor<8xf32>",
        f"""    %0 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8x{kind}>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<8x{kind}>
    cond {{
      %n = stablehlo.constant dense<4> : tensor<i32>
      %t = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.sine %x : tensor<8x{kind}>
      stablehlo.return %next, %y : tensor<i32>, tensor<8x{kind}>
    }}
    %2 = stablehlo.convert %1#1 : (tensor<8x{kind}>) -> tensor<8xf32>
    return %2 : tensor<8xf32>""",
    )


def test_operations_and_loop_carries_get_the_dtypes_of_lhs() -> None:
    same = {number: number for number in range(9)}
    edited, text = _probe("dtypes", _summing("bf16"), _summing("f32"), operations=same)
    assert any("loop carry 1 f32 -> bf16" in line for line in edited.done)
    assert "stablehlo.sine %iterArg_0 : tensor<8xbf16>" in text
    # every cast that is taken back again is gone
    assert "(tensor<8xbf16>) -> tensor<8xf32>" in text
    assert text.count("stablehlo.sine") == 1


def test_parameters_and_outputs_get_the_dtypes_of_lhs() -> None:
    lhs = _function("%a: tensor<8xbf16>", "tensor<8xbf16>", _STEP.replace("f32", "bf16"))
    edited, text = _probe(
        "dtypes",
        lhs,
        _function("%a: tensor<8xf32>", "tensor<8xf32>", _STEP),
        operations={0: 0},
    )
    assert edited.done == (
        "a0: f32 -> bf16",
        "-:3: f32 -> bf16",
        "output r0: f32 -> bf16",
    )
    assert "stablehlo.negate %arg0 : tensor<8xbf16>" in text


def _stacking(stop: int) -> str:
    """A loop that writes the rows that it reads into another array, through calls."""
    return f"""  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {{
    %c = stablehlo.constant dense<0> : tensor<i32>
    %z = stablehlo.constant dense<0.0> : tensor<4x8xf32>
    %1:3 = stablehlo.while(%i = %c, %x = %a, %s = %z)
        : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>
    cond {{
      %n = stablehlo.constant dense<{stop}> : tensor<i32>
      %t = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %row = func.call @read(%x, %i) : (tensor<4x8xf32>, tensor<i32>) -> tensor<8xf32>
      %up = stablehlo.reshape %row : (tensor<8xf32>) -> tensor<1x8xf32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %w = stablehlo.dynamic_update_slice %s, %up, %i, %zero
          : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      stablehlo.return %next, %x, %w : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>
    }}
    return %1#2 : tensor<4x8xf32>
  }}
  func.func private @read(%a: tensor<4x8xf32>, %i: tensor<i32>) -> tensor<8xf32> {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 8]
        : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %out = stablehlo.reshape %row : (tensor<1x8xf32>) -> tensor<8xf32>
    return %out : tensor<8xf32>
  }}"""


def _returning() -> str:
    return _function("%a: tensor<4x8xf32>", "tensor<4x8xf32>", "    return %a : tensor<4x8xf32>")


def test_what_a_loop_stacks_unchanged_is_read_off_its_input() -> None:
    edited, text = _probe("drop-outputs", _returning(), _stacking(4))
    (line,) = edited.done
    assert line.endswith("loop result 2 tensor<4x8xf32> is its operand 1")
    assert "return %arg0 : tensor<4x8xf32>" in text


def test_a_loop_that_stops_early_is_left_alone() -> None:
    assert _probe("drop-outputs", _returning(), _stacking(3))[0].done == ()


def test_a_loop_that_stacks_as_much_on_lhs_is_left_alone() -> None:
    assert _probe("drop-outputs", _stacking(4), _stacking(4))[0].done == ()


def test_outputs_that_lhs_has_not_are_dropped_and_aliases_renumbered() -> None:
    lhs = _function("%a: tensor<8xf32>", "tensor<8xf32>", _STEP)
    body = "    %0 = stablehlo.negate %a : tensor<8xf32>\n"
    rhs = _function(
        "%a: tensor<8xf32> {tf.aliasing_output = 1 : i32}",
        "(tensor<8xf32>, tensor<8xf32>)",
        body + "    return %a, %0 : tensor<8xf32>, tensor<8xf32>",
    )
    plan = EditPlan(
        arguments=(),
        outputs=(LeafPair(0, 1, "r"),),
        operations={},
        probes=(("drop-outputs",),),
    )
    (edited,) = edit((_bytecode(lhs), _options()), (_bytecode(rhs), _options()), plan)
    assert edited.dropped == (0,)
    kept = _function("%a: tensor<8xf32> {tf.aliasing_output = 0 : i32}", "tensor<8xf32>", _STEP)
    assert _text(edited.stablehlo) == _text(_bytecode(kept))


def test_flags_of_lhs_and_no_others() -> None:
    program = _bytecode(_function("%a: tensor<8xf32>", "tensor<8xf32>", _STEP))
    plan = EditPlan(arguments=(), outputs=(), operations={}, probes=(("flags",),))
    lhs, rhs = _options(xla_a="1", xla_b="2"), _options(xla_b="3", xla_c="4")
    (edited,) = edit((program, lhs), (program, rhs), plan)
    assert edited.done == ("xla_a: not set -> 1", "xla_b: 3 -> 2", "xla_c: 4 -> not set")
    assert modules.overrides(modules.options_of(edited.options)) == {"xla_a": "1", "xla_b": "2"}


def test_operations_are_numbered_in_the_hlo_that_they_become() -> None:
    (program,) = read_programs([_bytecode(_function("%a: tensor<8xf32>", "tensor<8xf32>", _STEP))])
    (operation,) = program.operations
    assert operation.text == "stablehlo.negate : (tensor<8xf32>) -> (tensor<8xf32>)"
    assert (operation.function, operation.source) == ("main", "-:3")
    assert b"hloscope" in program.hlo


def test_bytes_that_are_no_module_are_refused() -> None:
    with pytest.raises(HloscopeError, match="cannot read the capture's StableHLO"):
        read_programs([b"ML\xefR nothing"])
