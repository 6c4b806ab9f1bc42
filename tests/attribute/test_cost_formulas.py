"""hloscope's replay of XLA's rules against XLA itself, opcode by opcode."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from hloscope.attribute.cost_users import Graph
from hloscope.attribute.cost_xla import XlaCost, replay
from hloscope.attribute.cost_xla_rules import XlaRules, rules_for
from hloscope.hlo import read_text

COMPUTATIONS = """
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = f32[] add(x, y) }
lt { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = pred[] compare(x, y), direction=LT }
lt2 { x = f32[] parameter(0)
 y = f32[] parameter(1)
 x1 = f32[] parameter(2)
 y1 = f32[] parameter(3)
 ROOT z = pred[] compare(x, y), direction=LT }
ge { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = pred[] compare(x, y), direction=GE }
add2 { x = f32[] parameter(0)
 y = f32[] parameter(1)
 x1 = f32[] parameter(2)
 y1 = f32[] parameter(3)
 s = f32[] add(x, x1)
 t = f32[] add(y, y1)
 ROOT z = (f32[], f32[]) tuple(s, t) }
"""

PARAMETERS = """
a = f32[8,16]{1,0} parameter(0)
b = f32[8,16]{1,0} parameter(1)
p = pred[8,16]{1,0} parameter(2)
s = u64[2]{0} parameter(3)
q = f32[16,16]{1,0} parameter(4)
i = s32[] parameter(5)
ix = s32[3,1]{1,0} parameter(6)
up = f32[3,16]{1,0} parameter(7)
w = f32[16,32]{1,0} parameter(8)
sm = f32[8,4]{1,0} parameter(9)
sm2 = f32[4,16]{1,0} parameter(10)
z = c64[8,16]{1,0} parameter(11)
im = f32[2,9,9,4]{3,2,1,0} parameter(12)
ke = f32[3,3,4,6]{3,2,1,0} parameter(13)
v = f32[16]{0} parameter(14)
n = s32[8,16]{1,0} parameter(15)
tk = token[] after-all()
c = f32[] constant(0)
"""

UNARY = (
    "abs round-nearest-afz round-nearest-even ceil floor cbrt cosine exponential "
    "exponential-minus-one log log-plus-one logistic negate rsqrt sign sine sqrt tan tanh erf "
    "copy bitcast reshape"
)
BINARY = "add atan2 divide maximum minimum multiply power remainder subtract"
INTEGER = "and or xor shift-left shift-right-logical add"

EXPRESSIONS = {
    **{name: f"f32[8,16]{{1,0}} {name}(a)" for name in UNARY.split()},
    **{name: f"f32[8,16]{{1,0}} {name}(a, b)" for name in BINARY.split()},
    **{f"integer {name}": f"s32[8,16]{{1,0}} {name}(n, n)" for name in INTEGER.split()},
    "popcnt": "s32[8,16]{1,0} popcnt(n)",
    "is-finite": "pred[8,16]{1,0} is-finite(a)",
    "bitcast-convert": "s32[8,16]{1,0} bitcast-convert(a)",
    "complex": "c64[8,16]{1,0} complex(a, b)",
    "real": "f32[8,16]{1,0} real(z)",
    "select": "f32[8,16]{1,0} select(p, a, b)",
    "clamp": "f32[8,16]{1,0} clamp(c, a, c)",
    "convert": "bf16[8,16]{1,0} convert(a)",
    "convert to four bits": "s4[8,16]{1,0:E(4)} convert(n)",
    "tiled": "bf16[8,16]{1,0:T(8,128)(2,1)} convert(a)",
    "reduce-precision": "f32[8,16]{1,0} reduce-precision(a), exponent_bits=5, mantissa_bits=10",
    "iota": "f32[8,16]{1,0} iota(), iota_dimension=0",
    "reduce": "f32[8]{0} reduce(a, c), dimensions={1}, to_apply=add",
    "variadic reduce": "(f32[8]{0}, f32[8]{0}) reduce(a, b, c, c), dimensions={1}, to_apply=add2",
    "map": "f32[8,16]{1,0} map(a, b), dimensions={0,1}, to_apply=add",
    "reduce-window": "f32[8,14]{1,0} reduce-window(a, c), window={size=1x3}, to_apply=add",
    "reduce and broadcast": "f32[8,16]{1,0} reduce-window(a, c), "
    "window={size=1x31 pad=0_0x15_15}, to_apply=add",
    "select-and-scatter": "f32[8,16]{1,0} select-and-scatter(a, sm, c), "
    "window={size=1x4 stride=1x4}, select=ge, scatter=add",
    "reverse": "f32[8,16]{1,0} reverse(a), dimensions={0}",
    "transpose": "f32[16,8]{1,0} transpose(a), dimensions={1,0}",
    "transpose of a layout": "f32[16,8]{0,1} transpose(a), dimensions={1,0}",
    "concatenate": "f32[16,16]{1,0} concatenate(a, b), dimensions={0}",
    "pad": "f32[10,16]{1,0} pad(a, c), padding=1_1x0_0",
    "slice": "f32[4,16]{1,0} slice(a), slice={[0:4],[0:16]}",
    "dynamic-slice": "f32[4,16]{1,0} dynamic-slice(a, i, i), dynamic_slice_sizes={4,16}",
    "dynamic-update-slice": "f32[8,16]{1,0} dynamic-update-slice(a, sm2, i, i)",
    "gather": "f32[3,16]{1,0} gather(a, ix), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}",
    "scatter": "f32[8,16]{1,0} scatter(a, ix, up), update_window_dims={1}, "
    "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "dot": "f32[8,8]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "convolution without a window": "f32[8,32]{1,0} convolution(a, w), dim_labels=bf_io->bf",
    "convolution": "f32[2,4,4,6]{3,2,1,0} convolution(im, ke), "
    "window={size=3x3 stride=2x2}, dim_labels=b01f_01io->b01f",
    "padded convolution": "f32[2,9,9,6]{3,2,1,0} convolution(im, ke), "
    "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
    "dilated convolution": "f32[2,15,5,6]{3,2,1,0} convolution(im, ke), window={size=3x3 "
    "lhs_dilate=2x1 rhs_dilate=1x2}, dim_labels=b01f_01io->b01f",
    "sort": "f32[8,16]{1,0} sort(a), dimensions={1}, to_apply=lt",
    "variadic sort": "(f32[8,16]{1,0}, f32[8,16]{1,0}) sort(a, b), dimensions={1}, to_apply=lt2",
    "fft": "c64[8,16]{1,0} fft(z), fft_type=FFT, fft_length={16}",
    "rfft": "c64[8,9]{1,0} fft(a), fft_type=RFFT, fft_length={16}",
    "cholesky": "f32[16,16]{1,0} cholesky(q), lower=true",
    "triangular-solve": "f32[16,16]{1,0} triangular-solve(q, q), left_side=true, lower=true, "
    "unit_diagonal=false, transpose_a=NO_TRANSPOSE",
    "topk": "(f32[8,4]{1,0}, s32[8,4]{1,0}) topk(a), k=4, largest=true",
    "rng": "f32[8,16]{1,0} rng(c, c), distribution=rng_uniform",
    "rng-bit-generator": "(u64[2]{0}, u32[8,16]{1,0}) rng-bit-generator(s), algorithm=rng_default",
    "batch-norm-training": "(f32[8,16]{1,0}, f32[16]{0}, f32[16]{0}) batch-norm-training(a, v, v), "
    "epsilon=0.1, feature_index=1",
    "tuple": "(f32[8,16]{1,0}, f32[8,16]{1,0}, f32[8,16]{1,0}) tuple(a, b, a)",
    "opt-barrier": "f32[8,16]{1,0} opt-barrier(a)",
    "copy-start": "(f32[8,16]{1,0}, f32[8,16]{1,0}, u32[]) copy-start(a)",
    "infeed": "((f32[8,16]{1,0}), token[]) infeed(tk)",
    "send": "(f32[8,16]{1,0}, u32[], token[]) send(a, tk), channel_id=1",
    "partition-id": "u32[] partition-id()",
    "get-dimension-size": "s32[] get-dimension-size(a), dimensions={1}",
    "dynamic extent": "f32[8,<=16]{1,0} set-dimension-size(a, i), dimensions={1}",
    "custom-call": 'f32[8,16]{1,0} custom-call(a), custom_call_target="foo"',
    "all-reduce": "f32[8,16]{1,0} all-reduce(a), replica_groups={}, to_apply=add",
    "variadic all-reduce": "(f32[8,16]{1,0}, f32[8,16]{1,0}) all-reduce(a, b), replica_groups={}, "
    "to_apply=add",
    "all-reduce-start": "f32[8,16]{1,0} all-reduce-start(a), replica_groups={}, to_apply=add",
    "all-gather": "f32[16,16]{1,0} all-gather(a), replica_groups={{0,1}}, dimensions={0}",
    "all-gather-start": "(f32[8,16]{1,0}, f32[16,16]{1,0}) all-gather-start(a), "
    "replica_groups={{0,1}}, dimensions={0}",
    "reduce-scatter": "f32[4,16]{1,0} reduce-scatter(a), replica_groups={{0,1}}, dimensions={0}, "
    "to_apply=add",
    "all-to-all": "f32[8,16]{1,0} all-to-all(a), replica_groups={{0,1}}, dimensions={0}",
    "collective-permute": "f32[8,16]{1,0} collective-permute(a), source_target_pairs={{0,1},{1,0}}",
    "collective-broadcast": "f32[8,16]{1,0} collective-broadcast(a), replica_groups={{0,1}}",
}  # fmt: skip

PROGRAMS = {
    "while": """HloModule m
body { p = (s32[], f32[8,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[8,16]{1,0} get-tuple-element(p), index=1
 y = f32[8,16]{1,0} add(x, x)
 o = s32[] constant(1)
 j = s32[] add(i, o)
 ROOT t = (s32[], f32[8,16]{1,0}) tuple(j, y) }
cond { p = (s32[], f32[8,16]{1,0}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(7)
 ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e { a = (s32[], f32[8,16]{1,0}) parameter(0)
 ROOT w = (s32[], f32[8,16]{1,0}) while(a), body=body, condition=cond }""",
    "conditional": """HloModule m
A { p = f32[8,16]{1,0} parameter(0)
 ROOT x = f32[8,16]{1,0} negate(p) }
B { p = f32[8,16]{1,0} parameter(0)
 y = f32[8,16]{1,0} exponential(p)
 ROOT x = f32[8,16]{1,0} copy(y) }
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 i = pred[] parameter(1)
 ROOT d = f32[8,16]{1,0} conditional(i, a, a), true_computation=A, false_computation=B }""",
    "call": """HloModule m
A { p = f32[8,16]{1,0} parameter(0)
 ROOT x = f32[8,16]{1,0} negate(p) }
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 b = f32[8,16]{1,0} call(a), to_apply=A
 ROOT d = f32[8,16]{1,0} call(b), to_apply=A }""",
    "async wrapper": """HloModule m
A { p = f32[8,16]{1,0} parameter(0)
 ROOT x = f32[8,16]{1,0} negate(p) }
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 s = ((f32[8,16]{1,0}), f32[8,16]{1,0}, u32[]) async-start(a), calls=A
 ROOT d = f32[8,16]{1,0} async-done(s) }""",
}

IN_FUSIONS = {
    "update in place": (
        "f32[8,16]{1,0}",
        "ROOT x = f32[8,16]{1,0} dynamic-update-slice(a, u, i, i)",
    ),
    "update behind a bitcast": (
        "f32[128]{0}",
        "y = f32[8,16]{1,0} dynamic-update-slice(a, u, i, i)\n ROOT x = f32[128]{0} bitcast(y)",
    ),
    "tuple of results": (
        "(f32[8,16]{1,0}, f32[4,16]{1,0})",
        "y = f32[8,16]{1,0} dynamic-update-slice(a, u, i, i)\n n = f32[4,16]{1,0} negate(u)\n"
        " ROOT x = (f32[8,16]{1,0}, f32[4,16]{1,0}) tuple(y, n)",
    ),
    "slice": (
        "f32[2,16]{1,0}",
        "ROOT x = f32[2,16]{1,0} dynamic-slice(a, i, i), dynamic_slice_sizes={2,16}",
    ),
    "slice behind a bitcast": (
        "f32[4,8]{1,0}",
        "y = f32[16,8]{1,0} bitcast(a)\n"
        " ROOT x = f32[4,8]{1,0} dynamic-slice(y, i, i), dynamic_slice_sizes={4,8}",
    ),
    "two broadcasts of one parameter": (
        "f32[8,16,2]{2,1,0}",
        "y = f32[8,16,2]{2,1,0} broadcast(a), dimensions={0,1}\n"
        " z = f32[8,16,2]{2,1,0} broadcast(a), dimensions={0,1}\n"
        " ROOT x = f32[8,16,2]{2,1,0} add(y, z)",
    ),
    "large and small constants": (
        "f32[3]{0}",
        "y = f32[1]{0} constant({1})\n z = f32[2]{0} constant({1,2})\n"
        " ROOT x = f32[3]{0} concatenate(y, z), dimensions={0}",
    ),
    "custom call": (
        "f32[8,16]{1,0}",
        'ROOT x = f32[8,16]{1,0} custom-call(a), custom_call_target="foo"',
    ),
}  # fmt: skip

FUSION = """HloModule m
F {{ a = f32[8,16]{{1,0}} parameter(0)
 i = s32[] parameter(1)
 u = f32[4,16]{{1,0}} parameter(2)
 {body} }}
ENTRY e {{ a = f32[8,16]{{1,0}} parameter(0)
 i = s32[] parameter(1)
 u = f32[4,16]{{1,0}} parameter(2)
 ROOT r = {shape} fusion(a, i, u), kind=kLoop, calls=F }}"""

NESTED = """HloModule m
one { a = f32[64,256]{1,0} parameter(0)
 b = f32[8,256]{1,0} parameter(1)
 ROOT s = f32[64,256]{1,0} negate(a) }
both { a = f32[64,256]{1,0} parameter(0)
 b = f32[8,256]{1,0} parameter(1)
 c = f32[64,256]{1,0} concatenate(b, b, b, b, b, b, b, b), dimensions={0}
 ROOT s = f32[64,256]{1,0} add(a, c) }
sliced { a = f32[64,256]{1,0} parameter(0)
 b = f32[8,256]{1,0} parameter(1)
 x = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=one
 ROOT n = f32[8,256]{1,0} slice(x), slice={[0:8],[0:256]} }
F { a = f32[64,256]{1,0} parameter(0)
 b = f32[8,256]{1,0} parameter(1)
 z = s32[] parameter(2)
 BODY }
ENTRY e { a = f32[64,256]{1,0} parameter(0)
 b = f32[8,256]{1,0} parameter(1)
 z = s32[] parameter(2)
 ROOT r = SHAPE fusion(a, b, z), kind=kLoop, calls=F }"""

# (result, body) of fusions that hold fusions
NESTED_BODIES = {
    "root": ("f32[64,256]{1,0}", "ROOT s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=one"),
    "root of two inputs": (
        "f32[64,256]{1,0}",
        "ROOT s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=both",
    ),
    "two inputs": (
        "f32[64,256]{1,0}",
        "s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=both\n"
        " ROOT t = f32[64,256]{1,0} negate(s)",
    ),
    "slice of a nested result": (
        "f32[8,256]{1,0}",
        "s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=one\n"
        " ROOT t = f32[8,256]{1,0} slice(s), slice={[0:8],[0:256]}",
    ),
    "update of a nested result": (
        "f32[64,256]{1,0}",
        "s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=one\n"
        " ROOT t = f32[64,256]{1,0} dynamic-update-slice(s, b, z, z)",
    ),
    "chain": (
        "f32[64,256]{1,0}",
        "s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=one\n"
        " ROOT t = f32[64,256]{1,0} fusion(s, b), kind=kLoop, calls=one",
    ),
    "two levels": (
        "f32[4,256]{1,0}",
        "s = f32[8,256]{1,0} fusion(a, b), kind=kLoop, calls=sliced\n"
        " ROOT t = f32[4,256]{1,0} slice(s), slice={[0:4],[0:256]}",
    ),
    "used whole and in part": (
        "(f32[64,256]{1,0}, f32[8,256]{1,0})",
        "s = f32[64,256]{1,0} fusion(a, b), kind=kLoop, calls=one\n"
        " t = f32[64,256]{1,0} negate(s)\n u = f32[8,256]{1,0} slice(s), slice={[0:8],[0:256]}\n"
        " ROOT v = (f32[64,256]{1,0}, f32[8,256]{1,0}) tuple(t, u)",
    ),
}

GATHER_FUSION = """HloModule m
F { a = f32[8,16]{1,0} parameter(0)
 ix = s32[3,1]{1,0} parameter(1)
 n = f32[8,16]{1,0} negate(a)
 ROOT x = f32[3,16]{1,0} gather(n, ix), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16} }
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 ix = s32[3,1]{1,0} parameter(1)
 ROOT r = f32[3,16]{1,0} fusion(a, ix), kind=kCustom, calls=F }"""  # noqa: E501

TEXTS = {
    **{
        name: f"HloModule m\n{COMPUTATIONS}\nENTRY e {{\n{PARAMETERS}\nROOT r = {text}\n}}"
        for name, text in EXPRESSIONS.items()
    },
    **PROGRAMS,
    **{
        f"fusion: {name}": FUSION.format(shape=shape, body=body)
        for name, (shape, body) in IN_FUSIONS.items()
    },
    "fusion: gather of a custom fusion": GATHER_FUSION,
    **{
        f"nested fusion: {name}": NESTED.replace("BODY", body).replace("SHAPE", shape)
        for name, (shape, body) in NESTED_BODIES.items()
    },
}

ASK_XLA = """
import json, sys
import jax, jaxlib
from jaxlib import _hlo, _jax
client = jax.local_devices(backend="cpu")[0].client
answers = {"": jaxlib.__version__}
for name, text in json.load(sys.stdin).items():
    costs = _jax.hlo_module_cost_analysis(client, _hlo.hlo_module_from_text(text))
    figures = [costs.get(key, 0) for key in ("flops", "transcendentals", "bytes accessed")]
    answers[name] = [int(figure) for figure in figures]
json.dump(answers, sys.stdout)
"""


class Answers(NamedTuple):
    """What XLA says of each text, and the rules that its release has."""

    figures: dict[str, list[int]]
    rules: XlaRules


@pytest.fixture(scope="module")
def xla() -> Answers:
    done = subprocess.run(
        [sys.executable, "-c", ASK_XLA],
        input=json.dumps(TEXTS),
        capture_output=True,
        text=True,
        check=True,
        env={"JAX_PLATFORMS": "cpu"},
    )
    figures = json.loads(done.stdout)
    return Answers(figures, rules_for("cpu", figures.pop("")))


def replayed(text: str, rules: XlaRules) -> XlaCost:
    (module,) = read_text(text)
    assert module.entry is not None
    return replay(Graph(module), rules).computations[module.entry]


@pytest.mark.compile
@pytest.mark.parametrize("name", TEXTS)
def test_replay_equals_xla(name: str, xla: Answers) -> None:
    assert list(replayed(TEXTS[name], xla.rules)) == xla.figures[name]


def test_replay_of_a_dot_without_xla() -> None:
    # 8 x 8 results of 16 multiply-adds; 8 x 16, 8 x 16 and 8 x 8 floats
    assert replayed(TEXTS["dot"], XlaRules()) == XlaCost(2 * 8 * 8 * 16, 0, 4 * (128 + 128 + 64))


def test_releases_differ_in_tiles_and_pointers() -> None:
    old, new = rules_for("cpu", "0.10.2"), rules_for("cpu", "0.12.0.1")
    assert rules_for("cpu", "0.11.2") == new
    assert [replayed(TEXTS["tiled"], rules).bytes for rules in (old, new)] == [768, 2560]
    assert [replayed(TEXTS["tuple"], rules).bytes for rules in (old, new)] == [24, 12]
