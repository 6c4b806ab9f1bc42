"""HLO protos and HLO text to `Module`, with what a module says about itself."""

from hloscope.hlo.proto_reader import read_proto

__all__ = ["read_proto"]
