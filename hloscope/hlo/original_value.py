"""An instruction's original value, XLA's `origin` attribute."""

from __future__ import annotations

from hloscope.hlo.attribute_text import braced
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.model.hlo import Shape

Index = tuple[int, ...]


def format_original_value(data: bytes, shape: Shape) -> str:
    """`{({"a"}, {"b" {1}})}`: the unoptimized program's name for each leaf of a value."""
    value = pb.OriginalValueProto.FromString(data)
    if value.is_synthetic_call:
        return "{[synthetic_call]}"
    leaves: dict[Index, str] = {}
    for element in value.elements:
        array = element.original_array
        if array.instruction_name:
            place = f" {braced(array.shape_index)}" if array.shape_index else ""
            leaves[tuple(element.shape_index)] = f'"{array.instruction_name}"{place}'
    if not leaves:
        return ""
    calls = f',["{value.call_hierarchy}"]' if value.HasField("call_hierarchy") else ""
    return f"{{{_nested(shape, (), leaves)}{calls}}}"


def _nested(shape: Shape, index: Index, leaves: dict[Index, str]) -> str:
    if shape.dtype != "tuple":
        return f"{{{leaves.get(index, '')}}}"
    inner = (_nested(element, (*index, n), leaves) for n, element in enumerate(shape.elements))
    return f"({', '.join(inner)})"
