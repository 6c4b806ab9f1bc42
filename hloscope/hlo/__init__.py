"""HLO protos and HLO text to `Module`, with what a module says about itself."""

from hloscope.hlo.proto_reader import read_proto
from hloscope.hlo.text_reader import read_text

__all__ = ["read_proto", "read_text"]
