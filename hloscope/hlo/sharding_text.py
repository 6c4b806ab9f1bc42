"""Shardings and device lists of protos in XLA's text form."""

from __future__ import annotations

from collections.abc import Iterable

from hloscope.hlo.schema import hlo_pb2 as pb

_KINDS = {0: "replicated", 4: "manual", 5: "unknown", 6: "unreduced"}  # OpSharding.Type
_MAXIMAL, _TUPLE = 1, 2
_REDUCTIONS = {1: "max", 2: "min"}  # NamedShardingProto.ReductionOpProto; sum goes unsaid


def joined(numbers: Iterable[int]) -> str:
    """`1,2,3`."""
    return ",".join(map(str, numbers))


def format_sharding(proto: pb.OpSharding) -> str:
    """An `OpSharding` as XLA's `HloSharding::ToString` writes it, without its metadata."""
    if proto.HasField("named_sharding"):
        return format_named_sharding(proto.named_sharding)
    if proto.type == _TUPLE:
        return f"{{{', '.join(format_sharding(s) for s in proto.tuple_shardings)}}}"
    group = ""
    if proto.is_shard_group:
        kind = "shard_like" if proto.shard_group_type else "shard_as"
        group = f" {kind} {proto.shard_group_id}"
    if proto.type in _KINDS:
        return f"{{{_KINDS[proto.type]}{group}}}"
    if proto.type == _MAXIMAL:
        return f"{{maximal device={joined(proto.tile_assignment_devices)}{group}}}"
    return f"{{{_tiled(proto)}{group}}}"


def _tiled(proto: pb.OpSharding) -> str:
    devices = f"devices=[{joined(proto.tile_assignment_dimensions)}]"
    devices += (
        iota(proto.iota_reshape_dims, proto.iota_transpose_perm)
        if proto.iota_reshape_dims
        else joined(proto.tile_assignment_devices)
    )
    if proto.replicate_on_last_tile_dim:
        devices += " last_tile_dim_replicate"
    if proto.last_tile_dims:
        kinds = ", ".join(_KINDS.get(kind, str(kind)) for kind in proto.last_tile_dims)
        devices += f" last_tile_dims={{{kinds}}}"
    return devices


def iota(dims: Iterable[int], permutation: Iterable[int]) -> str:
    """`<=[4,2]T(1,0)`; the permutation is left out where it changes nothing."""
    order = list(permutation)
    turned = f"T({joined(order)})" if order != sorted(order) else ""
    return f"<=[{joined(dims)}]{turned}"


def format_named_sharding(proto: pb.NamedShardingProto) -> str:
    """A `NamedShardingProto` as XLA's `NamedSharding::ToString` writes it."""
    if proto.tuple_shardings:
        return f"{{{', '.join(format_named_sharding(s) for s in proto.tuple_shardings)}}}"
    mesh = format_mesh(proto.mesh)
    if not proto.mesh.axes and proto.mesh.device_ids:
        return f"{{{mesh}}}"
    whole = _whole(proto)
    if whole:
        return f"{{{mesh}, {whole}}}"
    dims = ", ".join(_dimension(proto.mesh, d) for d in proto.dim_shardings)
    parts = [mesh, f"[{dims}]"]
    for name, axes in (
        ("replicated", proto.replicated_axes),
        (_unreduced(proto), proto.unreduced_axes),
        ("manual", proto.manual_axes),
    ):
        if axes:
            parts.append(f"{name}={_axes(proto.mesh, axes)}")
    return f"{{{', '.join(parts)}}}"


def _unreduced(proto: pb.NamedShardingProto) -> str:
    reduction = _REDUCTIONS.get(proto.reduction_op)
    return f"unreduced_{reduction}" if reduction else "unreduced"


def _whole(proto: pb.NamedShardingProto) -> str:
    """`replicated`, `unreduced` or `manual` where that is all there is to say."""
    lists = (proto.replicated_axes, proto.unreduced_axes, proto.manual_axes)
    if not proto.dim_shardings and not any(lists):
        return "replicated"
    axes = [(a.mesh_axis_index, a.HasField("sub_axis_info")) for a in proto.unreduced_axes]
    everything = [(n, False) for n in range(len(proto.mesh.axes))]
    if axes == everything and not proto.reduction_op:
        return "unreduced"
    manual = [(a.mesh_axis_index, a.HasField("sub_axis_info")) for a in proto.manual_axes]
    return "manual" if manual == everything else ""


def format_mesh(proto: pb.MeshProto) -> str:
    """`mesh['data'=2,'fsdp'=4]`, with device ids where they are not in order."""
    if not proto.axes and proto.device_ids:
        return f"maximal_mesh[device_id={joined(proto.device_ids)}]"
    axes = ",".join(f"'{axis.name}'={axis.size}" for axis in proto.axes)
    devices = f", device_ids=({joined(proto.device_ids)})" if proto.device_ids else ""
    if proto.HasField("iota_transform"):
        order = iota(proto.iota_transform.reshape_dims, proto.iota_transform.transpose_perm)
        devices = f", device_ids=({order.removeprefix('<=')})"
    return f"mesh[{axes}]{devices}"


def _axes(mesh: pb.MeshProto, axes: Iterable[pb.AxisRefProto]) -> str:
    return f"{{{', '.join(_axis(mesh, axis) for axis in axes)}}}"


def _axis(mesh: pb.MeshProto, axis: pb.AxisRefProto) -> str:
    known = 0 <= axis.mesh_axis_index < len(mesh.axes)
    name = mesh.axes[axis.mesh_axis_index].name if known else str(axis.mesh_axis_index)
    if axis.HasField("sub_axis_info"):
        return f"'{name}':({axis.sub_axis_info.pre_size}){axis.sub_axis_info.size}"
    return f"'{name}'"


def _dimension(mesh: pb.MeshProto, dim: pb.NamedShardingProto.DimensionSharding) -> str:
    axes = [_axis(mesh, axis) for axis in dim.axes]
    return f"{{{', '.join(axes if dim.is_closed else [*axes, '?'])}}}"


def format_groups(groups: Iterable[pb.ReplicaGroup]) -> str:
    """`{{0,1},{2,3}}`, the first notation of replica groups."""
    return "{" + ",".join(f"{{{joined(g.replica_ids)}}}" for g in groups) + "}"


def format_iota_groups(proto: pb.IotaReplicaGroupListProto) -> str:
    """`[2,4]<=[4,2]T(1,0)`, the second notation."""
    shape = f"[{proto.num_replica_groups},{proto.num_devices_per_group}]"
    return shape + iota(proto.iota_reshape_dims, proto.iota_transpose_perm)


def format_mesh_groups(proto: pb.MeshAxesReplicaGroupListProto) -> str:
    """`mesh['fsdp'=4] {'fsdp'}`, the third notation; no blank between axes here."""
    axes = ",".join(_axis(proto.mesh, axis) for axis in proto.axes)
    return f"{format_mesh(proto.mesh)} {{{axes}}}"
