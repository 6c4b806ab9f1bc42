"""Sub-messages of an instruction in XLA's text form.

Each function takes the serialized sub-message and gives the attributes that XLA's
`HloInstruction::ToString` prints for it, as (name, text) pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hloscope.hlo.backend_config import canonical_config
from hloscope.hlo.quoting import quote
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.shape_proto import Shapes
from hloscope.hlo.shape_text import format_shape
from hloscope.hlo.sharding_text import (
    format_groups,
    format_iota_groups,
    format_mesh_groups,
    format_sharding,
    joined,
)

Attributes = tuple[tuple[str, str], ...]


def braced(numbers: Iterable[int]) -> str:
    """`{1,2,3}`."""
    return f"{{{joined(numbers)}}}"


def window(data: bytes) -> Attributes:
    """`window={size=3x3 stride=2x2 pad=1_1x0_0 lhs_dilate=.. rhs_dilate=.. rhs_reversal=..}`."""
    dims = pb.Window.FromString(data).dimensions
    if not dims:
        return ()
    parts = ["size=" + "x".join(str(d.size) for d in dims)]
    if any(d.stride != 1 for d in dims):
        parts.append("stride=" + "x".join(str(d.stride) for d in dims))
    if any(d.padding_low or d.padding_high for d in dims):
        parts.append("pad=" + "x".join(f"{d.padding_low}_{d.padding_high}" for d in dims))
    if any(d.base_dilation != 1 for d in dims):
        parts.append("lhs_dilate=" + "x".join(str(d.base_dilation) for d in dims))
    if any(d.window_dilation != 1 for d in dims):
        parts.append("rhs_dilate=" + "x".join(str(d.window_dilation) for d in dims))
    if any(d.window_reversal for d in dims):
        parts.append("rhs_reversal=" + "x".join(str(int(d.window_reversal)) for d in dims))
    return (("window", f"{{{' '.join(parts)}}}"),)


def dim_labels(data: bytes) -> Attributes:
    """`dim_labels=b01f_01io->b01f`."""
    d = pb.ConvolutionDimensionNumbers.FromString(data)
    lhs = _labels(
        {d.input_batch_dimension: "b", d.input_feature_dimension: "f"}, d.input_spatial_dimensions
    )
    rhs = _labels(
        {d.kernel_input_feature_dimension: "i", d.kernel_output_feature_dimension: "o"},
        d.kernel_spatial_dimensions,
    )
    out = _labels(
        {d.output_batch_dimension: "b", d.output_feature_dimension: "f"},
        d.output_spatial_dimensions,
    )
    return (("dim_labels", f"{lhs}_{rhs}->{out}"),)


def _labels(named: dict[int, str], spatial: Sequence[int]) -> str:
    """One letter or digit a dimension; `?` is a dimension that the numbers leave out."""
    labels = {**named, **{dim: str(n) for n, dim in enumerate(spatial)}}
    size = min(max(labels) + 1, 64)
    return "".join(labels.get(n, "?") for n in range(size))


def padding(data: bytes) -> Attributes:
    """`padding=0_1x2_2_1`; the third number, of interior padding, where any dimension has it."""
    dims = pb.PaddingConfig.FromString(data).dimensions
    interior = any(d.interior_padding for d in dims)
    return (
        (
            "padding",
            "x".join(
                f"{d.edge_padding_low}_{d.edge_padding_high}"
                + (f"_{d.interior_padding}" if interior else "")
                for d in dims
            ),
        ),
    )


def slice_ranges(parts: Iterable[bytes]) -> str:
    """`{[0:3:1], [0:4:2]}`; strides are left out where all of them are 1."""
    dims = [pb.HloInstructionProto.SliceDimensions.FromString(part) for part in parts]
    strided = any(d.stride != 1 for d in dims)
    ranges = (f"[{d.start}:{d.limit}{f':{d.stride}' if strided else ''}]" for d in dims)
    return f"{{{', '.join(ranges)}}}"


def dot_dimensions(data: bytes) -> Attributes:
    """`lhs_batch_dims={0}, lhs_contracting_dims={2}, ...`."""
    return _dot(pb.DotDimensionNumbers.FromString(data))


def _dot(d: pb.DotDimensionNumbers) -> Attributes:
    batch: list[tuple[str, str]] = []
    if d.lhs_batch_dimensions:
        batch.append(("lhs_batch_dims", braced(d.lhs_batch_dimensions)))
    if d.rhs_batch_dimensions:
        batch.append(("rhs_batch_dims", braced(d.rhs_batch_dimensions)))
    return (
        ("lhs_contracting_dims", braced(d.lhs_contracting_dimensions)),
        ("rhs_contracting_dims", braced(d.rhs_contracting_dimensions)),
        *batch,
    )


def ragged_dot_dimensions(data: bytes) -> Attributes:
    """As `dot_dimensions`, with `lhs_ragged_dims={0}` and `rhs_group_dims={0}`."""
    d = pb.RaggedDotDimensionNumbers.FromString(data)
    group = (("rhs_group_dims", braced(d.rhs_group_dimensions)),) if d.rhs_group_dimensions else ()
    return (
        *_dot(d.dot_dimension_numbers),
        ("lhs_ragged_dims", braced(d.lhs_ragged_dimensions)),
        *group,
    )


def gather_dimensions(data: bytes) -> Attributes:
    """`offset_dims={..}, collapsed_slice_dims={..}, start_index_map={..}, index_vector_dim=1`."""
    d = pb.GatherDimensionNumbers.FromString(data)
    batching: list[tuple[str, str]] = []
    if d.operand_batching_dims:
        batching.append(("operand_batching_dims", braced(d.operand_batching_dims)))
    if d.start_indices_batching_dims:
        batching.append(("start_indices_batching_dims", braced(d.start_indices_batching_dims)))
    return (
        ("offset_dims", braced(d.offset_dims)),
        ("collapsed_slice_dims", braced(d.collapsed_slice_dims)),
        ("start_index_map", braced(d.start_index_map)),
        ("index_vector_dim", str(d.index_vector_dim)),
        *batching,
    )


def scatter_dimensions(data: bytes) -> Attributes:
    """As `gather_dimensions`, under the names that scatter has for them."""
    d = pb.ScatterDimensionNumbers.FromString(data)
    batching: list[tuple[str, str]] = []
    if d.input_batching_dims:
        batching.append(("input_batching_dims", braced(d.input_batching_dims)))
    if d.scatter_indices_batching_dims:
        batching.append(("scatter_indices_batching_dims", braced(d.scatter_indices_batching_dims)))
    return (
        ("update_window_dims", braced(d.update_window_dims)),
        ("inserted_window_dims", braced(d.inserted_window_dims)),
        ("scatter_dims_to_operand_dims", braced(d.scatter_dims_to_operand_dims)),
        ("index_vector_dim", str(d.index_vector_dim)),
        *batching,
    )


def triangular_solve(data: bytes) -> Attributes:
    """The fields of `TriangularSolveOptions` that are set."""
    options = pb.TriangularSolveOptions.FromString(data)
    flags = tuple(
        (name, "true") for name in ("left_side", "lower", "unit_diagonal") if getattr(options, name)
    )
    kinds = pb.TriangularSolveOptions.Transpose
    if options.transpose_a not in kinds.values():
        return flags
    return (*flags, ("transpose_a", kinds.Name(options.transpose_a)))


def cholesky(data: bytes) -> Attributes:
    """`lower=true`."""
    return (("lower", "true"),) if pb.CholeskyOptions.FromString(data).lower else ()


def precision(data: bytes) -> Attributes:
    """`operand_precision={highest,default}` and a dot's `algorithm`."""
    config = pb.PrecisionConfig.FromString(data)
    attributes: list[tuple[str, str]] = []
    if any(config.operand_precision):
        names = {0: "default", 1: "high", 2: "highest"}
        text = ",".join(names.get(p, f"precision{p}") for p in config.operand_precision)
        attributes.append(("operand_precision", f"{{{text}}}"))
    if config.algorithm:
        values = pb.PrecisionConfig.Algorithm
        known = config.algorithm in values.values()
        name = values.Name(config.algorithm) if known else f"ALG_{config.algorithm}"
        attributes.append(("algorithm", name.removeprefix("ALG_").lower()))
    return tuple(attributes)


def frontend_attributes(data: bytes) -> Attributes:
    """`frontend_attributes={key="value",other={n = 1 : i32}}`, sorted by key."""
    text = format_frontend_attributes(pb.FrontendAttributes.FromString(data))
    return (("frontend_attributes", text),) if text else ()


def format_frontend_attributes(proto: pb.FrontendAttributes) -> str:
    """The same, of a parsed message; empty where there are none."""
    parts = (
        f"{key}={value}" if value[:1] == "{" else f"{key}={quote(value)}"
        for key, value in sorted(proto.map.items())
    )
    text = ",".join(parts)
    return f"{{{text}}}" if text else ""


def statistics(data: bytes) -> Attributes:
    """`statistics={visualizing_index=1,stat-1=33}`."""
    viz = pb.StatisticsViz.FromString(data)
    if not viz.statistics:
        return ()
    stats = [f"{s.stat_name}={s.stat_val:g}" for s in viz.statistics]
    text = ",".join([f"visualizing_index={viz.stat_index_to_visualize}", *stats])
    return (("statistics", f"{{{text}}}"),)


def result_accuracy(data: bytes) -> Attributes:
    """`result_accuracy={mode=highest}` or `{tolerance={atol=0,rtol=0,ulps=2}}`."""
    accuracy = pb.ResultAccuracy.FromString(data)
    if accuracy.HasField("tolerance"):
        t = accuracy.tolerance
        text = f"tolerance={{atol={t.atol:.6g},rtol={t.rtol:.6g},ulps={t.ulps}}}"
    elif accuracy.mode == pb.ResultAccuracy.HIGHEST:
        text = "mode=highest"
    else:
        return ()
    return (("result_accuracy", f"{{{text}}}"),)


def aliasing(parts: Iterable[bytes]) -> str:
    """`{{0}: (1, {}), {1}: (0, {0})}`."""
    pairs = (pb.OutputOperandAliasing.FromString(part) for part in parts)
    texts = (
        f"{braced(p.output_shape_index)}: ({p.operand_index}, {braced(p.operand_shape_index)})"
        for p in pairs
    )
    return f"{{{', '.join(texts)}}}"


def source_target_pairs(parts: Iterable[bytes]) -> str:
    """`{{0,1},{1,0}}`."""
    pairs = (pb.SourceTarget.FromString(part) for part in parts)
    return "{" + ",".join(f"{{{p.source},{p.target}}}" for p in pairs) + "}"


def replica_groups(parts: Iterable[bytes]) -> str:
    """Replica groups in the first notation."""
    return format_groups(pb.ReplicaGroup.FromString(part) for part in parts)


def device_list(data: bytes) -> Attributes:
    """Replica groups of a `CollectiveDeviceListProto`; older ones have iota groups inside."""
    devices = pb.CollectiveDeviceListProto.FromString(data)
    if devices.HasField("iota_replica_group_list"):
        return (("replica_groups", format_iota_groups(devices.iota_replica_group_list)),)
    return (("replica_groups", format_groups(devices.replica_groups)),)


def iota_device_list(data: bytes) -> Attributes:
    """Replica groups in the second notation."""
    groups = pb.IotaReplicaGroupListProto.FromString(data)
    return (("replica_groups", format_iota_groups(groups)),)


def mesh_device_list(data: bytes) -> Attributes:
    """Replica groups in the third notation."""
    groups = pb.MeshAxesReplicaGroupListProto.FromString(data)
    return (("replica_groups", format_mesh_groups(groups)),)


def sharding(data: bytes) -> Attributes:
    """`sharding={devices=[2,1]<=[2]}`, without the metadata that it may carry."""
    return (("sharding", format_sharding(pb.OpSharding.FromString(data))),)


def shape(data: bytes) -> str:
    """A shape with its layout."""
    return format_shape(Shapes()[data])


def operand_layouts(parts: Iterable[bytes]) -> str:
    """`{f32[2,3]{1,0}, f32[]}`."""
    return f"{{{', '.join(shape(part) for part in parts)}}}"


def replication(data: bytes) -> Attributes:
    """`parameter_replication={true,false}`."""
    flags = pb.ParameterReplication.FromString(data).replicated_at_leaf_buffers
    return (("parameter_replication", f"{{{','.join(str(f).lower() for f in flags)}}}"),)


def backend_config(data: bytes) -> Attributes:
    """The backend's own text: JSON in one form, other objects as they are, the rest quoted."""
    text = data.decode("utf-8", "surrogateescape")
    return (("backend_config", canonical_config(text) if is_dictionary(text) else quote(data)),)


_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]++|\\.)*+"|"', re.DOTALL)


def is_dictionary(text: str) -> bool:
    """Whether `text` can stand without quotes: one pair of braces around all of it."""
    if text[:1] != "{" or text[-1:] != "}":
        return False
    depth = 0
    for token in _BRACE_OR_STRING.finditer(text):
        if token[0] == '"':
            return False
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end() == len(text)
    return False
