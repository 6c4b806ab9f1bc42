"""A capture to store, made without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hloscope.model.capture import (
    SCHEMA,
    Capture,
    CostFigures,
    Depth,
    Leaf,
    MemoryFigures,
    OutOfMemory,
    Provenance,
)
from hloscope.model.units import Bytes, Measured, Missing, Seconds

LEAF = Leaf(
    path="state.params['dense']['kernel']",
    shape=(4, 8),
    dtype="bfloat16",
    weak_type=False,
    sharding="PartitionSpec('fsdp', None)",
    mesh={"data": 1, "fsdp": 4},
    memory_kind="device",
    layout="{1,0:T(8,128)(2,1)}",
    donated=True,
    parameter=0,
)


def _make_capture(**changes: object) -> Capture:
    capture = Capture(
        schema=SCHEMA,
        program="gpt3-tiny:nnx",
        target="tpu:v5e:2x2",
        depth=Depth.HLO,
        inputs=(LEAF, replace(LEAF, path="x", mesh=None, parameter=None, shape=())),
        outputs=(),
        memory=MemoryFigures(
            argument=Measured(Bytes(2**40)),
            output=Measured(Bytes(0)),
            alias=Measured(Bytes(1)),
            temp=Measured(Bytes(3)),
            code=Missing("depth hlo generates no code"),
            source="buffer assignment",
        ),
        cost=CostFigures(
            flops=Measured(1.5),
            bytes_accessed=Missing("no"),
            transcendentals=Missing("no"),
            optimal_seconds=Missing("no"),
            source="cost_analysis",
        ),
        provenance=Provenance(
            versions={"python": "3.12.0", "jax": "0.12.0"},
            compile_options={},
            environment={"XLA_FLAGS": "--a=b"},
            jax_config={},
            ambient_mesh={"data": 1},
            axis_rules=(("embed", "fsdp"),),
            warnings=("donated buffers were not usable",),
            git_revision=None,
            git_dirty=None,
            options={"layers": "4"},
            seconds={"trace": Seconds(0.25)},
            peak_memory=Measured(Bytes(1)),
        ),
        out_of_memory=OutOfMemory(needed=Measured(Bytes(2)), available=Missing("?"), message="big"),
        payloads={"optimized.hlo.pb": b"\x0a\x00" * 1000, "passes/0001.dce.hlo.pb": b""},
    )
    return replace(capture, **changes)  # type: ignore[arg-type]


@pytest.fixture
def make_capture() -> Callable[..., Capture]:
    """Makes the capture, with the fields given changed."""
    return _make_capture
