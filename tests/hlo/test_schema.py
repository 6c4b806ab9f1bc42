from __future__ import annotations

import pytest

from hloscope.errors import HloscopeError
from hloscope.hlo import read_proto
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.schema import regenerate


def small() -> pb.HloProto:
    """`ROOT a = f32[2] negate(p)` in one computation."""
    shape = pb.ShapeProto(
        element_type=pb.F32, dimensions=[2], layout=pb.LayoutProto(minor_to_major=[0])
    )
    proto = pb.HloProto()
    module = proto.hlo_module
    module.name = "m"
    module.entry_computation_id = 1
    computation = module.computations.add(name="main", id=1, root_id=12)
    parameter = computation.instructions.add(name="p", opcode="parameter", id=11)
    parameter.shape.CopyFrom(shape)
    negate = computation.instructions.add(name="a", opcode="negate", id=12, operand_ids=[11])
    negate.shape.CopyFrom(shape)
    return proto


# field 1999 and its varint 7, which no schema has
UNKNOWN = b"\xf8\x7c\x07"


def test_the_checked_in_files_are_what_the_script_makes() -> None:
    pytest.importorskip("grpc_tools.protoc")
    for name, text in regenerate.generated().items():
        assert (regenerate.SCHEMA / name).read_text() == text, f"run {regenerate.__name__}"


def test_the_schema_loads_beside_another_package_of_the_same_names() -> None:
    assert pb.HloProto.DESCRIPTOR.full_name == "hloscope.xla.HloProto"


def test_unknown_fields_survive_a_parse_and_a_write() -> None:
    proto = small()
    proto.hlo_module.computations[0].instructions[1].MergeFromString(UNKNOWN)
    data = proto.SerializeToString()
    assert UNKNOWN in pb.HloProto.FromString(data).SerializeToString()


def test_an_unknown_field_of_an_instruction_becomes_an_attribute() -> None:
    proto = small()
    proto.hlo_module.computations[0].instructions[1].MergeFromString(UNKNOWN)
    module = read_proto(proto.SerializeToString())
    parameter, negate = module.computations[0].instructions
    assert (parameter.attrs, negate.attrs) == ((), (("unknown_fields", "1999=7"),))
    assert "fields that this reader does not know" in module.notes[0]


def test_an_unknown_field_inside_a_sub_message_becomes_an_attribute() -> None:
    proto = small()
    sharding = proto.hlo_module.computations[0].instructions[1].sharding
    sharding.MergeFromString(UNKNOWN)
    attrs = dict(read_proto(proto.SerializeToString()).computations[0].instructions[1].attrs)
    assert attrs == {"sharding": "{replicated}", "unknown_fields": "sharding"}


def test_every_wrapping_of_a_module_reads_alike() -> None:
    proto = small()
    bare = proto.hlo_module.SerializeToString()
    snapshot = pb.LazyHloSnapshot(hlo=pb.LazyHlo.FromString(proto.SerializeToString()))
    modules = [
        read_proto(d) for d in (proto.SerializeToString(), bare, snapshot.SerializeToString())
    ]
    assert modules[0] == modules[1] == modules[2]
    assert modules[0].name == "m"


@pytest.mark.parametrize("data", [b"", b"\x00", b"hello", pb.HloProto().SerializeToString()])
def test_what_is_no_proto_is_refused(data: bytes) -> None:
    with pytest.raises(HloscopeError, match="no HLO proto"):
        read_proto(data)


def test_an_operand_that_is_not_there_is_an_error_that_names_both() -> None:
    proto = small()
    proto.hlo_module.computations[0].instructions[1].operand_ids[:] = [99]
    with pytest.raises(HloscopeError, match="'a' uses id 99") as caught:
        read_proto(proto.SerializeToString())
    assert caught.value.where == "computation 'main'"


def test_an_operand_after_its_user_is_an_error_that_names_it() -> None:
    proto = small()
    computation = proto.hlo_module.computations[0]
    late = computation.instructions.add(name="b", opcode="negate", id=13, operand_ids=[11])
    late.shape.CopyFrom(computation.instructions[0].shape)
    computation.instructions[1].operand_ids[:] = [13]
    with pytest.raises(HloscopeError, match="'a' comes before one of its operands"):
        read_proto(proto.SerializeToString())


def test_a_schedule_gives_the_order() -> None:
    proto = small()
    computation = proto.hlo_module.computations[0]
    late = computation.instructions.add(name="b", opcode="negate", id=13, operand_ids=[11])
    late.shape.CopyFrom(computation.instructions[0].shape)
    proto.hlo_module.schedule.sequences[1].instruction_ids[:] = [11, 13, 12]
    module = read_proto(proto.SerializeToString())
    found = module.computations[0]
    assert [i.name for i in found.instructions] == ["p", "b", "a"]
    assert (module.is_scheduled, found.instructions[found.root].name) == (True, "a")
    assert [i.operands for i in found.instructions] == [(), (0,), (0,)]


def test_fields_without_a_text_form_are_kept_as_protobuf_text() -> None:
    proto = small()
    instruction = proto.hlo_module.computations[0].instructions[1]
    instruction.shuffle_mode.rotate.shifts[:] = [3, 4]
    instruction.dot_sparsity.add(index=1, dimension=2, n=2)
    instruction.dot_sparsity.add(index=0, dimension=1, n=4)
    instruction.sparsity_config.SetInParent()
    (found,) = (i for i in read_proto(proto.SerializeToString()).computations[0].instructions[1:])
    assert found.attr("sparsity_config") is None
    assert found.attr("shuffle_mode") == "{rotate { shifts: 3 shifts: 4 }}"
    assert found.attr("dot_sparsity") == "{index: 1 dimension: 2 n: 2; dimension: 1 n: 4}"
