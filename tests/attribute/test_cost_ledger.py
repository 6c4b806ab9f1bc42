from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hloscope.attribute import By, CostContext, account, cost_ledger, group_ledger
from hloscope.attribute.cost_xla_rules import rules_for
from hloscope.hlo import read_text, trip_count
from hloscope.model.canonical import Ref
from hloscope.model.cost import (
    CostEntry,
    CostLedger,
    KernelTime,
    Quantity,
    Reconciliation,
    Step,
    TimeBasis,
    Total,
)
from hloscope.model.hlo import MeasuredTimes, Module
from hloscope.model.target import Chip
from hloscope.model.units import Maybe, Measured, Missing

CHIP = Chip(
    platform="tpu",
    name="made-up",
    devices_per_chip=1,
    memory=Missing("made up"),
    peak_flops={"bf16": 1000.0, "int8": 2000.0},
    memory_bandwidth=Measured(100.0),
    interconnect_bandwidth=Measured(10.0),
    source="made up",
)

LOOP = """HloModule loop, is_scheduled=true
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
ENTRY e { z = s32[] constant(0)
 a = f32[8,16]{1,0} parameter(0)
 s = (s32[], f32[8,16]{1,0}) tuple(z, a)
 w = (s32[], f32[8,16]{1,0}) while(s), body=body, condition=cond
 ROOT g = f32[8,16]{1,0} get-tuple-element(w), index=1 }
"""

CONDITIONAL = """HloModule choice
cheap { p = f32[8,16]{1,0} parameter(0)
 ROOT x = f32[8,16]{1,0} exponential(p) }
dear { p = f32[8,16]{1,0} parameter(0)
 y = f32[8,16]{1,0} negate(p)
 ROOT x = f32[8,16]{1,0} add(y, y) }
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 i = pred[] parameter(1)
 ROOT d = f32[8,16]{1,0} conditional(i, a, a), true_computation=cheap, false_computation=dear }
"""

FUSION = """HloModule fused
inner { p = f32[8,16]{1,0} parameter(0)
 q = f32[16,4]{1,0} parameter(1)
 d = f32[8,4]{1,0} dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT t = f32[8,4]{1,0} tanh(d) }
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 b = f32[16,4]{1,0} parameter(1)
 ROOT f = f32[8,4]{1,0} fusion(a, b), kind=kOutput, calls=inner }
"""

KERNELS = """HloModule kernels
ENTRY e { a = f32[8,16]{1,0} parameter(0)
 b = f32[8,16]{1,0} custom-call(a), custom_call_target="mystery"
 c = f32[8,16]{1,0} custom-call(b), custom_call_target="tpu_custom_call", backend_config={"custom_call_config":{"body":"x","cost_estimate":{"flops":"1234","transcendentals":"5","bytes_accessed":"999"}}}
 d = f32[8,16]{1,0} custom-call(c), custom_call_target="Sharding"
 w = f32[16,4]{1,0} parameter(1)
 g = (f32[8,4]{1,0}, s8[64]{0}) custom-call(d, w), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}
 ROOT r = f32[8,4]{1,0} get-tuple-element(g), index=0 }
"""  # noqa: E501


TripCount = Callable[[Module, Ref], Maybe[int]]


def ledger_of(text: str, context: CostContext | None = None) -> CostLedger:
    (module,) = read_text(text)
    return cost_ledger(module, trip_count, context or CostContext(label="m"))


def entry(ledger: CostLedger, name: str) -> CostEntry:
    (found,) = [e for e in ledger.entries if e.name == name]
    return found


def unknown(_module: Module, _ref: Ref) -> Maybe[int]:
    return Missing("the bound is data")


def test_a_loop_counts_as_often_as_it_runs() -> None:
    ledger = ledger_of(LOOP)
    assert entry(ledger, "y").executions == Measured(7)
    assert entry(ledger, "r").executions == Measured(8)
    # 128 + 1 additions seven times, one comparison eight times
    assert ledger.totals[Quantity.FLOPS] == Total(7 * 129 + 8)
    assert ledger.totals[Quantity.BYTES_WRITTEN] == Total(7 * (512 + 4) + 8 * 1)
    assert ledger.notes == ()


def test_an_unknown_trip_count_is_left_out_and_said() -> None:
    (module,) = read_text(LOOP)
    ledger = cost_ledger(module, unknown)
    reason = "loop 'w' runs an unknown number of times"
    assert entry(ledger, "y").executions == Missing(reason)
    assert ledger.totals[Quantity.FLOPS] == Total(0, ((reason, 3),))
    assert ledger.notes == (f"{reason}; what it does is left out of the totals per step",)
    assert ledger.reconciliation.body_once.flops == 130


def test_of_a_conditional_the_dearest_branch_counts() -> None:
    ledger = ledger_of(CONDITIONAL)
    assert ledger.totals[Quantity.FLOPS] == Total(256)
    assert ledger.totals[Quantity.TRANSCENDENTALS] == Total(0)
    assert ledger.notes == (
        "of conditional 'd', branch 1 is counted, which costs most: "
        "which branch runs is not known before it runs",
    )
    # XLA takes the most FLOPs of one branch and the most transcendentals of the other
    assert ledger.reconciliation.body_once[1:] == (256, 128, 2560)


def test_fusions_are_opened() -> None:
    ledger = ledger_of(FUSION)
    dot, tanh, fusion = (entry(ledger, name) for name in ("d", "t", "f"))
    assert (dot.flops, dot.bytes_read, dot.kernel) == (
        Measured(2 * 8 * 4 * 16),
        Measured(0),
        fusion.ref,
    )
    assert tanh.transcendentals == Measured(32)
    assert (fusion.flops, fusion.kernel) == (Measured(0), fusion.ref)
    assert fusion.bytes_read == Measured(4 * (128 + 64))
    assert fusion.bytes_written == Measured(4 * 32)


def test_custom_calls_by_what_is_known_of_them() -> None:
    ledger = ledger_of(KERNELS)
    reason = "custom call 'mystery' does not say what it does"
    assert entry(ledger, "b").flops == Missing(reason)
    assert entry(ledger, "b").target == "mystery"
    estimated = entry(ledger, "c")
    assert (estimated.flops, estimated.transcendentals) == (Measured(1234), Measured(5))
    assert (estimated.bytes_read, estimated.bytes_written) == (Measured(999 - 512), Measured(512))
    assert entry(ledger, "d").flops == Measured(0)
    # the scratch memory beside the result counts for nothing
    assert entry(ledger, "g").flops == Measured(2 * 8 * 4 * 16)
    assert entry(ledger, "g").bytes_written == Measured(4 * 32)
    assert ledger.totals[Quantity.FLOPS] == Total(1234 + 1024, ((reason, 1),))


def test_kernels_of_a_tpu_count_for_xla_as_their_authors_say() -> None:
    ledger = ledger_of(KERNELS, CostContext(rules=rules_for("tpu", "0.12.0")))
    assert ledger.reconciliation.body_once.flops == 1234 - 3
    assert ledger.reconciliation.total.flops == 1234 + 1024


@pytest.mark.parametrize("text", [LOOP, CONDITIONAL, FUSION, KERNELS])
@pytest.mark.parametrize("trips", [trip_count, unknown])
def test_steps_lead_from_xla_to_the_total(text: str, trips: TripCount) -> None:
    (module,) = read_text(text)
    ledger = cost_ledger(module, trips)
    found: Reconciliation = ledger.reconciliation
    walked = [
        sum(figures)
        for figures in zip(*(step[1:] for step in (found.body_once, *found.steps)), strict=True)
    ]
    assert walked == list(found.total[1:])
    read, written = ledger.totals[Quantity.BYTES_READ], ledger.totals[Quantity.BYTES_WRITTEN]
    assert found.total == Step(
        "total",
        int(ledger.totals[Quantity.FLOPS].known),
        int(ledger.totals[Quantity.TRANSCENDENTALS].known),
        int(read.known + written.known),
    )


@pytest.mark.parametrize("text", [LOOP, CONDITIONAL, FUSION, KERNELS])
@pytest.mark.parametrize("by", By)
def test_groups_add_up_to_the_totals(text: str, by: By) -> None:
    ledger = ledger_of(text, CostContext(chip=CHIP))
    groups = group_ledger(ledger, by)
    assert sum(group.flops.known for group in groups) == ledger.totals[Quantity.FLOPS].known
    moved = (ledger.totals[q].known for q in (Quantity.BYTES_READ, Quantity.BYTES_WRITTEN))
    assert sum(group.bytes.known for group in groups) == sum(moved)
    assert sum(group.seconds.known for group in groups) == pytest.approx(ledger.seconds.known)
    assert sum(group.entries for group in groups) == len(ledger.entries)


def test_grouped_by_what_the_schedule_runs_a_fusion_is_one() -> None:
    (group,) = group_ledger(ledger_of(FUSION), By.INSTRUCTION)
    assert (group.key, group.entries, group.flops.known) == ("f", 3, 1024)


def test_times_are_the_longest_of_three_at_published_peaks() -> None:
    # float32 in one bfloat16 pass: 1,024 FLOPs at 1,000/s against 896 bytes at 100/s
    ledger = ledger_of(FUSION, CostContext(chip=CHIP))
    assert ledger.times == {entry(ledger, "f").ref: KernelTime(8.96, TimeBasis.MEMORY)}


@pytest.mark.parametrize(("precision", "passes"), [("default", 1), ("high", 3), ("highest", 6)])
def test_a_tpu_multiplies_float32_in_passes(precision: str, passes: int) -> None:
    chip = replace(CHIP, memory_bandwidth=Measured(1e9))
    wanted = f"rhs_contracting_dims={{0}}, operand_precision={{{precision},{precision}}}"
    text = FUSION.replace("rhs_contracting_dims={0}", wanted)
    (time,) = ledger_of(text, CostContext(chip=chip)).times.values()
    assert time == KernelTime(1024 * passes / 1000.0, TimeBasis.COMPUTE)


@pytest.mark.parametrize(("precision", "seconds"), [("default", 0.5), ("highest", 4.0)])
def test_a_gpu_multiplies_float32_in_tf32_unless_asked_for_more(
    precision: str, seconds: float
) -> None:
    chip = replace(
        CHIP,
        platform="gpu",
        peak_flops={"tf32": 2048.0, "f32": 256.0},
        memory_bandwidth=Measured(1e9),
    )
    wanted = f"rhs_contracting_dims={{0}}, operand_precision={{{precision},{precision}}}"
    text = FUSION.replace("rhs_contracting_dims={0}", wanted)
    (time,) = ledger_of(text, CostContext(chip=chip)).times.values()
    assert time.seconds == seconds


def test_collectives_take_their_time_on_the_interconnect() -> None:
    text = """HloModule m
    add { x = f32[] parameter(0)
     y = f32[] parameter(1)
     ROOT z = f32[] add(x, y) }
    ENTRY e { a = f32[100]{0} parameter(0)
     ROOT r = f32[100]{0} all-reduce(a), replica_groups=[1,4]<=[4], to_apply=add }"""
    ledger = ledger_of(text, CostContext(chip=CHIP))
    assert list(ledger.times.values()) == [KernelTime(60.0, TimeBasis.INTERCONNECT)]


def test_measured_times_come_before_estimates() -> None:
    measured = MeasuredTimes(seconds={"f": 6.0}, occurrences={"f": 3}, source="run.xplane.pb")
    ledger = ledger_of(FUSION, CostContext(chip=CHIP, measured=measured))
    assert list(ledger.times.values()) == [KernelTime(2.0, TimeBasis.MEASURED)]


def test_without_a_target_no_time_is_made_up() -> None:
    ledger = ledger_of(FUSION)
    assert ledger.times == {}
    assert set(ledger.untimed.values()) == {
        "no target is known whose peaks an estimate could rest on"
    }
    assert ledger.seconds.known == 0
    assert not ledger.seconds.is_exact


def test_a_chip_without_a_peak_for_the_dtype() -> None:
    text = FUSION.replace("f32", "f64")
    ledger = ledger_of(text, CostContext(chip=CHIP))
    assert list(ledger.untimed.values()) == ["no peak FLOP/s is known of tpu:made-up for 'f64'"]


def test_memory_beside_device_memory_costs_no_bandwidth() -> None:
    text = """HloModule m
    ENTRY e { a = f32[8,16]{1,0} parameter(0)
     b = f32[8,16]{1,0:S(1)} copy(a)
     ROOT c = f32[8,16]{1,0:S(1)} negate(b) }"""
    ledger = ledger_of(text)
    assert [e.device_bytes for e in ledger.entries] == [Measured(512), Measured(0)]
    assert ledger.totals[Quantity.BYTES_READ] == Total(1024)


def test_frame_marks_what_is_unknown() -> None:
    frame = ledger_of(KERNELS).frame().set_index("instruction")
    assert frame.loc["b", ["flops", "bytes_read", "flops_per_step"]].isna().all()
    assert frame.loc["b", "unknown"] == "custom call 'mystery' does not say what it does"
    assert frame.loc["g", "flops"] == 1024
    assert str(frame["flops"].dtype) == "Int64"


def test_attributes_that_make_no_sense_are_unknown_not_zero() -> None:
    text = FUSION.replace("lhs_contracting_dims={1}", "lhs_contracting_dims={5}")
    ledger = ledger_of(text)
    assert ledger.totals[Quantity.FLOPS] == Total(
        0, (("the attributes of 'dot' instructions do not read", 1),)
    )


def test_a_module_cut_off_before_its_entry() -> None:
    text = LOOP[: LOOP.index("ENTRY")]
    (module,) = read_text(text)
    ledger = account(module, trip_count).cost
    assert ledger.totals[Quantity.FLOPS] == Total(130)
    assert ledger.notes == (
        "the module has no entry computation: what nothing else calls is counted once",
    )
