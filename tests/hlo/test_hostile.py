"""Nothing that is read makes the readers crash, hang or recurse without end."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloscope.errors import HloscopeError
from hloscope.hlo import print_module, read_proto, read_text
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.hlo import Module

HEAD = "HloModule m\nENTRY e {\n"
MANY = 100_000

TEXT = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[]}

FileNames
1 "a.py"

%body (c: (s32[], f32[8])) -> (s32[], f32[8]) {
  %c = (s32[], f32[8]{0:T(1024)}) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %x = f32[8]{0:T(1024)} get-tuple-element(%c), index=1
  %one = s32[] constant(1)
  %j = s32[] add(%i, /*index=1*/%one), metadata={op_name="jit(f)/while/body/add" source_line=3}
  ROOT %t = (s32[], f32[8]{0}) tuple(%j, %x), sharding={{replicated}, {devices=[2]<=[2]}}
}

ENTRY %main (p: f32[8]) -> f32[] {
  %p = f32[8]{0} parameter(0)
  %k = c64[2]{0} constant({(1, 2), (-inf, nan)})
  ROOT %r = f32[] custom-call(%p), custom_call_target="a\\"b", backend_config={"x":{"y":[1,"}"]}}
}
"""


def check(modules: tuple[Module, ...]) -> None:
    """The invariants that everything after reading stands on."""
    for module in modules:
        for computation in module.computations:
            assert 0 <= computation.root < len(computation.instructions)
            for number, instruction in enumerate(computation.instructions):
                assert all(0 <= o < number for o in instruction.operands)
                assert all(0 <= c < len(module.computations) for _, c in instruction.called)
        print_module(module)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(TEXT)),
            st.integers(0, 6),
            st.sampled_from(
                [*"{}()[],=%\"'\\\n/#*", "//", "/*", "*/", "ROOT ", "ENTRY ", "\x00", "é"]
            ),
        ),
        max_size=12,
    ),
    st.integers(0, len(TEXT)),
)
def test_mutated_text(edits: list[tuple[int, int, str]], end: int) -> None:
    text = TEXT
    for place, dropped, added in edits:
        text = text[:place] + added + text[place + dropped :]
    with suppress(HloscopeError):
        check(read_text(text[:end] if end % 3 else text))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_random_text(text: str) -> None:
    with suppress(HloscopeError):
        check(read_text(text))


def proto() -> bytes:
    module = pb.HloModuleProto(name="m", entry_computation_id=1)
    computation = module.computations.add(name="main", id=1, root_id=3)
    shape = pb.ShapeProto(element_type=pb.F32, dimensions=[4])
    shape.layout.minor_to_major.append(0)
    for number, opcode in enumerate(("parameter", "constant", "dot"), 1):
        added = computation.instructions.add(name=opcode, opcode=opcode, id=number)
        added.shape.CopyFrom(shape)
    constant, dot = computation.instructions[1:]
    constant.literal.shape.CopyFrom(shape)
    constant.literal.f32s.extend([1, 2, 3, 4])
    dot.operand_ids.extend([1, 2])
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(0)
    dot.sharding.type = pb.OpSharding.OTHER
    dot.sharding.tile_assignment_dimensions.extend([2])
    dot.backend_config = b'{"a":1}'
    return module.SerializeToString()


PROTO = proto()


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, len(PROTO) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, len(PROTO)),
)
def test_mutated_protos(edits: list[tuple[int, int]], end: int) -> None:
    data = bytearray(PROTO)
    for place, byte in edits:
        data[place] = byte
    with suppress(HloscopeError):
        check((read_proto(bytes(data if end % 3 else data[:end])),))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.binary(max_size=300))
def test_random_bytes(data: bytes) -> None:
    with suppress(HloscopeError):
        check((read_proto(data),))


PATHOLOGICAL = {
    "deep tuple": HEAD + "x = " + "(" * MANY + "f32[]" + ")" * MANY + " parameter(0)\n}",
    "open parentheses": HEAD + "x = " + "(" * MANY,
    "open braces": HEAD + "x = f32[] add({" + "{" * MANY,
    "deep attribute": HEAD + "x = f32[] parameter(0), a=" + "{" * MANY + "}" * MANY + "\n}",
    "open strings": HEAD + 'x = f32[] parameter(0), a="\n' * (MANY // 20),
    "open comments": HEAD + "/*" * MANY,
    "cut lines": HEAD + "x = f32[] add({\n" * (MANY // 20),
    "nested operands": HEAD + "x = " + "add(" * (MANY // 20) + "p" + ")" * (MANY // 20) + "\n}",
    "headers": "HloModule m\n" * (MANY // 20),
    "odd layout": HEAD + "x = f32[2]{0:" + "A" * MANY + "(} parameter(0)\n}",
    "attributes": HEAD + "x = f32[] parameter(0)" + ", a=b" * MANY + "\n}",
    "elements": HEAD + "p = f32[] parameter(0)\nx = f32[] add(p" + "#0" * MANY + ")\n}",
    "commas": HEAD + "x = f32[] parameter(0)" + "," * MANY,
    "blanks": HEAD + "x = f32[]" + " " * MANY + "parameter" + " " * MANY + "(0)\n}",
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_pathological_text_costs_no_more_than_its_length(name: str) -> None:
    start = time.process_time()
    with suppress(HloscopeError):
        check(read_text(PATHOLOGICAL[name]))
    assert time.process_time() - start < 5


def test_a_huge_literal_is_passed_over() -> None:
    text = (
        HEAD
        + "x = f32[40000000] constant({"
        + "1," * 39_999_999
        + "1})\nROOT y = f32[] parameter(0)\n}"
    )
    start = time.process_time()
    (module,) = read_text(text)
    assert time.process_time() - start < 20
    literal = module.computations[0].instructions[0].literal
    assert literal is not None
    assert (literal.preview, literal.digest) == ("{...}", None)


def test_deep_protos_are_refused() -> None:
    shape = pb.ShapeProto(element_type=pb.F32)
    for _ in range(90):
        shape = pb.ShapeProto(element_type=pb.TUPLE, tuple_shapes=[shape])
    module = pb.HloModuleProto.FromString(PROTO)
    module.computations[0].instructions[0].shape.CopyFrom(shape)
    check((read_proto(module.SerializeToString()),))
