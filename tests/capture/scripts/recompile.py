"""Compiles a capture's StableHLO again with its own options; run by test_capture.py."""

import sys
from pathlib import Path

import jax
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

from hloscope import hlo, store
from hloscope.model.capture import PayloadName

capture = store.read(Path(sys.argv[1]))
dump = Path(sys.argv[2])

CompileOptions = type(compiler.get_compile_options(1, 1))
options = CompileOptions.ParseFromString(capture.payloads[PayloadName.COMPILE_OPTIONS])
options.env_option_overrides = [
    *options.env_option_overrides,
    ("xla_dump_to", str(dump)),
    ("xla_dump_hlo_as_proto", True),
]
with mlir.make_ir_context():
    module = ir.Module.parse(capture.payloads[PayloadName.STABLEHLO])
    devices = tuple(jax.devices())
    client = devices[0].client
    device_list = xla_client.DeviceList(devices)
    client.compile_and_load(module, device_list, options)
(again,) = dump.glob("*cpu_after_optimizations.hlo.pb")
assert hlo.read_proto(again.read_bytes()) == hlo.read_proto(capture.payloads[PayloadName.OPTIMIZED])
