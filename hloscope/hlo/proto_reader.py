"""HLO protos to `Module`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from hloscope.errors import HloscopeError
from hloscope.hlo.async_wrapped import as_text_says
from hloscope.hlo.attribute_fields import ALWAYS, READ
from hloscope.hlo.attribute_text import Attributes
from hloscope.hlo.attributes import attributes
from hloscope.hlo.call_order import in_call_order
from hloscope.hlo.calls import in_print_order, roles
from hloscope.hlo.header_proto import read_frames, read_header
from hloscope.hlo.literal_proto import read_literal
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.shape_proto import Shapes
from hloscope.model.hlo import (
    NO_METADATA,
    Computation,
    Instruction,
    Literal,
    Metadata,
    Module,
    Shape,
)

T = TypeVar("T")

_FIELDS = pb.LazyInstruction.DESCRIPTOR.fields_by_name
_NAME, _OPCODE, _SHAPE, _METADATA, _LITERAL, _PARAMETER, _ID = (
    _FIELDS[name]
    for name in (
        "name", "opcode", "shape", "metadata", "literal", "parameter_number", "id",
    )
)  # fmt: skip
_OPERANDS, _CONTROL, _CALLED, _ORIGIN = (
    _FIELDS[name]
    for name in (
        "operand_ids", "control_predecessor_ids", "called_computation_ids", "original_value",
    )
)  # fmt: skip
# opcodes with an attribute that hangs on the shape
_BY_SHAPE = frozenset({"collective-permute", "collective-permute-start"})
_BY_OPCODE = ("dimensions", "domain_entry_sharding", "domain_exit_sharding")
# fields that become attributes, with whether they are lists
_ATTRIBUTE = {
    _FIELDS[name]: (name, bool(_FIELDS[name].is_repeated)) for name in (*READ, *_BY_OPCODE)
}


def read_proto(data: bytes) -> Module:
    """Reads a serialized `HloProto`, `HloModuleProto` or `HloSnapshot`.

    Attribute values come out as XLA's HLO text has them, so that a program's proto and text give
    equal modules.

    Raises:
      HloscopeError: `data` is none of these, or is damaged.
    """
    proto, newer = lazy_module(data)
    try:
        return _ModuleReader(proto, newer=newer).read()
    except (DecodeError, UnicodeDecodeError) as error:
        raise HloscopeError(
            f"the HLO proto is damaged: {error}", remedy="dump the module again"
        ) from None


def lazy_module(data: bytes) -> tuple[pb.LazyModule, bool]:
    """The module inside `data`, its instructions' sub-messages not yet decoded.

    Returns:
      The module, and whether it has fields that the schema lacks.

    Raises:
      HloscopeError: `data` holds no HLO module.
    """
    for wrapper, unwrap in _WRAPPERS:
        try:
            whole = wrapper.FromString(data)
        except DecodeError:
            continue
        module = unwrap(whole)
        if module.computations and all(c.instructions for c in module.computations):
            size = whole.ByteSize()
            whole.DiscardUnknownFields()
            if whole.ByteSize() == size:
                return module, False
            return unwrap(wrapper.FromString(data)), True
    raise HloscopeError(
        "this is no HLO proto: it holds no module with computations",
        remedy="give an HloProto or HloModuleProto, such as XLA's flag --xla_dump_hlo_as_proto "
        "writes",
    )


# what a module may be wrapped in, with the way to it
_WRAPPERS: tuple[tuple[Any, Callable[[Any], pb.LazyModule]], ...] = (
    (pb.LazyHlo, lambda whole: whole.hlo_module),
    (pb.LazyModule, lambda whole: whole),
    (pb.LazyHloSnapshot, lambda whole: whole.hlo.hlo_module),
)


class _ModuleReader:
    """One module; every distinct sub-message is decoded once."""

    def __init__(self, proto: pb.LazyModule, *, newer: bool) -> None:
        self.proto = proto
        self.newer = newer
        self.positions = {c.id: n for n, c in enumerate(proto.computations)}
        self.shapes = Shapes()
        self.metadata = _Decoded(_metadata)
        self.literals = _Decoded(lambda data: read_literal(pb.LiteralProto.FromString(data)))
        self.attributes: dict[tuple[object, ...], Attributes] = {}
        self.notes: list[str] = []

    def read(self) -> Module:
        proto = self.proto
        sequences = {key: value.instruction_ids for key, value in proto.schedule.sequences.items()}
        computations = tuple(self.computation(c, sequences) for c in proto.computations)
        if self.newer:
            self.notes.append(
                "the proto has fields that this reader does not know; instructions that have them "
                "show them as unknown_fields"
            )
        if proto.original_value_recovery_table:
            self.notes.append("the module's origin_recovery_table was left out")
        computations, entry = in_call_order(as_text_says(computations), self.entry())
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
        positions: dict[int, int] = {}
        instructions: list[Instruction] = []
        try:
            for number, instruction in enumerate(protos):
                made = self.instruction(instruction, positions, instructions)
                positions[made.id] = number
                instructions.append(made)
        except _UnresolvedError as error:
            raise _unresolved(proto, protos[len(instructions)], error.args[0]) from None
        root = positions.get(proto.root_id, len(protos) - 1)
        return Computation(proto.name, tuple(instructions), root, proto.execution_thread or "main")

    def instruction(
        self,
        proto: pb.LazyInstruction,
        positions: Mapping[int, int],
        before: list[Instruction],
    ) -> Instruction:
        """One instruction; `own` holds what has a place of its own, `fields` the attributes."""
        own: dict[object, Any] = {}
        fields: list[tuple[str, object]] = []
        for field, value in proto.ListFields():
            entry = _ATTRIBUTE.get(field)
            if entry is None:
                own[field] = value
            else:
                fields.append((entry[0], tuple(value) if entry[1] else value))
        opcode = own.get(_OPCODE, "")
        shape = self.shapes[own.get(_SHAPE, b"")]
        try:
            operands = tuple([positions[i] for i in own.get(_OPERANDS, ())])
        except KeyError as error:
            raise _UnresolvedError(error.args[0]) from None
        called: tuple[tuple[str, int], ...] = ()
        control: tuple[int, ...] = ()
        literal: Literal | None = None
        attrs: Attributes = ()
        if _CALLED in own:
            called = self.called(proto, opcode, _dtype(operands, before))
        if _CONTROL in own:
            control = self.control(proto, positions)
        if _LITERAL in own or opcode == "constant":
            literal = self.literals[own.get(_LITERAL, b"")]
            if opcode == "custom-call":
                fields.append(("literal", own[_LITERAL]))
        if _ORIGIN in own:
            fields.append(("original_value", own[_ORIGIN]))
        if fields or opcode in ALWAYS or self.newer:
            dtype = _dtype(operands, before) if opcode == "compare" else ""
            by_shape = _ORIGIN in own or opcode in _BY_SHAPE
            attrs = self.attrs(proto, opcode, fields, shape if by_shape else None, dtype)
        return Instruction(
            own.get(_NAME, ""),
            own.get(_ID, 0),
            opcode,
            shape,
            operands,
            called,
            attrs,
            control,
            own.get(_PARAMETER, 0) if opcode == "parameter" else -1,
            literal,
            self.metadata[own[_METADATA]] if _METADATA in own else NO_METADATA,
        )

    def attrs(
        self,
        proto: pb.LazyInstruction,
        opcode: str,
        fields: list[tuple[str, object]],
        shape: Shape | None,
        operand_dtype: str,
    ) -> Attributes:
        """The attributes; each distinct set of fields is worked out once.

        `shape` and `operand_dtype` are given where an attribute hangs on them.
        """
        key = (opcode, operand_dtype, shape, *fields)
        known = self.attributes.get(key)
        if known is None:
            result = self.shapes[proto.shape] if shape is None else shape
            known = attributes(opcode, dict(fields), result, operand_dtype)
            self.attributes[key] = known
        return _with_unknown(known, proto) if self.newer else known

    def called(
        self, proto: pb.LazyInstruction, opcode: str, operand_dtype: str
    ) -> tuple[tuple[str, int], ...]:
        ids = proto.called_computation_ids
        if not ids:
            return ()
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


class _Decoded(dict[bytes, T]):
    """Serialized sub-messages to what they say, each decoded when first asked for."""

    def __init__(self, decode: Callable[[bytes], T]) -> None:
        super().__init__()
        self.decode = decode

    def __missing__(self, data: bytes) -> T:
        decoded = self[data] = self.decode(data)
        return decoded


def _metadata(data: bytes) -> Metadata:
    m = pb.OpMetadata.FromString(data)
    return Metadata(m.op_name, m.op_type, m.source_file, m.source_line, m.stack_frame_id)


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


def _with_unknown(known: Attributes, proto: pb.LazyInstruction) -> Attributes:
    """`known` and the numbers and values of the fields that the schema lacks."""
    unknown: Any = UnknownFieldSet(proto)  # iterable, whatever its stubs say
    texts = [f"{field.field_number}={field.data!r}" for field in unknown]
    if not texts:
        return known
    merged = dict(known)
    merged["unknown_fields"] = ",".join([*filter(None, [merged.get("unknown_fields")]), *texts])
    return tuple(sorted(merged.items()))


class _UnresolvedError(Exception):
    """An operand's id that names no instruction before its user."""


def _unresolved(owner: pb.LazyComputation, proto: pb.LazyInstruction, number: int) -> HloscopeError:
    later = any(i.id == number for i in owner.instructions)
    problem = (
        f"instruction '{proto.name}' comes before one of its operands"
        if later
        else f"instruction '{proto.name}' uses id {number}, which names no instruction"
    )
    return HloscopeError(
        problem,
        where=f"computation '{owner.name}'",
        remedy="dump the module again: the proto is damaged",
    )


def _dtype(operands: tuple[int, ...], before: list[Instruction]) -> str:
    """Element type of the first operand, empty without one."""
    return before[operands[0]].shape.dtype if operands else ""
