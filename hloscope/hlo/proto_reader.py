"""HLO protos to `Module`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

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
# opcodes with an attribute that hangs on the shape
_BY_SHAPE = frozenset({"collective-permute", "collective-permute-start"})
_BY_OPCODE = ("dimensions", "domain_entry_sharding", "domain_exit_sharding")
# fields that become attributes, with whether they are lists
_ATTRIBUTE = {
    _FIELDS[name]: (name, bool(_FIELDS[name].is_repeated)) for name in (*READ, *_BY_OPCODE)
}

# modules by the digest of what they were read from: both sides often are one
_IN_USE: WeakValueDictionary[bytes, Module] = WeakValueDictionary()


def read_proto(data: bytes) -> Module:
    """Reads a serialized `HloProto`, `HloModuleProto` or `HloSnapshot`.

    Attribute values come out as XLA's HLO text has them, so that a program's proto and text give
    equal modules. The same bytes give the same module, as long as it is in use.

    Raises:
      HloscopeError: `data` is none of these, or is damaged.
    """
    digest = blake2b(data, digest_size=16).digest()
    known = _IN_USE.get(digest)
    if known is not None:
        return known
    try:
        module = _ModuleReader(*_lazy_module(data)).read()
    except (DecodeError, UnicodeDecodeError) as error:
        raise HloscopeError(
            f"the HLO proto is damaged: {error}", remedy="dump the module again"
        ) from None
    _IN_USE[digest] = module
    return module


def _lazy_module(data: bytes) -> tuple[Any, pb.LazyModule]:
    """The message in `data` and the module in it, its instructions' parts not yet decoded.

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
            return whole, module
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


class _Kind(NamedTuple):
    """What instructions have in common whose protos differ in what is their own alone."""

    opcode: str
    shape: Shape
    attrs: Attributes
    parameter: int
    literal: Literal | None


class _ModuleReader:
    """One module, which it takes apart; every distinct sub-message is decoded once."""

    def __init__(self, whole: Any, proto: pb.LazyModule) -> None:
        self.whole = whole
        self.proto = proto
        self.newer = False
        self.positions = {c.id: n for n, c in enumerate(proto.computations)}
        self.shapes = Shapes()
        self.metadata = _Decoded(_metadata)
        self.metadata[b""] = NO_METADATA
        self.literals = _Decoded(lambda data: read_literal(pb.LiteralProto.FromString(data)))
        # by all that is not an instruction's own; a comparison's attributes hang on its operands
        self.kinds: dict[bytes | tuple[bytes, str], _Kind] = {}
        self.attributes: dict[tuple[object, ...], Attributes] = {}
        self.notes: list[str] = []

    def read(self) -> Module:
        proto = self.proto
        sequences = {key: value.instruction_ids for key, value in proto.schedule.sequences.items()}
        computations = tuple(self.computation(c, sequences) for c in proto.computations)
        if self.newer or self.is_newer():
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

    def is_newer(self) -> bool:
        """Whether anything but the instructions, now read, has fields that the schema lacks."""
        for computation in self.proto.computations:
            del computation.instructions[:]
        size = self.whole.ByteSize()
        self.whole.DiscardUnknownFields()
        return bool(self.whole.ByteSize() != size)

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
        """One instruction; what is its own leaves the proto, and the rest is the kind's key."""
        name, number, metadata = proto.name, proto.id, self.metadata[proto.metadata]
        try:
            operands = tuple(map(positions.__getitem__, proto.operand_ids[:]))
        except KeyError as error:
            raise _UnresolvedError(error.args[0]) from None
        callees: Sequence[int] = ()
        control: tuple[int, ...] = ()
        if proto.called_computation_ids:
            callees = proto.called_computation_ids[:]
            proto.ClearField("called_computation_ids")
        if proto.control_predecessor_ids:
            control = self.control(name, proto.control_predecessor_ids[:], positions)
            proto.ClearField("control_predecessor_ids")
        proto.ClearField("name")
        proto.ClearField("id")
        proto.ClearField("metadata")
        proto.ClearField("operand_ids")
        opcode, shape, attrs, parameter, literal = self.kind(proto, operands, before)
        called: tuple[tuple[str, int], ...] = ()
        if callees:
            called = self.called(name, callees, opcode, _dtype(operands, before))
        return Instruction(
            name,
            number,
            opcode,
            shape,
            operands,
            called,
            attrs,
            control,
            parameter,
            literal,
            metadata,
        )

    def kind(
        self, proto: pb.LazyInstruction, operands: tuple[int, ...], before: list[Instruction]
    ) -> _Kind:
        """What a proto without what is its own says, each distinct one worked out once."""
        data = proto.SerializeToString()
        found = self.kinds.get(data)
        if found is not None:
            return found
        if proto.opcode != "compare":
            found = self.kinds[data] = self.make_kind(proto, "")
            return found
        key = data, _dtype(operands, before)
        if key not in self.kinds:
            self.kinds[key] = self.make_kind(proto, key[1])
        return self.kinds[key]

    def make_kind(self, proto: pb.LazyInstruction, operand_dtype: str) -> _Kind:
        """`operand_dtype` is given where an attribute hangs on it."""
        fields: list[tuple[str, object]] = []
        for field, value in proto.ListFields():
            entry = _ATTRIBUTE.get(field)
            if entry is not None:
                fields.append((entry[0], tuple(value) if entry[1] else value))
        opcode, shape, literal = proto.opcode, self.shapes[proto.shape], None
        if opcode == "constant" or proto.HasField("literal"):
            literal = self.literals[proto.literal]
            if opcode == "custom-call":
                fields.append(("literal", proto.literal))
        origin = proto.HasField("original_value")
        if origin:
            fields.append(("original_value", proto.original_value))
        by_shape = shape if origin or opcode in _BY_SHAPE else None
        attrs = self.attrs(opcode, fields, shape, (operand_dtype, by_shape))
        unknown: Any = UnknownFieldSet(proto)  # sized and iterable, whatever its stubs say
        if len(unknown):
            self.newer = True
            attrs = _with_unknown(attrs, unknown)
        parameter = proto.parameter_number if opcode == "parameter" else -1
        return _Kind(opcode, shape, attrs, parameter, literal)

    def attrs(
        self,
        opcode: str,
        fields: list[tuple[str, object]],
        shape: Shape,
        hangs_on: tuple[str, Shape | None],
    ) -> Attributes:
        """The attributes; each distinct set of fields is worked out once.

        `hangs_on` has the operand's dtype and the shape where an attribute hangs on them.
        """
        if not fields and opcode not in ALWAYS:
            return ()
        key = (opcode, *hangs_on, *fields)
        known = self.attributes.get(key)
        if known is None:
            known = self.attributes[key] = attributes(opcode, dict(fields), shape, hangs_on[0])
        return known

    def called(
        self, name: str, ids: Sequence[int], opcode: str, operand_dtype: str
    ) -> tuple[tuple[str, int], ...]:
        called: list[tuple[str, int]] = []
        names = roles(opcode, len(ids), on_predicate=operand_dtype == "pred")
        for role, number in zip(names, ids, strict=True):
            position = self.positions.get(number)
            if position is None:
                self.notes.append(f"'{name}' calls a computation that the module lacks")
            else:
                called.append((role, position))
        return in_print_order(opcode, called)

    def control(
        self, name: str, ids: Sequence[int], positions: Mapping[int, int]
    ) -> tuple[int, ...]:
        found = [positions.get(number) for number in ids]
        if None in found:
            self.notes.append(f"'{name}' waits for an instruction that is not there")
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


def _with_unknown(known: Attributes, unknown: Any) -> Attributes:
    """`known` and the numbers and values of the fields that the schema lacks."""
    texts = [f"{field.field_number}={field.data!r}" for field in unknown]
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
