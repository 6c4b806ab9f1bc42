"""All attributes of one instruction, as XLA prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hloscope.hlo.attribute_fields import ALWAYS, READ
from hloscope.hlo.attribute_text import Attributes, braced, shape
from hloscope.hlo.comparisons import default_comparison
from hloscope.hlo.original_value import format_original_value
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.sharding_text import format_sharding
from hloscope.model.hlo import Shape

_DIMENSION_OPCODES = {"iota": "iota_dimension", "reshape": "inferred_dimension"}
_FULL = pb.HloInstructionProto.DESCRIPTOR.fields_by_name


def attributes(
    opcode: str, fields: Mapping[str, Any], result: Shape, operand_dtype: str
) -> Attributes:
    """The attributes that the proto's `fields` stand for, sorted by name.

    Args:
      fields: set fields of the instruction by name, sub-messages serialized, lists as tuples.
      result: the instruction's shape.
      operand_dtype: element type of the first operand, empty without one.
    """
    found: dict[str, str] = dict(ALWAYS.get(opcode, ()))
    unknown: list[str] = []
    for name, value in fields.items():
        if name in READ:
            found.update(READ[name](value))
            unknown += _unknown(name, value)
    if "dimensions" in fields:
        found.update(_dimensions(opcode, fields["dimensions"]))
    if "original_value" in fields:
        origin = format_original_value(fields["original_value"], result)
        if origin:
            found["origin"] = origin
    _by_opcode(opcode, found, fields, operand_dtype)
    if unknown:
        found["unknown_fields"] = ",".join(unknown)
    return tuple(sorted(found.items()))


def _dimensions(opcode: str, dims: tuple[int, ...]) -> Attributes:
    name = _DIMENSION_OPCODES.get(opcode)
    if name is None:
        return (("dimensions", braced(dims)),)
    return ((name, str(dims[0])),) if dims[0] >= 0 else ()


def _by_opcode(
    opcode: str, found: dict[str, str], fields: Mapping[str, Any], operand_dtype: str
) -> None:
    """What an opcode says in its own way."""
    if opcode == "compare" and found.get("type") == default_comparison(operand_dtype):
        del found["type"]
    elif opcode == "custom-call":
        if found.pop("constrain_layout", None):
            found.setdefault("operand_layout_constraints", "{}")
        if "literal" in fields:
            literal = pb.LiteralProto.FromString(fields["literal"])
            found["literal"] = shape(literal.shape.SerializeToString())
    elif opcode == "domain":
        sides = (
            format_sharding(pb.OpSharding.FromString(fields.get(name, b"")))
            for name in ("domain_entry_sharding", "domain_exit_sharding")
        )
        found["domain"] = '{{kind="sharding", entry={}, exit={}}}'.format(*sides)


def _unknown(name: str, value: Any) -> list[str]:
    """The field's name, where a sub-message inside it has fields that the schema lacks."""
    message = _FULL[name].message_type
    if message is None:
        return []
    for data in value if isinstance(value, tuple) else (value,):
        parsed = message._concrete_class.FromString(data)
        size = parsed.ByteSize()
        parsed.DiscardUnknownFields()
        if parsed.ByteSize() != size:
            return [name]
    return []
