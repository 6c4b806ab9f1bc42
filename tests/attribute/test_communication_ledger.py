from __future__ import annotations

import pytest

from hloscope.attribute import CostContext, account
from hloscope.hlo import read_text
from hloscope.model.canonical import Ref
from hloscope.model.communication import Collective, CommunicationLedger, Form, Kind, Overlap
from hloscope.model.hlo import Module
from hloscope.model.units import Maybe, Measured, Missing

ADD = """
add { x = bf16[] parameter(0)
 y = bf16[] parameter(1)
 ROOT z = bf16[] add(x, y) }
"""


def twelve(_module: Module, _ref: Ref) -> Maybe[int]:
    return Measured(12)


def never_known(_module: Module, _ref: Ref) -> Maybe[int]:
    return Missing("no constant bound")


def ledger_of(text: str, mesh: dict[str, int] | None = None) -> CommunicationLedger:
    (module,) = read_text(text)
    return account(module, twelve, CostContext(label="m", mesh=mesh)).communication


def program(body: str, before: str = "", header: str = "num_partitions=4") -> str:
    return (
        f"HloModule m, is_scheduled=true, {header}\n{ADD}{before}\nENTRY e {{\n"
        "a = bf16[8,16]{1,0} parameter(0)\nb = bf16[8,16]{1,0} parameter(1)\n"
        f"{body}\n}}\n"
    )


def one(body: str, before: str = "", mesh: dict[str, int] | None = None) -> Collective:
    (item,) = ledger_of(program(body, before), mesh).collectives
    return item


SYNC = {
    # kind: (instruction, operand bytes, output bytes, wire bytes), 256 bytes in, 4 devices
    Kind.ALL_GATHER: ("bf16[32,16]{1,0} all-gather(a), dimensions={0}", 256, 1024, 768),
    Kind.ALL_REDUCE: ("bf16[8,16]{1,0} all-reduce(a), to_apply=add", 256, 256, 384),
    Kind.REDUCE_SCATTER: (
        "bf16[2,16]{1,0} reduce-scatter(a), dimensions={0}, to_apply=add", 256, 64, 192,
    ),
    Kind.ALL_TO_ALL: ("bf16[8,16]{1,0} all-to-all(a), dimensions={0}", 256, 256, 192),
    Kind.BROADCAST: ("bf16[8,16]{1,0} collective-broadcast(a)", 256, 256, 256),
}  # fmt: skip


@pytest.mark.parametrize("kind", SYNC)
def test_bytes_by_the_ring(kind: Kind) -> None:
    text, operand, output, wire = SYNC[kind]
    item = one(f"ROOT r = {text}, replica_groups=[1,4]<=[4]", mesh={"x": 4})
    assert (item.kind, item.form) == (kind, Form.SYNC)
    assert (item.operand_bytes, item.output_bytes) == (operand, output)
    assert item.wire_bytes == Measured(wire)
    assert (item.group_size, item.groups, item.axes) == (
        Measured(4),
        Measured(1),
        Measured(("x",)),
    )
    assert (item.executions, item.loops) == (Measured(1), ())
    assert item.overlap == Missing("it is synchronous: nothing runs meanwhile")


def test_a_group_of_one_sends_nothing() -> None:
    item = one("ROOT r = bf16[8,16]{1,0} all-reduce(a), replica_groups=[4,1]<=[4], to_apply=add")
    assert (item.wire_bytes, item.axes) == (Measured(0), Measured(()))


def test_a_ragged_exchange_depends_on_data() -> None:
    text = """HloModule m
    ENTRY e { a = bf16[8]{0} parameter(0)
     s = s32[4]{0} parameter(1)
     ROOT r = bf16[8]{0} ragged-all-to-all(a, a, s, s, s, s), replica_groups={{0,1,2,3}} }"""
    ledger = ledger_of(text)
    assert ledger.collectives[0].kind is Kind.RAGGED_ALL_TO_ALL
    assert ledger.wire_bytes.known == 0
    assert ledger.wire_bytes.unknown == (("what a ragged-all-to-all sends depends on its data", 1),)


def test_a_permute_names_the_axis_it_moves_along() -> None:
    item = one(
        "ROOT r = bf16[8,16]{1,0} collective-permute(a), "
        "source_target_pairs={{0,1},{1,0},{2,3},{3,2}}",
        mesh={"x": 2, "y": 2},
    )
    assert (item.kind, item.axes, item.wire_bytes) == (
        Kind.PERMUTE,
        Measured(("y",)),
        Measured(256),
    )
    assert (item.group_size, item.groups) == (Measured(2), Measured(2))


def test_start_and_done_with_what_runs_between() -> None:
    item = one(
        """s = (bf16[8,16]{1,0}, bf16[32,16]{1,0}) all-gather-start(a), replica_groups={{0,1,2,3}}, dimensions={0}
        n = bf16[8,16]{1,0} negate(b)
        t = (bf16[8,16]{1,0}) tuple(n)
        m = bf16[8,16]{1,0} multiply(n, b)
        d = bf16[32,16]{1,0} all-gather-done(s)
        q = bf16[8,16]{1,0} negate(m)
        ROOT r = (bf16[32,16]{1,0}, bf16[8,16]{1,0}) tuple(d, q)"""  # noqa: E501
    )
    assert (item.kind, item.form, item.shape) == (Kind.ALL_GATHER, Form.PAIR, "bf16[32,16]")
    assert (item.operand_bytes, item.output_bytes) == (256, 1024)
    assert item.overlap == Measured(
        Overlap(2, ("m", "n"), 2 * 128, 5 * 256, Missing("some of the kernels have no time"))
    )


def test_a_pair_that_the_gpu_runs_at_once_hides_nothing() -> None:
    item = one(
        """s = bf16[8,16]{1,0} all-reduce-start(a), replica_groups={{0,1,2,3}}, to_apply=add, backend_config={"collective_backend_config":{"is_sync":true}}
        n = bf16[8,16]{1,0} negate(b)
        d = bf16[8,16]{1,0} all-reduce-done(s)
        ROOT r = (bf16[8,16]{1,0}, bf16[8,16]{1,0}) tuple(d, n)"""  # noqa: E501
    )
    assert (item.form, item.form.is_async) == (Form.SYNC_PAIR, False)


WRAPPER = """
wrapped { p = bf16[8,16]{1,0} parameter(0)
 ROOT rs = bf16[2,16]{1,0} reduce-scatter(p), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add }
"""  # noqa: E501


def test_an_async_wrapper() -> None:
    item = one(
        """s = ((bf16[8,16]{1,0}), bf16[2,16]{1,0}, u32[]) async-start(a), calls=wrapped
        n = bf16[8,16]{1,0} negate(b)
        d = bf16[2,16]{1,0} async-done(s)
        ROOT r = (bf16[2,16]{1,0}, bf16[8,16]{1,0}) tuple(d, n)""",
        WRAPPER,
    )
    assert (item.name, item.kind, item.form) == ("rs", Kind.REDUCE_SCATTER, Form.WRAPPER)
    assert (item.computation, item.wire_bytes) == ("e", Measured(192))
    assert isinstance(item.overlap, Measured)
    assert item.overlap.value.names == ("n",)


SLICING = """
fused { p = bf16[8,16]{1,0} parameter(0)
 ar = bf16[8,16]{1,0} all-reduce(p), replica_groups={{0,1,2,3}}, to_apply=add
 i = u32[] partition-id()
 z = u32[] constant(0)
 ROOT s = bf16[2,16]{1,0} dynamic-slice(ar, i, z), dynamic_slice_sizes={2,16} }
"""


def test_an_all_reduce_whose_fusion_keeps_one_part_is_a_reduce_scatter() -> None:
    item = one("ROOT r = bf16[2,16]{1,0} fusion(a), kind=kCustom, calls=fused", SLICING)
    assert (item.name, item.kind, item.form) == ("ar", Kind.REDUCE_SCATTER, Form.FUSION)
    assert (item.shape, item.output_bytes, item.wire_bytes) == ("bf16[2,16]", 64, Measured(192))


def test_an_all_reduce_whose_fusion_keeps_less_is_none() -> None:
    body = "ROOT r = bf16[1,16]{1,0} fusion(a), kind=kCustom, calls=fused"
    item = one(body, SLICING.replace("2,16", "1,16"))
    assert (item.kind, item.wire_bytes) == (Kind.ALL_REDUCE, Measured(384))


SPREAD_CONFIG = (
    "channel_id=7, replica_groups={{0,1,2,3}}, dimensions={0}, "
    'backend_config={"async_collective_fusion_config":{"flag_start":"1"}}'
)
SPREAD = f"""
starting {{ p = bf16[8,16]{{1,0}} parameter(0)
 g1 = bf16[32,16]{{1,0}} all-gather(p), {SPREAD_CONFIG}
 ROOT c = (bf16[8,16]{{1,0}}, bf16[32,16]{{1,0}}) custom-call(g1), custom_call_target="AsyncCollectiveStart" }}
middle {{ p = bf16[8,16]{{1,0}} parameter(0)
 q = bf16[8,16]{{1,0}} parameter(1)
 m = bf16[8,16]{{1,0}} multiply(q, q)
 g2 = bf16[32,16]{{1,0}} all-gather(p), {SPREAD_CONFIG}
 ROOT t = (bf16[8,16]{{1,0}}, bf16[32,16]{{1,0}}) tuple(m, g2) }}
ending {{ p = bf16[8,16]{{1,0}} parameter(0)
 g3 = bf16[32,16]{{1,0}} all-gather(p), {SPREAD_CONFIG}
 ROOT c = bf16[32,16]{{1,0}} custom-call(g3), custom_call_target="AsyncCollectiveDone" }}
"""  # noqa: E501


def test_a_collective_that_a_tpu_spreads_over_fusions_comes_once() -> None:
    item = one(
        """s = (bf16[8,16]{1,0}, bf16[32,16]{1,0}) fusion(a), kind=kCustom, calls=starting
        x = bf16[8,16]{1,0} get-tuple-element(s), index=0
        w = (bf16[8,16]{1,0}, bf16[32,16]{1,0}) fusion(x, b), kind=kLoop, calls=middle
        y = bf16[8,16]{1,0} get-tuple-element(w), index=0
        d = bf16[32,16]{1,0} fusion(y), kind=kCustom, calls=ending
        ROOT r = (bf16[32,16]{1,0}, bf16[8,16]{1,0}) tuple(d, y)""",
        SPREAD,
    )
    assert (item.name, item.form, item.wire_bytes) == ("g1", Form.ASYNC_FUSION, Measured(768))
    assert isinstance(item.overlap, Measured)
    assert item.overlap.value.names == ("w",)


LOOP = """
body {{ p = (s32[], bf16[8,16]{{1,0}}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = bf16[8,16]{{1,0}} get-tuple-element(p), index=1
 ar = bf16[8,16]{{1,0}} all-reduce(x), replica_groups={{{{0,1,2,3}}}}, to_apply=add
 ROOT t = (s32[], bf16[8,16]{{1,0}}) tuple(i, ar) }}
cond {{ p = (s32[], bf16[8,16]{{1,0}}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 ROOT r = pred[] compare(i, i), direction=LT }}
outer {{ p = (s32[], bf16[8,16]{{1,0}}) parameter(0)
 ROOT inner = (s32[], bf16[8,16]{{1,0}}) while(p), body=body, condition=cond }}
cond2 {{ p = (s32[], bf16[8,16]{{1,0}}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 ROOT r = pred[] compare(i, i), direction=LT }}
ENTRY e {{ a = (s32[], bf16[8,16]{{1,0}}) parameter(0)
 ROOT w = (s32[], bf16[8,16]{{1,0}}) while(a), body={outer}, condition=cond2 }}
"""


@pytest.mark.parametrize(
    ("body", "loops", "executions"), [("body", ("w",), 12), ("outer", ("w", "inner"), 144)]
)
def test_loops_multiply(body: str, loops: tuple[str, ...], executions: int) -> None:
    text = "HloModule m, num_partitions=4\n" + ADD + LOOP.format(outer=body)
    (item,) = ledger_of(text).collectives
    assert (item.loops, item.executions) == (loops, Measured(executions))
    assert item.wire_per_step == Measured(executions * 384)


def test_a_loop_without_a_known_trip_count_is_not_counted_but_said() -> None:
    (module,) = read_text("HloModule m\n" + ADD + LOOP.format(outer="body"))
    ledger = account(module, never_known).communication
    reason = "loop 'w' runs an unknown number of times"
    assert ledger.collectives[0].executions == Missing(reason)
    assert (ledger.wire_bytes.known, ledger.wire_bytes.unknown) == (0, ((reason, 1),))


def test_the_mesh_that_the_module_spells_names_groups_of_other_notations() -> None:
    text = program(
        "c = bf16[8,16]{1,0} all-reduce(a), replica_groups=mesh['p'=2,'q'=2] {'q'}, to_apply=add\n"
        "ROOT r = bf16[8,16]{1,0} all-reduce(c), replica_groups={{0,2},{1,3}}, to_apply=add"
    )
    ledger = ledger_of(text)
    assert ledger.mesh == {"p": 2, "q": 2}
    assert [item.axes for item in ledger.collectives] == [Measured(("q",)), Measured(("p",))]


def test_host_transfers_are_no_communication_between_devices() -> None:
    text = """HloModule m
    ENTRY e { a = bf16[8]{0} parameter(0)
     k = token[] after-all()
     s = (bf16[8]{0}, u32[], token[]) send(a, k), channel_id=1, is_host_transfer=true
     ROOT d = token[] send-done(s), channel_id=1, is_host_transfer=true }"""
    assert ledger_of(text).collectives == ()


def test_frame_has_no_zero_for_what_is_unknown() -> None:
    (module,) = read_text("HloModule m\n" + ADD + LOOP.format(outer="body"))
    frame = account(module, never_known).communication.frame()
    (row,) = frame.to_dict("records")
    assert row["collective"] == "ar"
    assert frame["executions"].isna().all()
    assert frame["wire_bytes_per_step"].isna().all()
    assert row["wire_bytes"] == 384
    assert row["unknown"].startswith("loop 'w' runs an unknown number of times")


def test_frame_of_no_collectives_has_its_columns() -> None:
    frame = ledger_of(program("ROOT r = bf16[8,16]{1,0} negate(a)")).frame()
    assert len(frame) == 0
    assert {"collective", "kind", "wire_bytes_per_step"} <= set(frame.columns)
