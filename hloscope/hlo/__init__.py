"""HLO protos and HLO text to `Module`, with what a module says about itself."""

from hloscope.hlo.buffers import read_buffers
from hloscope.hlo.dtypes import BITS
from hloscope.hlo.heap_replay import HeapReplay, HeapState, peak
from hloscope.hlo.memory_figures import is_temporary, is_tpu, memory_figures
from hloscope.hlo.proto_reader import read_proto
from hloscope.hlo.shape_text import format_shape
from hloscope.hlo.text_reader import read_text

__all__ = [
    "BITS",
    "HeapReplay",
    "HeapState",
    "format_shape",
    "is_temporary",
    "is_tpu",
    "memory_figures",
    "peak",
    "read_buffers",
    "read_proto",
    "read_text",
]
