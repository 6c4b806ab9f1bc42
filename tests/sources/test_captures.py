from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from hloscope.errors import HloscopeError
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.capture import (
    Capture,
    CostFigures,
    Depth,
    MemoryFigures,
    PayloadName,
    Provenance,
)
from hloscope.model.source import SourceKind
from hloscope.model.units import Missing
from hloscope.sources import from_capture

MakeProto = Callable[..., pb.HloProto]
NOT_GIVEN = Missing("not given")


def capture_of(payloads: Mapping[str, bytes]) -> Capture:
    return Capture(
        schema=1,
        program="tests:program",
        target="cpu:1",
        depth=Depth.HLO,
        inputs=(),
        outputs=(),
        memory=MemoryFigures(
            argument=NOT_GIVEN,
            output=NOT_GIVEN,
            alias=NOT_GIVEN,
            temp=NOT_GIVEN,
            code=NOT_GIVEN,
            source="none",
        ),
        cost=CostFigures(
            flops=NOT_GIVEN,
            bytes_accessed=NOT_GIVEN,
            transcendentals=NOT_GIVEN,
            optimal_seconds=NOT_GIVEN,
            source="none",
        ),
        provenance=Provenance(
            versions={},
            compile_options={},
            environment={},
            jax_config={},
            ambient_mesh=None,
            axis_rules=(),
            warnings=(),
            git_revision=None,
            git_dirty=None,
            options={},
            seconds={},
            peak_memory=NOT_GIVEN,
        ),
        out_of_memory=None,
        payloads=payloads,
    )


def test_both_stages_and_the_buffers(make_proto: MakeProto) -> None:
    capture = capture_of(
        {
            PayloadName.OPTIMIZED: make_proto("jit_f").SerializeToString(),
            PayloadName.BEFORE_OPTIMIZATIONS: make_proto("jit_f", 3).SerializeToString(),
        }
    )
    source = from_capture(capture, label="a.hloscope")
    assert (source.label, source.kind, source.notes) == ("a.hloscope", SourceKind.CAPTURE, ())
    assert source.module.instruction_count == 2
    assert source.before is not None
    assert source.before.instruction_count == 5
    assert source.buffers is not None
    assert source.capture is capture


def test_a_capture_that_stopped_before_optimization(make_proto: MakeProto) -> None:
    data = make_proto("jit_f").SerializeToString()
    source = from_capture(capture_of({PayloadName.BEFORE_OPTIMIZATIONS: data}), label="x")
    assert source.before is None
    assert source.notes == (
        "the capture has no optimized HLO: this is the module before optimization",
    )


def test_a_capture_without_hlo() -> None:
    with pytest.raises(HloscopeError, match="'tests:program' holds no HLO"):
        from_capture(capture_of({}), label="x")
