"""Which properties of two paired instructions differ, by class."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.hlo import format_shape
from hloscope.model.canonical import Label
from hloscope.model.changes import ChangeClass, FieldChange
from hloscope.model.hlo import Layout, Shape

_CLASS_OF_ATTRIBUTE = {
    "sharding": ChangeClass.SHARDING,
    "operand_precision": ChangeClass.PRECISION,
    "algorithm": ChangeClass.PRECISION,
    "result_accuracy": ChangeClass.PRECISION,
    "replica_groups": ChangeClass.REPLICA_GROUPS,
    "source_target_pairs": ChangeClass.REPLICA_GROUPS,
    "use_global_device_ids": ChangeClass.REPLICA_GROUPS,
    "output_to_operand_aliasing": ChangeClass.DONATION,
    "kind": ChangeClass.FUSION,
    "backend_config": ChangeClass.CONFIG,
}


def attribute_class(name: str) -> ChangeClass:
    """The class of a change of this attribute."""
    return _CLASS_OF_ATTRIBUTE.get(name, ChangeClass.ATTRIBUTE)


def label_changes(lhs: Label, rhs: Label) -> Iterator[FieldChange]:
    """What differs between two labels."""
    if lhs.opcode != rhs.opcode:
        yield FieldChange(ChangeClass.OPCODE, "opcode", lhs.opcode, rhs.opcode)
    yield from shape_changes(lhs.shape, rhs.shape)
    yield from _attribute_changes(dict(lhs.attrs), dict(rhs.attrs))
    if lhs.literal != rhs.literal:
        yield FieldChange(ChangeClass.CONSTANT, "value", lhs.literal, rhs.literal)
    yield from _attribute_changes(dict(lhs.kept), dict(rhs.kept))


def shape_changes(lhs: Shape, rhs: Shape) -> Iterator[FieldChange]:
    """Element types apart from extents; layouts are not looked at."""
    if lhs == rhs:
        return
    if _dtypes(lhs) != _dtypes(rhs):
        yield FieldChange(ChangeClass.DTYPE, "dtype", _dtypes(lhs), _dtypes(rhs))
    if _extents(lhs) != _extents(rhs):
        yield FieldChange(ChangeClass.SHAPE, "shape", _plain(lhs), _plain(rhs))


def layout_changes(lhs: Shape, rhs: Shape) -> Iterator[FieldChange]:
    """Dimension order, tiling and memory space, leaf by leaf of a tuple."""
    for left, right in zip(_leaves(lhs), _leaves(rhs), strict=False):
        if left.layout is not None and right.layout is not None:
            yield from _one_layout(left.layout, right.layout)


def _one_layout(lhs: Layout, rhs: Layout) -> Iterator[FieldChange]:
    if (lhs.minor_to_major, lhs.rest) != (rhs.minor_to_major, rhs.rest):
        yield FieldChange(ChangeClass.LAYOUT, "layout", _order(lhs), _order(rhs))
    if lhs.tiles != rhs.tiles:
        yield FieldChange(ChangeClass.TILING, "tiling", _tiles(lhs), _tiles(rhs))
    if lhs.memory_space != rhs.memory_space:
        left, right = f"S({lhs.memory_space})", f"S({rhs.memory_space})"
        yield FieldChange(ChangeClass.MEMORY_SPACE, "memory space", left, right)


def _attribute_changes(lhs: dict[str, str], rhs: dict[str, str]) -> Iterator[FieldChange]:
    for name in sorted({*lhs, *rhs}):
        left, right = lhs.get(name), rhs.get(name)
        if left != right:
            yield FieldChange(attribute_class(name), name, left, right)


def _leaves(shape: Shape) -> Iterator[Shape]:
    if shape.dtype != "tuple":
        yield shape
    for element in shape.elements:
        yield from _leaves(element)


def _dtypes(shape: Shape) -> str:
    if shape.dtype != "tuple":
        return shape.dtype
    return "(" + ", ".join(_dtypes(element) for element in shape.elements) + ")"


def _extents(shape: Shape) -> tuple[object, ...]:
    elements = tuple(_extents(element) for element in shape.elements)
    return (shape.dims, shape.dynamic, shape.rest, elements)


def _plain(shape: Shape) -> str:
    """The shape without layouts, as HLO text."""
    elements = tuple(_without_layout(element) for element in shape.elements)
    return format_shape(shape._replace(layout=None, elements=elements))


def _without_layout(shape: Shape) -> Shape:
    elements = tuple(_without_layout(element) for element in shape.elements)
    return shape._replace(layout=None, elements=elements)


def _order(layout: Layout) -> str:
    return "{" + ",".join(map(str, layout.minor_to_major)) + "}" + layout.rest


def _tiles(layout: Layout) -> str:
    return "".join("(" + ",".join(map(str, tile)) + ")" for tile in layout.tiles)
