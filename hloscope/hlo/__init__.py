"""HLO protos and HLO text to `Module`, with what a module says about itself."""

from hloscope.hlo.frames import frames
from hloscope.hlo.printer import print_module
from hloscope.hlo.proto_reader import read_proto
from hloscope.hlo.scopes import OpName, parse_op_name, scopes
from hloscope.hlo.text_reader import read_text

__all__ = [
    "OpName",
    "frames",
    "parse_op_name",
    "print_module",
    "read_proto",
    "read_text",
    "scopes",
]
