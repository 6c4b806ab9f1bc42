"""Small modules, as text, proto and profile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hloscope.hlo.schema import hlo_pb2 as pb


def _proto(name: str = "jit_f", extra: int = 0) -> pb.HloProto:
    """`a = negate(p)`, and `extra` more negations of `p`; with one allocation."""
    proto = pb.HloProto()
    proto.buffer_assignment.buffer_allocations.add(index=0, size=8)
    module = proto.hlo_module
    module.name = name
    module.entry_computation_id = 1
    computation = module.computations.add(name="main", id=1, root_id=2)
    shape = pb.ShapeProto(element_type=pb.F32, dimensions=[2])
    shape.layout.minor_to_major.append(0)
    for number in range(2 + extra):
        added = computation.instructions.add(id=number + 1)
        added.name = f"n{number}" if number else "p"
        added.opcode = "negate" if number else "parameter"
        added.operand_ids.extend([1] if number else [])
        added.shape.CopyFrom(shape)
    return proto


def _text(name: str = "jit_f", extra: int = 0) -> str:
    more = "".join(f"  n{n} = f32[2]{{0}} negate(p)\n" for n in range(2, 2 + extra))
    return (
        f"HloModule {name}\n\nENTRY main {{\n  p = f32[2]{{0}} parameter(0)\n"
        f"  ROOT n1 = f32[2]{{0}} negate(p)\n{more}}}\n"
    )


@pytest.fixture
def make_proto() -> Callable[..., pb.HloProto]:
    """Makes an HloProto of a given name and size."""
    return _proto


@pytest.fixture
def make_text() -> Callable[..., str]:
    """Makes HLO text of a given name and size."""
    return _text
