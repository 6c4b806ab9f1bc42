"""All attributes of one instruction, as XLA prints them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from google.protobuf.message_factory import GetMessageClass

from hloscope.hlo.attribute_fields import ALWAYS, READ
from hloscope.hlo.attribute_text import Attributes, braced, shape
from hloscope.hlo.comparisons import canonical_comparison
from hloscope.hlo.original_value import format_original_value
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.sharding_text import format_sharding
from hloscope.model.hlo import Shape

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

# values of fields that are kept: most instructions of a module share them
DISTINCT = 1 << 12
_DIMENSION_OPCODES = {"iota": "iota_dimension", "reshape": "inferred_dimension"}
_FULL = pb.HloInstructionProto.DESCRIPTOR.fields_by_name


def attributes(
    opcode: str, fields: Mapping[str, Any], result: Shape, operand_dtype: str
) -> Attributes:
    """The attributes that the proto's `fields` stand for, sorted by name.

    Args:
      opcode: the instruction's.
      fields: set fields of the instruction by name, sub-messages serialized, lists as tuples.
      result: the instruction's shape.
      operand_dtype: element type of the first operand, empty without one.
    """
    found: dict[str, str] = dict(ALWAYS.get(opcode, ()))
    unknown: list[str] = []
    for name, value in fields.items():
        if name in READ:
            texts, incomplete = _read(name, value)
            found.update(texts)
            unknown += incomplete
    if "dimensions" in fields:
        found.update(_dimensions(opcode, fields["dimensions"]))
    if "original_value" in fields:
        origin = format_original_value(fields["original_value"], result)
        if origin:
            found["origin"] = origin
    _by_opcode(opcode, found, fields, result, operand_dtype)
    if unknown:
        found["unknown_fields"] = ",".join(unknown)
    return tuple(sorted(found.items()))


@lru_cache(DISTINCT)
def _read(name: str, value: Hashable) -> tuple[Attributes, tuple[str, ...]]:
    """What one field says, and its name where it holds more than is known."""
    return READ[name](value), tuple(_unknown(name, value))


def _dimensions(opcode: str, dims: tuple[int, ...]) -> Attributes:
    name = _DIMENSION_OPCODES.get(opcode)
    if name is None:
        return (("dimensions", braced(dims)),)
    return ((name, str(dims[0])),) if dims[0] >= 0 else ()


def _by_opcode(
    opcode: str,
    found: dict[str, str],
    fields: Mapping[str, Any],
    result: Shape,
    operand_dtype: str,
) -> None:
    """What an opcode says in its own way."""
    if opcode == "compare":
        canonical_comparison(found, operand_dtype)
    elif opcode == "custom-call":
        if found.pop("constrain_layout", None):
            found.setdefault("operand_layout_constraints", "{}")
        if "literal" in fields:
            literal = pb.LiteralProto.FromString(fields["literal"])
            found["literal"] = shape(literal.shape.SerializeToString())
    elif opcode.startswith("collective-permute") and "dynamic_slice_sizes" in found:
        del found["dynamic_slice_sizes"]
        found["slice_sizes"] = _slice_groups(fields["dynamic_slice_sizes"], result)
    elif opcode == "domain":
        # XLA's text calls the side of the user entry, its proto calls it exit
        sides = (
            format_sharding(pb.OpSharding.FromString(fields.get(name, b"")))
            for name in ("domain_exit_sharding", "domain_entry_sharding")
        )
        found["domain"] = '{{kind="sharding", entry={}, exit={}}}'.format(*sides)


def _slice_groups(sizes: tuple[int, ...], result: Shape) -> str:
    """`{{128,32}}`: one group of sizes for each slice that an in-place permute sends."""
    array = result
    while array.elements:
        array = array.elements[0]
    rank = max(len(array.dims), 1)
    groups = (braced(sizes[n : n + rank]) for n in range(0, len(sizes), rank))
    return f"{{{','.join(groups)}}}"


def _unknown(name: str, value: Any) -> list[str]:
    """The field's name, where a sub-message inside it has fields that the schema lacks."""
    message = _FULL[name].message_type
    if message is None:
        return []
    for data in value if isinstance(value, tuple) else (value,):
        parsed: Any = GetMessageClass(cast("Descriptor", message)).FromString(data)
        size = parsed.ByteSize()
        parsed.DiscardUnknownFields()
        if parsed.ByteSize() != size:
            return [name]
    return []
