"""HLO protos to `Module`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from hloscope.errors import HloscopeError
from hloscope.hlo.attribute_fields import ALWAYS, READ
from hloscope.hlo.attribute_text import Attributes
from hloscope.hlo.attributes import attributes
from hloscope.hlo.calls import in_print_order, roles
from hloscope.hlo.header_proto import read_frames, read_header
from hloscope.hlo.literal_proto import read_literal
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.shape_proto import read_shape
from hloscope.model.hlo import (
    NO_METADATA,
    Computation,
    Instruction,
    Literal,
    Metadata,
    Module,
    Shape,
)

_FIELDS = pb.LazyInstruction.DESCRIPTOR.fields_by_name
_ORIGIN = "original_value"
# fields that become attributes, with whether they are lists
_ATTRIBUTE = {
    _FIELDS[name]: (name, _FIELDS[name].is_repeated)
    for name in (
        *READ,
        "dimensions",
        "domain_entry_sharding",
        "domain_exit_sharding",
        _ORIGIN,
    )
}


def read_proto(data: bytes) -> Module:
    """Reads a serialized `HloProto`, `HloModuleProto` or `HloSnapshot`.

    Attribute values come out as XLA's HLO text has them, so that a program's proto and text give
    equal modules.

    Raises:
      HloscopeError: `data` is none of these, or is damaged.
    """
    proto = lazy_module(data)
    try:
        return _ModuleReader(proto).read()
    except (DecodeError, UnicodeDecodeError) as error:
        raise HloscopeError(
            f"the HLO proto is damaged: {error}", remedy="dump the module again"
        ) from None


def lazy_module(data: bytes) -> pb.LazyModule:
    """The module inside `data`, its instructions' sub-messages not yet decoded.

    Raises:
      HloscopeError: `data` holds no HLO module.
    """
    for candidate in (_of_hlo, _of_module, _of_snapshot):
        try:
            module = candidate(data)
        except DecodeError:
            continue
        if module.computations and all(c.instructions for c in module.computations):
            return module
    raise HloscopeError(
        "this is no HLO proto: it holds no module with computations",
        remedy="give an HloProto or HloModuleProto, such as XLA's flag --xla_dump_hlo_as_proto "
        "writes",
    )


def _of_hlo(data: bytes) -> pb.LazyModule:
    return pb.LazyHlo.FromString(data).hlo_module


def _of_module(data: bytes) -> pb.LazyModule:
    return pb.LazyModule.FromString(data)


def _of_snapshot(data: bytes) -> pb.LazyModule:
    return pb.LazyHloSnapshot.FromString(data).hlo.hlo_module


class _ModuleReader:
    """One module; every distinct sub-message is decoded once."""

    def __init__(self, proto: pb.LazyModule) -> None:
        self.proto = proto
        self.positions = {c.id: n for n, c in enumerate(proto.computations)}
        self.shapes: dict[bytes, Shape] = {}
        self.metadata: dict[bytes, Metadata] = {b"": NO_METADATA}
        self.literals: dict[bytes, Literal] = {}
        self.attributes: dict[tuple[object, ...], Attributes] = {}
        self.notes: list[str] = []
        self.newer = _has_unknown_fields(proto)

    def read(self) -> Module:
        proto = self.proto
        sequences = {key: value.instruction_ids for key, value in proto.schedule.sequences.items()}
        computations = tuple(self.computation(c, sequences) for c in proto.computations)
        if self.newer:
            self.notes.append(
                "the proto has fields that this reader does not know; instructions that have them "
                "show them as unknown_fields"
            )
        entry = self.entry()
        return Module(
            name=proto.name,
            computations=computations,
            entry=entry,
            is_scheduled=proto.HasField("schedule"),
            header=read_header(proto),
            stack_frames=read_frames(proto.stack_frame_index),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def entry(self) -> int | None:
        position = self.positions.get(self.proto.entry_computation_id)
        if position is not None:
            return position
        names = [c.name for c in self.proto.computations]
        if self.proto.entry_computation_name in names:
            return names.index(self.proto.entry_computation_name)
        self.notes.append("the module names no entry computation")
        return None

    def computation(
        self, proto: pb.LazyComputation, sequences: Mapping[int, Sequence[int]]
    ) -> Computation:
        protos = _in_order(proto, sequences.get(proto.id))
        positions = {i.id: n for n, i in enumerate(protos)}
        instructions: list[Instruction] = []
        for number, instruction in enumerate(protos):
            try:
                operands = tuple([positions[i] for i in instruction.operand_ids])
            except KeyError as error:
                raise _dangling(proto, instruction, error) from None
            if operands and max(operands) >= number:
                raise _out_of_order(proto, instruction)
            dtype = instructions[operands[0]].shape.dtype if operands else ""
            instructions.append(self.instruction(instruction, operands, dtype, positions))
        root = positions.get(proto.root_id, len(protos) - 1)
        return Computation(proto.name, tuple(instructions), root, proto.execution_thread or "main")

    def instruction(
        self,
        proto: pb.LazyInstruction,
        operands: tuple[int, ...],
        operand_dtype: str,
        positions: Mapping[int, int],
    ) -> Instruction:
        opcode = proto.opcode
        shape = self.shape(proto.shape)
        attrs, literal, calls, controlled = self.attrs(proto, opcode, shape, operand_dtype)
        return Instruction(
            proto.name,
            proto.id,
            opcode,
            shape,
            operands,
            self.called(proto, opcode, operand_dtype) if calls else (),
            attrs,
            self.control(proto, positions) if controlled else (),
            proto.parameter_number if opcode == "parameter" else -1,
            self.literal(proto.literal) if literal or opcode == "constant" else None,
            self.where(proto.metadata),
        )

    def attrs(
        self, proto: pb.LazyInstruction, opcode: str, shape: Shape, operand_dtype: str
    ) -> tuple[Attributes, bool, bool, bool]:
        """The attributes, and whether there are a literal, called computations and control."""
        fields: list[tuple[str, object]] = []
        literal = calls = controlled = False
        of_shape: Shape | None = None
        for field, value in proto.ListFields():
            entry = _ATTRIBUTE.get(field)
            if entry is None:
                literal = literal or field is _LITERAL
                calls = calls or field is _CALLED
                controlled = controlled or field is _CONTROL
                continue
            name, repeated = entry
            fields.append((name, tuple(value) if repeated else value))
            if name == _ORIGIN:
                of_shape = shape
        if literal and opcode == "custom-call":
            fields.append(("literal", proto.literal))
        key = (opcode, operand_dtype if opcode == "compare" else "", of_shape, *fields)
        known = self.attributes.get(key)
        if known is None:
            known = attributes(opcode, dict(fields), shape, operand_dtype)
            self.attributes[key] = known
        if self.newer:
            known = _with_unknown(known, proto)
        return known, literal, calls, controlled

    def called(
        self, proto: pb.LazyInstruction, opcode: str, operand_dtype: str
    ) -> tuple[tuple[str, int], ...]:
        ids = proto.called_computation_ids
        called: list[tuple[str, int]] = []
        names = roles(opcode, len(ids), on_predicate=operand_dtype == "pred")
        for role, number in zip(names, ids, strict=True):
            position = self.positions.get(number)
            if position is None:
                self.notes.append(f"'{proto.name}' calls a computation that the module lacks")
            else:
                called.append((role, position))
        return in_print_order(opcode, called)

    def control(self, proto: pb.LazyInstruction, positions: Mapping[int, int]) -> tuple[int, ...]:
        found = [positions.get(number) for number in proto.control_predecessor_ids]
        if None in found:
            self.notes.append(f"'{proto.name}' waits for an instruction that is not there")
        return tuple(position for position in found if position is not None)

    def shape(self, data: bytes) -> Shape:
        shape = self.shapes.get(data)
        if shape is None:
            shape = self.shapes[data] = read_shape(pb.ShapeProto.FromString(data))
        return shape

    def literal(self, data: bytes) -> Literal:
        literal = self.literals.get(data)
        if literal is None:
            literal = self.literals[data] = read_literal(pb.LiteralProto.FromString(data))
        return literal

    def where(self, data: bytes) -> Metadata:
        metadata = self.metadata.get(data)
        if metadata is None:
            m = pb.OpMetadata.FromString(data)
            metadata = self.metadata[data] = Metadata(
                m.op_name, m.op_type, m.source_file, m.source_line, m.stack_frame_id
            )
        return metadata


_LITERAL = _FIELDS["literal"]
_CALLED = _FIELDS["called_computation_ids"]
_CONTROL = _FIELDS["control_predecessor_ids"]


def _in_order(
    proto: pb.LazyComputation, sequence: Sequence[int] | None
) -> list[pb.LazyInstruction]:
    """The instructions in schedule order where there is a complete schedule."""
    protos = list(proto.instructions)
    if sequence is None or len(sequence) != len(protos):
        return protos
    by_id = {i.id: i for i in protos}
    try:
        return [by_id[number] for number in sequence]
    except KeyError:
        return protos


def _has_unknown_fields(proto: pb.LazyModule) -> bool:
    """Whether the module or anything inside it has fields that the schema lacks."""
    known = pb.LazyModule()
    known.CopyFrom(proto)
    known.DiscardUnknownFields()  # type: ignore[attr-defined]  # missing from the stubs
    return known.ByteSize() != proto.ByteSize()


def _with_unknown(known: Attributes, proto: pb.LazyInstruction) -> Attributes:
    """`known` and the numbers and values of the fields that the schema lacks."""
    texts = [f"{field.field_number}={field.data!r}" for field in UnknownFieldSet(proto)]
    if not texts:
        return known
    merged = dict(known)
    merged["unknown_fields"] = ",".join([*filter(None, [merged.get("unknown_fields")]), *texts])
    return tuple(sorted(merged.items()))


def _dangling(
    owner: pb.LazyComputation, proto: pb.LazyInstruction, error: KeyError
) -> HloscopeError:
    return HloscopeError(
        f"instruction '{proto.name}' uses id {error.args[0]}, which names no instruction",
        where=f"computation '{owner.name}'",
        remedy="dump the module again: the proto is damaged",
    )


def _out_of_order(owner: pb.LazyComputation, proto: pb.LazyInstruction) -> HloscopeError:
    return HloscopeError(
        f"instruction '{proto.name}' comes before one of its operands",
        where=f"computation '{owner.name}'",
        remedy="dump the module again: the proto is damaged",
    )
