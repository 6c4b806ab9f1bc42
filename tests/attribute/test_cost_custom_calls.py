"""What is known of custom calls by their targets."""

from __future__ import annotations

import pytest

from hloscope.attribute.cost_custom_calls import custom_work
from hloscope.attribute.cost_flops import arithmetic
from hloscope.hlo import read_text
from hloscope.model.hlo import Computation, Instruction
from hloscope.model.units import Maybe, Measured, Missing

LABELS = "dim_labels=b01f_o01i->b01f"


def entry_of(text: str) -> Computation:
    (module,) = read_text(f"HloModule m\nENTRY e {{ {text} }}\n")
    assert module.entry is not None
    return module.computations[module.entry]


def flops_of(text: str) -> Maybe[int]:
    body = entry_of(text)
    (call,) = [i for i in body.instructions if i.opcode == "custom-call"]
    return custom_work(call, [body.instructions[n].shape for n in call.operands]).flops


def plain(text: str) -> int:
    body = entry_of(text)
    root: Instruction = body.instructions[body.root]
    return arithmetic(root, [body.instructions[n].shape for n in root.operands], ()).flops


def on_matrix(target: str, result: str = "f32[6,6]") -> str:
    return f"""a = f32[6,6] parameter(0)
 ROOT c = {result} custom-call(a), custom_call_target="{target}" """


FACTORIZATIONS = [
    # n^3/3, 2n^3/3 and 4n^3/3 of n = 6
    (on_matrix("lapack_spotrf_ffi", "(f32[6,6], s32[])"), 72),
    (on_matrix("cusolver_potrf_ffi", "(f32[6,6], s32[])"), 72),
    (on_matrix("Cholesky"), 72),
    (on_matrix("lapack_dgetrf_ffi", "(f32[6,6], s32[6], s32[])"), 144),
    (on_matrix("LuRealDecompositionBlock", "(f32[6,6], s32[6], s32[6])"), 144),
    (on_matrix("cusolver_geqrf_ffi", "(f32[6,6], f32[6])"), 288),
    (on_matrix("QrDecompositionBlock", "(f32[6,6], f32[6])"), 288),
    # two of 12 x 6: 2mn^2 - 2/3n^3 each; wide or tall is the same for LU and QR
    (
        """a = f32[2,12,6] parameter(0)
 ROOT c = (f32[2,12,6], f32[2,6]) custom-call(a), custom_call_target="lapack_sgeqrf_ffi" """,
        2 * (2 * 12 * 36 - 144),
    ),
    (
        """a = f32[6,12] parameter(0)
 ROOT c = (f32[6,12], s32[6], s32[]) custom-call(a), custom_call_target="lapack_sgetrf_ffi" """,
        12 * 36 - 72,
    ),
    # Q of 12 x 6 from 3 reflectors: 4mnk - 2(m+n)k^2 + 4/3k^3
    (
        """a = f32[12,6] parameter(0)
 t = f32[3] parameter(1)
 ROOT c = f32[12,6] custom-call(a, t), custom_call_target="lapack_sorgqr_ffi" """,
        4 * 12 * 6 * 3 - 2 * 18 * 9 + 36,
    ),
]


@pytest.mark.parametrize(("text", "flops"), FACTORIZATIONS)
def test_factorizations_count_by_their_formula(text: str, flops: int) -> None:
    assert flops_of(text) == Measured(flops)


@pytest.mark.parametrize("target", ["lapack_strsm_ffi", "__cublas$triangularSolve"])
def test_a_solve_costs_what_the_opcode_costs(target: str) -> None:
    arrays = "a = f32[6,6] parameter(0)\n b = f32[6,4] parameter(1)\n ROOT c = "
    call = f'{arrays} f32[6,4] custom-call(a, b), custom_call_target="{target}"'
    opcode = f"{arrays} f32[6,4] triangular-solve(a, b), left_side=true, lower=true"
    assert flops_of(call) == Measured(plain(opcode)) == Measured(2 * 6 * 24)


@pytest.mark.parametrize("target", ["lapack_ssyevd_ffi", "lapack_sgesdd_ffi", "EighTpu"])
def test_what_iterates_is_unknown(target: str) -> None:
    assert isinstance(flops_of(on_matrix(target)), Missing)


@pytest.mark.parametrize(
    ("window", "groups", "output"),
    [("{size=3x5 stride=2x1 pad=0_1x2_2}", 1, "8,16,32,64"), ("{size=3x3}", 4, "8,30,30,64")],
)
def test_the_gradients_of_a_convolution_cost_what_it_costs(
    window: str, groups: int, output: str
) -> None:
    image = "f32[8,32,32,16]"
    kernel = f"f32[64,{window[6:9].replace('x', ',')},{16 // groups}]"
    result = f"f32[{output}]"
    rest = f"window={window}, {LABELS}, feature_group_count={groups}"
    arrays = f"x = {image} parameter(0)\n w = {kernel} parameter(1)\n y = {result} parameter(2)\n"
    forward = plain(f"{arrays} ROOT c = {result} convolution(x, w), {rest}")
    calls = {"Forward": (result, "x, w"), "BackwardInput": (image, "y, w"),
             "BackwardFilter": (kernel, "x, y")}  # fmt: skip
    found = {
        name: flops_of(
            f"{arrays} ROOT c = ({shape}, u8[0]) custom-call({operands}), {rest}, "
            f'custom_call_target="__cudnn$conv{name}"'
        )
        for name, (shape, operands) in calls.items()
    }
    assert forward > 0
    assert found == dict.fromkeys(calls, Measured(forward))


def test_a_convolution_that_does_not_read_is_unknown() -> None:
    text = """x = f32[8] parameter(0)
 w = f32[3] parameter(1)
 ROOT c = (f32[8], u8[0]) custom-call(x, w), custom_call_target="__cudnn$convForward" """
    assert isinstance(flops_of(text), Missing)
