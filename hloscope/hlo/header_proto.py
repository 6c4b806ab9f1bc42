"""Module-level fields of `HloModuleProto` in XLA's text form."""

from __future__ import annotations

from hloscope.hlo.attribute_text import braced, format_frontend_attributes
from hloscope.hlo.schema import hlo_pb2 as pb
from hloscope.hlo.shape_proto import read_shape
from hloscope.hlo.shape_text import format_shape
from hloscope.model.hlo import StackFrame

_ALIAS = {1: "may-alias", 2: "must-alias"}


def read_header(proto: pb.LazyModule) -> tuple[tuple[str, str], ...]:
    """The attributes that XLA prints after a module's name, sorted by name."""
    header: dict[str, str] = {}
    if proto.input_output_alias.entries:
        header["input_output_alias"] = _aliases(proto.input_output_alias)
    if proto.buffer_donor.entries:
        header["buffer_donor"] = _donors(proto.buffer_donor)
    if proto.HasField("host_program_shape"):
        header["entry_computation_layout"] = _layout(proto.host_program_shape)
    if proto.use_auto_spmd_partitioning:
        header["use_auto_spmd_partitioning"] = "true"
    if proto.device_assignment.replica_count > 1:
        header["replica_count"] = str(proto.device_assignment.replica_count)
    if proto.device_assignment.computation_count > 1:
        header["num_partitions"] = str(proto.device_assignment.computation_count)
    attributes = format_frontend_attributes(proto.frontend_attributes)
    if attributes:
        header["frontend_attributes"] = attributes
    return tuple(sorted(header.items()))


def _aliases(proto: pb.HloInputOutputAliasProto) -> str:
    """`{ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }`, by output."""
    entries = sorted(proto.entries, key=lambda e: tuple(e.output_shape_index))
    texts = (
        f"{braced(e.output_shape_index)}: ({e.parameter_number}, "
        f"{braced(e.parameter_shape_index)}, {_ALIAS.get(e.kind, 'undefined-alias')})"
        for e in entries
    )
    return f"{{ {', '.join(texts)} }}"


def _donors(proto: pb.HloBufferDonorProto) -> str:
    """`{ (0, {}), (1, {}) }`, by parameter."""
    entries = sorted((e.parameter_number, tuple(e.parameter_shape_index)) for e in proto.entries)
    return f"{{ {', '.join(f'({number}, {braced(index)})' for number, index in entries)} }}"


def _layout(proto: pb.ProgramShapeProto) -> str:
    """`{(f32[2]{0}, s32[])->f32[2]{0}}`."""
    parameters = ", ".join(format_shape(read_shape(p)) for p in proto.parameters)
    return f"{{({parameters})->{format_shape(read_shape(proto.result))}}}"


def read_frames(index: pb.StackFrameIndexProto) -> tuple[StackFrame, ...]:
    """The stack frames, ids resolved; an id that points nowhere gives an empty name or line 0."""
    files, functions = list(index.file_names), list(index.function_names)
    places = [
        (_at(files, p.file_name_id), _at(functions, p.function_name_id), p.line, p.column)
        for p in index.file_locations
    ]
    frames = []
    for frame in index.stack_frames:
        known = 0 < frame.file_location_id <= len(places)
        place = places[frame.file_location_id - 1] if known else ("", "", 0, 0)
        frames.append(StackFrame(*place, frame.parent_frame_id))
    return tuple(frames)


def _at(names: list[str], number: int) -> str:
    return names[number - 1] if 0 < number <= len(names) else ""
