"""`ShapeProto` to `Shape`."""

from __future__ import annotations

from hloscope.hlo.dtypes import name_of
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.shape_text import format_shape
from hloscope.model.hlo import Layout, Shape

_LEVELS = {0: "D", 1: "C", 2: "S", 3: "H"}  # Layout::Print's letters for DimLevelType
_UNBOUNDED = -(1 << 63)  # Shape::kUnboundedSize
# Tile::kCombineDimension is stored as the least int64; XLA prints it as `*`
_COMBINE = -(1 << 63)
# XLA's text has D L # * E SC P M in this order around T and S


class Shapes(dict[bytes, Shape]):
    """Serialized `ShapeProto`s to shapes, each distinct one decoded once."""

    def __init__(self) -> None:
        super().__init__()
        self.layouts: dict[bytes, Layout] = {}

    def __missing__(self, data: bytes) -> Shape:
        shape = self[data] = self.decode(data)
        return shape

    def decode(self, data: bytes) -> Shape:
        """One shape, its elements and layout looked up in turn."""
        proto = pb.LazyShape.FromString(data)
        dtype = name_of(proto.element_type)
        if dtype in ("tuple", "buffer"):
            return Shape(dtype, (), None, tuple([self[part] for part in proto.tuple_shapes]))
        layout = self.layout(proto.layout) if proto.HasField("layout") else None
        dims = tuple(proto.dimensions)
        if not dims:
            # XLA prints no layout for a plain scalar, so text could not give one
            return Shape(dtype, (), None if layout == Layout(()) else layout)
        flags = proto.is_dynamic_dimension
        dynamic = tuple([n for n, flag in enumerate(flags) if flag]) if flags else ()
        if dynamic:
            dims = tuple(-1 if d == _UNBOUNDED else d for d in dims)
        return Shape(dtype, dims, layout, (), dynamic)

    def layout(self, data: bytes) -> Layout:
        """One layout."""
        layout = self.layouts.get(data)
        if layout is None:
            layout = self.layouts[data] = read_layout(pb.LayoutProto.FromString(data))
        return layout


def read_shape(proto: pb.ShapeProto) -> Shape:
    """One shape, in the form that `shape_text.read_shape` gives for XLA's text of it."""
    return Shapes()[proto.SerializeToString()]


def read_layout(proto: pb.LayoutProto) -> Layout:
    """One layout."""
    tiles = tuple(
        tuple(-1 if d == _COMBINE else d for d in tile.dimensions) for tile in proto.tiles
    )
    return Layout(tuple(proto.minor_to_major), tiles, proto.memory_space, _rest(proto))


def _rest(proto: pb.LayoutProto) -> str:
    """The uncommon properties, in the order in which XLA's `Layout::Print` has them."""
    parts: list[str] = []
    if any(proto.dim_level_types):
        parts.append(f"D({','.join(_levels(proto))})")
    if proto.tail_padding_alignment_in_elements > 1:
        parts.append(f"L({proto.tail_padding_alignment_in_elements})")
    if proto.index_primitive_type:
        parts.append(f"#({name_of(proto.index_primitive_type)})")
    if proto.pointer_primitive_type:
        parts.append(f"*({name_of(proto.pointer_primitive_type)})")
    if proto.element_size_in_bits:
        parts.append(f"E({proto.element_size_in_bits})")
    for split in proto.split_configs:
        indices = ",".join(map(str, split.split_indices))
        parts.append(f"SC({split.dimension}:{indices})")
    if proto.HasField("physical_shape"):
        parts.append(f"P({format_shape(read_shape(proto.physical_shape))})")
    if proto.dynamic_shape_metadata_prefix_bytes:
        parts.append(f"M({proto.dynamic_shape_metadata_prefix_bytes})")
    return "".join(parts)


def _levels(proto: pb.LayoutProto) -> list[str]:
    """Dimension levels; `+` marks one that is not unique, `~` one that is not ordered."""
    unique = list(proto.dim_unique) or [True] * len(proto.dim_level_types)
    ordered = list(proto.dim_ordered) or [True] * len(proto.dim_level_types)
    return [
        _LEVELS.get(level, "?") + ("" if u else "+") + ("" if o else "~")
        for level, u, o in zip(proto.dim_level_types, unique, ordered, strict=False)
    ]
