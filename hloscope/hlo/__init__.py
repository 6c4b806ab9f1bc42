"""HLO protos and HLO text to `Module`, with what a module says about itself."""

from hloscope.hlo.arguments import entry_arguments
from hloscope.hlo.buffers import read_buffers
from hloscope.hlo.dtypes import BITS
from hloscope.hlo.frames import frames, origin
from hloscope.hlo.heap_replay import HeapReplay, HeapState, peak
from hloscope.hlo.memory_figures import is_temporary, is_tpu, memory_figures
from hloscope.hlo.printer import print_instruction, print_module
from hloscope.hlo.proto_reader import read_proto
from hloscope.hlo.scopes import OpName, parse_op_name, scopes
from hloscope.hlo.shape_text import format_shape, read_shape
from hloscope.hlo.state_path import state_path
from hloscope.hlo.text_reader import read_text
from hloscope.hlo.trip_count import trip_count

__all__ = [
    "BITS",
    "HeapReplay",
    "HeapState",
    "OpName",
    "entry_arguments",
    "format_shape",
    "frames",
    "is_temporary",
    "is_tpu",
    "memory_figures",
    "origin",
    "parse_op_name",
    "peak",
    "print_instruction",
    "print_module",
    "read_buffers",
    "read_proto",
    "read_shape",
    "read_text",
    "scopes",
    "state_path",
    "trip_count",
]
