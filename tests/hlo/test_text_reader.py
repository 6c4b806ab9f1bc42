# ruff: noqa: E501 - lines of HLO are long
from __future__ import annotations

import pytest

from hloscope.errors import HloscopeError
from hloscope.hlo import read_text
from hloscope.model.hlo import Instruction, Layout, Literal, Module, Shape, StackFrame

F32 = Shape("f32")


def read_one(text: str) -> Module:
    (module,) = read_text(text)
    return module


def by_name(module: Module) -> dict[str, Instruction]:
    return {i.name: i for c in module.computations for i in c.instructions}


def attrs(line: str, before: str = "") -> dict[str, str]:
    module = read_one(f"HloModule m\n{before}\nENTRY e {{\n p = f32[2] parameter(0)\n {line}\n}}")
    return dict(module.computations[-1].instructions[-1].attrs)


def test_old_and_new_syntax_give_equal_modules() -> None:
    old = """HloModule m

%add.1 (a.2: f32[], b.3: f32[]) -> f32[] {
  %a.2 = f32[] parameter(0)
  %b.3 = f32[] parameter(1)
  ROOT %sum.4 = f32[] add(f32[] %a.2, f32[] %b.3)
}

ENTRY %main (p.5: (f32[8,128], s32[])) -> f32[8] {
  %p.5 = (f32[8,128]{1,0:T(8,128)}, s32[]) parameter(0)
  %x.6 = f32[8,128]{1,0:T(8,128)} get-tuple-element((f32[8,128]{1,0:T(8,128)}, s32[]) %p.5), index=0
  %zero.7 = f32[] constant(0)
  ROOT %r.8 = f32[8]{0} reduce(f32[8,128]{1,0:T(8,128)} %x.6, f32[] %zero.7), dimensions={1}, to_apply=%add.1
}
"""
    new = """HloModule m
add.1 {
  a.2 = f32[] parameter(0)
  b.3 = f32[] parameter(1)
  ROOT sum.4 = f32[] add(a.2, b.3)
}
ENTRY main {
  p.5 = (f32[8,128]{1,0:T(8,128)}, s32[]) parameter(0)
  x.6 = f32[8,128]{1,0:T(8,128)} get-tuple-element(p.5), index=0
  zero.7 = f32[] constant(0.0)
  ROOT r.8 = f32[8]{0} reduce(x.6, zero.7), dimensions={1}, to_apply=add.1
}
"""
    assert read_one(old) == read_one(new)


def test_a_whole_instruction() -> None:
    module = read_one(
        """HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }
%inner { ROOT %q = f32[] parameter(0) }
ENTRY %main {
  %p = bf16[4,<=8]{1,0:T(8,128)(2,1)S(1)} parameter(0)
  ROOT %f = f32[] fusion(%p), kind=kLoop, calls=%inner, control-predecessors={%p}, some_new={a: [1, "x, }"]}, metadata={op_name="jit(f)/a\\"b" source_file="/x.py" source_line=7 stack_frame_id=3}, backend_config={"a":{"b":[1, 2]}}
}"""
    )
    assert module.is_scheduled
    assert module.header == (("input_output_alias", "{ {0}: (0, {}, may-alias) }"),)
    parameter, fusion = module.computations[1].instructions
    assert parameter.shape == Shape("bf16", (4, 8), Layout((1, 0), ((8, 128), (2, 1)), 1), (), (1,))
    assert fusion == Instruction(
        name="f",
        id=fusion.id,
        opcode="fusion",
        shape=F32,
        operands=(0,),
        called=(("calls", 0),),
        attrs=(
            ("backend_config", '{"a":{"b":[1,2]}}'),
            ("kind", "kLoop"),
            ("some_new", '{a: [1, "x, }"]}'),
        ),
        control=(0,),
        metadata=fusion.metadata,
    )
    assert fusion.metadata == ('jit(f)/a"b', "", "/x.py", 7, 3)


def test_values_may_span_lines_and_comments_may_stand_anywhere() -> None:
    line = """r = f32[2] custom-call(/*index=0*/p), // CHECK: custom-call
       custom_call_target="f", /* why */ backend_config={
         "x": "// no comment"
       }"""
    assert attrs(line) == {
        "custom_call_target": '"f"',
        "backend_config": '{"x":"// no comment"}',
    }


def test_comments_between_any_two_tokens() -> None:
    text = """HloModule c
ENTRY /*which*/ e /* really */ {
  /* first
     of all */
  ROOT k = /*shape*/f32[1]{0} /*op*/ constant({12345 /*why*/}), /*a*/ note="/* kept */"
}"""
    instruction = by_name(read_one(text))["k"]
    assert instruction.attrs == (("note", '"/* kept */"'),)
    assert (
        instruction.literal
        == read_one("ENTRY e { k = f32[1] constant({12345}) }")
        .computations[0]
        .instructions[0]
        .literal
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("r = f32[2] unheard-of(p), also={1, 2}, word=kNew", {"also": "{1,2}", "word": "kNew"}),
        ("r = f32[2] add(p, p), sharding={replicated metadata={op_name=\"a\"}}", {"sharding": "{replicated}"}),
        ("r = f32[2] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={default,default}", {"lhs_contracting_dims": "{0}", "rhs_contracting_dims": "{0}"}),
        ("r = f32[2] slice(p), slice={[0:2:1], [1:3]}", {"slice": "{[0:2:1], [1:3]}"}),
        ("r = f32[2] all-reduce(p), replica_groups=mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a'}", {"replica_groups": "mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a'}"}),
        ("r = f32[2] all-reduce(p), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0)", {"channel_id": "1", "replica_groups": "[2,4]<=[4,2]T(1,0)"}),
        ("r = f32[2] all-reduce(p)", {"replica_groups": "{}"}),
        ("r = f32[2] convolution(p, p), window={pad=1_1 size=3 stride=1}, dim_labels=b0f_0io->b0f", {"window": "{size=3 pad=1_1}", "dim_labels": "b0f_0io->b0f"}),
        ("r = f32[2] add(p, p), frontend_attributes={b=\"2\", a={n = 1 : i32}}", {"frontend_attributes": "{a={n = 1 : i32},b=\"2\"}"}),
        ("r = pred[2] compare(p, p), direction=LT, type=FLOAT", {"direction": "LT"}),
        ("r = pred[2] compare(p, p), direction=LT, order=TOTAL", {"direction": "LT", "type": "TOTALORDER"}),
    ],
)  # fmt: skip
def test_attributes_come_in_the_form_that_xla_prints_today(
    line: str, expected: dict[str, str]
) -> None:
    assert attrs(line) == expected


@pytest.mark.parametrize(
    ("shape", "text", "preview"),
    [
        ("f32[]", "1.50", "1.5"),
        ("pred[]", "true", "true"),
        ("s32[2,2]", "3", "{ { 3, 3 }, { 3, 3 } }"),
        ("s32[3]", "{1, -2,3}", "{1, -2, 3}"),
        ("f32[2,2]", "{ { /*i0=0*/ 1, 2 }, { 3, inf } }", "{ { 1, 2 }, { 3, inf } }"),
        ("c64[2]", "{(1, 2), (-inf, nan)}", "{(1, 2), (-inf, nan)}"),
        ("(f32[], s32[2])", "( 1, {2, 42} )", "( 1, {2, 42} )"),
        ("bf16[]", "0.1", "0.1001"),
        ("f8e4m3fn[2]", "{-nan, 448}", "{-nan, 448}"),
        ("u64[]", "18446744073709551615", "18446744073709551615"),
    ],
)
def test_literals(shape: str, text: str, preview: str) -> None:
    literal = by_name(read_one(f"ENTRY e {{\n c = {shape} constant({text})\n}}"))["c"].literal
    assert literal is not None
    assert literal.preview == preview
    assert literal.digest is not None


def test_equal_values_have_equal_digests_however_they_are_written() -> None:
    module = read_one(
        "ENTRY e {\n a = f32[2] constant({1, 2.50})\n b = f32[2] constant({1.0,2.5e0})\n"
        " c = f32[2] constant({1, 2})\n}"
    )
    a, b, c = (i.literal for i in module.computations[0].instructions)
    assert a == b
    assert a != c


def test_an_elided_literal_is_unknown() -> None:
    module = read_one("ENTRY e {\n c = f32[100] constant({...})\n}")
    assert by_name(module)["c"].literal == Literal("{...}", None)


def test_literals_that_do_not_fit_stay_apart() -> None:
    long = ", ".join("1" for _ in range(200))
    module = read_one(
        f"ENTRY e {{\n a = f32[3] constant({{{long}, 1}})\n b = f32[3] constant({{{long}, 2}})\n}}"
    )
    a, b = (i.literal for i in module.computations[0].instructions)
    assert a is not None
    assert b is not None
    assert a.preview == b.preview
    assert a.digest != b.digest


def test_text_that_ends_in_the_middle_keeps_what_is_whole() -> None:
    text = "HloModule m\na {\n p = f32[] parameter(0)\n ROOT n = f32[] negate(p)\n}\nb {\n q = f32[] parameter(0)\n r = f32[] add(q, "
    module = read_one(text)
    assert [(c.name, [i.name for i in c.instructions]) for c in module.computations] == [
        ("a", ["p", "n"]),
        ("b", ["q"]),
    ]
    assert module.entry is None
    assert module.notes == (
        "line 8 is no instruction: 'r = f32[] add(q,'",
        "computation 'b' is cut off after 1 instructions",
        "the text has no ENTRY computation",
    )


def test_an_operand_that_nothing_defines_is_stood_in_for() -> None:
    module = read_one("ENTRY e {\n ROOT s = f32[2] add(f32[2] %x, f32[2] %x)\n}")
    missing, total = module.computations[0].instructions
    assert (missing.name, missing.opcode, missing.shape) == ("x", "missing", Shape("f32", (2,)))
    assert total.operands == (0, 0)
    assert module.notes == ("operand 'x' is not defined in computation 'e'",)


def test_users_may_stand_before_what_they_use() -> None:
    module = read_one(
        "ENTRY e {\n ROOT s = f32[] add(x, y)\n x = f32[] parameter(0)\n y = f32[] negate(x)\n}"
    )
    found = module.computations[0]
    assert [i.name for i in found.instructions] == ["x", "y", "s"]
    assert found.root == 2


def test_instructions_may_stand_inside_operands() -> None:
    module = read_one(
        "ENTRY e {\n ROOT r = f32[8] add(f32[8] parameter(0), f32[8] negate(f32[8] parameter(1)))\n}"
    )
    assert [(i.name, i.opcode, i.operands) for i in module.computations[0].instructions] == [
        ("parameter.anon", "parameter", ()),
        ("parameter.anon.1", "parameter", ()),
        ("negate.anon", "negate", (1,)),
        ("r", "add", (0, 2)),
    ]


def test_sugared_asynchronous_instructions_are_taken_apart() -> None:
    module = read_one(
        """ENTRY e {
  p = f32[10] parameter(0)
  s = ((f32[10]), f32[20], s32[]) custom-call-start(p), async_execution_thread="side", custom_call_target="foo"
  ROOT d = f32[20] custom-call-done(s)
}"""
    )
    wrapped, entry = module.computations
    assert (wrapped.name, wrapped.execution_thread) == ("s.async", "side")
    assert [(i.opcode, i.operands, i.attrs) for i in wrapped.instructions] == [
        ("parameter", (), ()),
        ("custom-call", (0,), (("custom_call_target", '"foo"'),)),
    ]
    assert [(i.opcode, i.called, i.attrs) for i in entry.instructions[1:]] == [
        ("async-start", (("calls", 0),), (("async_execution_thread", '"side"'),)),
        ("async-done", (), ()),
    ]


def test_stack_frames() -> None:
    module = read_one(
        """HloModule m

FileNames
1 "a.py"
2 "b \\"x\\".py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=8 end_column=9}
2 {file_name_id=2 function_name_id=1 line=5 end_line=5 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY e {
  p = f32[] parameter(0)
}"""
    )
    assert module.stack_frames == (
        StackFrame("a.py", "main", 4, 8, 0),
        StackFrame('b "x".py', "main", 5, 1, 1),
    )


def test_modules_inside_other_text() -> None:
    one = "HloModule {0}\nENTRY e {{\n  p = f32[] parameter(0)\n}}\n"
    text = (
        "# A report\n```hlo\n" + one.format("fenced") + "```\nmore\n"
        "const text = `\n" + one.format("in_js") + "`\n\nexport default text;\n"
        "// RUN: x\n// CHECK: HloModule no\n" + one.format("last")
    )
    modules = read_text(text)
    assert [(m.name, m.instruction_count, m.notes) for m in modules] == [
        ("fenced", 1, ()),
        ("in_js", 1, ()),
        ("last", 1, ()),
    ]


@pytest.mark.parametrize("text", ["", "hello", "HloModule m", "{}", "int main() { return 0; }"])
def test_text_without_hlo_is_refused(text: str) -> None:
    with pytest.raises(HloscopeError, match="holds no HLO"):
        read_text(text)


def test_numbered_elements_are_get_tuple_elements() -> None:
    module = read_one(
        """ENTRY e {
  p = (f32[2], (s32[], f32[4])) parameter(0)
  a = f32[2] negate(%p#0)
  ROOT t = (f32[2], f32[2], f32[4]) tuple(%a, %p#0, /*index=2*/%p#1#1)
}"""
    )
    found = module.computations[0].instructions
    assert [(i.name, i.opcode, i.operands, i.attrs) for i in found] == [
        ("p", "parameter", (), ()),
        ("p.element.0", "get-tuple-element", (0,), (("index", "0"),)),
        ("a", "negate", (1,), ()),
        ("p.element.1", "get-tuple-element", (0,), (("index", "1"),)),
        ("p.1.element.1", "get-tuple-element", (3,), (("index", "1"),)),
        ("t", "tuple", (2, 1, 4), ()),
    ]
    assert found[4].shape == Shape("f32", (4,))
    assert module.notes == ()


def test_the_order_of_keys_in_a_config_says_nothing() -> None:
    sorted_, unsorted = (
        attrs(f"r = f32[2] add(p, p), backend_config={config}")
        for config in ('{"a":[1,2],"b":{"c":"x","d":0.5}}', '{"b":{"d":0.5,"c":"x"}, "a":[1, 2]}')
    )
    assert sorted_ == unsorted == {"backend_config": '{"a":[1,2],"b":{"c":"x","d":0.5}}'}
