"""Which attribute each field of `HloInstructionProto` becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message_factory import GetMessageClass
from google.protobuf.text_format import MessageToString

from hloscope.hlo import attribute_text as text
from hloscope.hlo.attribute_text import Attributes, braced
from hloscope.hlo.quoting import quote
from hloscope.hlo.schema import hlo_pb2 as pb

Read = Callable[[Any], Attributes]

# fields that have a place of their own in `Instruction`, or that say nothing more
OWN = frozenset(
    {
        "name", "opcode", "shape", "metadata", "literal", "parameter_number", "id", "operand_ids",
        "control_predecessor_ids", "called_computation_ids",
        "dimensions",  # what it means hangs on the opcode
        "is_cross_program_prefetch",  # said again by cross_program_prefetch_index
        "conv_kind",  # follows from the convolution's dimension numbers
        "domain_entry_sharding", "domain_exit_sharding",  # one attribute, made of both
    }
)  # fmt: skip


def _number(name: str) -> Read:
    return lambda value: ((name, str(value)),)


def _flag(name: str) -> Read:
    return lambda value: ((name, "true"),) if value else ()


def _count(name: str) -> Read:
    """A count that XLA prints where it is not 1."""
    return lambda value: ((name, str(value)),) if value != 1 else ()


def _list(name: str) -> Read:
    return lambda value: ((name, braced(value)),)


def _word(name: str) -> Read:
    return lambda value: ((name, value.decode("utf-8", "surrogateescape")),)


def _quoted(name: str) -> Read:
    return lambda value: ((name, quote(value)),)


def _parts(name: str, read: Callable[[Any], str]) -> Read:
    return lambda value: ((name, read(value)),)


def _enum(
    name: str, values: Any, *, prefix: str = "", lower: bool = False, plain: int = -1
) -> Read:
    """An enum's own name; `plain` is the value that goes unsaid."""

    def read(value: int) -> Attributes:
        if value == plain:
            return ()
        said = values.Name(value) if value in values.values() else f"{prefix}{value}"
        said = said.removeprefix(prefix)
        return ((name, said.lower() if lower else said),)

    return read


def _real(name: str) -> Read:
    # ToString prints a float through absl::StrCat, which gives six digits
    return lambda value: ((name, f"{value:g}"),)


def _thread(value: bytes) -> Attributes:
    return () if value in (b"", b"main") else (("async_execution_thread", quote(value)),)


def _tri_state(name: str) -> Read:
    return lambda value: ((name, str(value == pb.TRI_STATE_TRUE).lower()),)


def _payload(value: bytes) -> Attributes:
    """A backend_config that newer protos keep in a message, or in the module's own table."""
    payload = pb.Payload.FromString(value)
    if payload.HasField("id"):
        return (("backend_config", f"payload {payload.id}"),)
    return text.backend_config(payload.value)


def _verbatim(name: str) -> Read:
    """A field whose text form is not known: its protobuf text, so that no difference is lost."""
    descriptor: Any = pb.HloInstructionProto.DESCRIPTOR.fields_by_name[name].message_type
    message: Any = GetMessageClass(descriptor)

    def read(value: Any) -> Attributes:
        parts = value if isinstance(value, tuple) else (value,)
        texts = [MessageToString(message.FromString(p), as_one_line=True) for p in parts]
        # XLA sets some of them without saying anything in them
        return ((name, "{" + "; ".join(texts) + "}"),) if any(texts) else ()

    return read


READ: dict[str, Read] = {
    "sparsity_config": _verbatim("sparsity_config"),
    "block_scaling_config": _verbatim("block_scaling_config"),
    "shuffle_mode": _verbatim("shuffle_mode"),
    "dot_sparsity": _verbatim("dot_sparsity"),
    "fusion_kind": _word("kind"),
    "tuple_index": _number("index"),
    "window": text.window,
    "convolution_dimension_numbers": text.dim_labels,
    "feature_group_count": _count("feature_group_count"),
    "batch_group_count": _count("batch_group_count"),
    "slice_dimensions": _parts("slice", text.slice_ranges),
    "exponent_bits": _number("exponent_bits"),
    "mantissa_bits": _number("mantissa_bits"),
    "dynamic_slice_sizes": _list("dynamic_slice_sizes"),  # another name in collective-permute
    "padding_config": text.padding,
    "outfeed_config": _quoted("outfeed_config"),
    "distribution": _enum("distribution", pb.RandomDistribution, lower=True),
    "epsilon": _real("epsilon"),
    "feature_index": _number("feature_index"),
    "channel_id": lambda value: (("channel_id", str(value)),) if value > 0 else (),
    "infeed_config": _quoted("infeed_config"),
    "custom_call_target": _quoted("custom_call_target"),
    "outfeed_shape": _parts("outfeed_shape", text.shape),
    "dot_dimension_numbers": text.dot_dimensions,
    "ragged_dot_dimension_numbers": text.ragged_dot_dimensions,
    "fft_type": _enum("fft_type", pb.FftType),
    "fft_length": _list("fft_length"),
    "comparison_direction": _word("direction"),
    "gather_dimension_numbers": text.gather_dimensions,
    "gather_slice_sizes": _list("slice_sizes"),
    "sharding": text.sharding,
    "backend_config": text.backend_config,
    "backend_config_payload": _payload,
    "replica_groups": _parts("replica_groups", text.replica_groups),
    "all_reduce_id": lambda value: (("channel_id", str(value)),) if value > 0 else (),
    "use_global_device_ids": _flag("use_global_device_ids"),
    "is_host_transfer": _flag("is_host_transfer"),
    "is_stable": _flag("is_stable"),
    "scatter_dimension_numbers": text.scatter_dimensions,
    "precision_config": text.precision,
    "source_target_pairs": _parts("source_target_pairs", text.source_target_pairs),
    "constrain_layout": _flag("constrain_layout"),
    "operand_shapes_with_layout": _parts("operand_layout_constraints", text.operand_layouts),
    "triangular_solve_options": text.triangular_solve,
    "cholesky_options": text.cholesky,
    "parameter_replication": text.replication,
    "custom_call_has_side_effect": _flag("custom_call_has_side_effect"),
    "output_operand_aliasing": _parts("output_to_operand_aliasing", text.aliasing),
    "custom_call_schedule": _enum("schedule", pb.CustomCallSchedule, plain=0),
    "delta": _number("delta"),
    "indices_are_sorted": _flag("indices_are_sorted"),
    "frontend_attributes": text.frontend_attributes,
    "unique_indices": _flag("unique_indices"),
    "rng_algorithm": _enum("algorithm", pb.RandomAlgorithm, lower=True),
    "comparison_type": _word("type"),
    "comparison_order": _word("order"),
    "cross_program_prefetch_index": _number("cross_program_prefetch_index"),
    "padding_type": _enum("padding_type", pb.PaddingType, plain=0),
    "custom_call_api_version": _enum("api_version", pb.CustomCallApiVersion, plain=1),
    "async_execution_thread": _thread,
    "k": _number("k"),
    "largest": _flag("largest"),
    "statistics_viz": text.statistics,
    "collective_device_list": text.device_list,
    "iota_collective_device_list": text.iota_device_list,
    "mesh_axes_replica_group_list": text.mesh_device_list,
    "is_composite": _flag("is_composite"),
    "result_accuracy": text.result_accuracy,
    "is_reverse": _flag("is_reverse"),
    "num_carries": _number("num_carries"),
    "is_associative": _tri_state("is_associative"),
    "has_dynamic_root": _flag("has_dynamic_root"),
}

# the attributes that XLA prints for an opcode even where the proto leaves a field at its default
ALWAYS: dict[str, Attributes] = {
    "all-gather": (("replica_groups", "{}"),),
    "all-gather-start": (("replica_groups", "{}"),),
    "all-reduce": (("replica_groups", "{}"),),
    "all-reduce-start": (("replica_groups", "{}"),),
    "all-to-all": (("replica_groups", "{}"),),
    "batch-norm-grad": (("feature_index", "0"),),
    "batch-norm-inference": (("feature_index", "0"),),
    "batch-norm-training": (("feature_index", "0"),),
    "broadcast": (("dimensions", "{}"),),
    "collective-broadcast": (("replica_groups", "{}"),),
    "collective-permute": (("source_target_pairs", "{}"),),
    "collective-permute-start": (("source_target_pairs", "{}"),),
    "concatenate": (("dimensions", "{}"),),
    "custom-call": (("custom_call_target", '""'),),
    "dot": (("lhs_contracting_dims", "{}"), ("rhs_contracting_dims", "{}")),
    "dynamic-slice": (("dynamic_slice_sizes", "{}"),),
    "fft": (("fft_type", "FFT"), ("fft_length", "{}")),
    "gather": (("slice_sizes", "{}"),),
    "get-dimension-size": (("dimensions", "{}"),),
    "get-tuple-element": (("index", "0"),),
    "map": (("dimensions", "{}"),),
    "ragged-all-to-all": (("replica_groups", "{}"),),
    "reduce": (("dimensions", "{}"),),
    "reduce-precision": (("exponent_bits", "0"), ("mantissa_bits", "0")),
    "reduce-scatter": (("replica_groups", "{}"),),
    "reverse": (("dimensions", "{}"),),
    "rng-bit-generator": (("algorithm", "rng_default"),),
    "rng-get-and-update-state": (("delta", "0"),),
    "scan": (("dimensions", "{}"),),
    "set-dimension-size": (("dimensions", "{}"),),
    "slice": (("slice", "{}"),),
    "sort": (("dimensions", "{}"),),
    "topk": (("k", "0"), ("largest", "false")),
    "transpose": (("dimensions", "{}"),),
}
