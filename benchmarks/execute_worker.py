"""Runs HLO texts on CPU and prints figures of what each returns; run as a child process.

Usage: execute_worker.py FILE...

Inputs are made from each parameter's op_name, so that a parameter gets the same values at any
position; outputs are sorted, since their order is noise.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxlib import _hlo, _jax

from hloscope.hlo import read_proto
from hloscope.model.hlo import Instruction, Module

_DTYPES = {"f32": "float32", "s32": "int32", "u32": "uint32", "pred": "bool", "bf16": "bfloat16"}


def run(text: str) -> list[list[float]]:
    """Figures of each output."""
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    inputs = [_values(parameter) for parameter in _parameters(read_proto(proto))]
    device = jax.devices("cpu")[0]
    program = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    options = _jax.CompileOptions()
    devices = _jax.DeviceList((device,))
    loaded = device.client.compile_and_load(program, devices, options)
    arrays = [jax.device_put(value, device) for value in inputs]
    outputs = loaded.execute_sharded(arrays).disassemble_into_single_device_arrays()
    return sorted(_figures(np.asarray(shards[0])) for shards in outputs)


def _parameters(module: Module) -> list[Instruction]:
    entry = module.computations[module.entry or 0].instructions
    return sorted((i for i in entry if i.opcode == "parameter"), key=lambda i: i.parameter)


def _values(parameter: Instruction) -> Any:
    name = parameter.metadata.op_name or str(parameter.parameter)
    seed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big")
    drawn = np.random.default_rng(seed).uniform(0.1, 1.0, parameter.shape.dims)
    dtype = np.dtype(_DTYPES[parameter.shape.dtype])
    return np.asarray(drawn * (1 if dtype.kind == "f" else 3)).astype(dtype)


def _figures(array: Any) -> list[float]:
    """Size, norm and two sums that depend on where each value stands."""
    flat = array.astype(np.float64).ravel()
    ramp = np.linspace(0.5, 1.5, flat.size)
    sums = [np.sqrt(np.mean(flat**2)), np.mean(flat * ramp), np.mean(flat * np.cos(7 * ramp))]
    return [float(flat.size), *(round(float(value), 9) for value in sums)]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(run(Path(path).read_text())), flush=True)
