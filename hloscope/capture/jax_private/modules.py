"""StableHLO modules outside of any trace: read, translated, compiled; imports JAX.

Tried with jax 0.10.2 and 0.12.0.1. `jax._src.interpreters.mlir.make_ir_context` makes a context
that knows every dialect that JAX writes; `jaxlib._jax.mlir.mlir_module_to_xla_computation` is the
translation that every compile begins with; `jax._src.compiler.backend_compile_and_load` compiles
for devices that exist and for described ones alike.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from jax._src import compiler
from jax._src.interpreters import mlir
from jaxlib import _jax

_DEVICES = re.compile(r"Computation\d+\{([\d ]+)\}")


def context() -> Any:
    """An MLIR context with StableHLO, Shardy and all else that JAX's modules hold."""
    return mlir.make_ir_context()


def bytecode(module: Any) -> bytes:
    """MLIR bytecode of a module."""
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


def hlo_proto(module: Any) -> bytes:
    """The `HloModuleProto` that a module becomes before any pass."""
    computation = _jax.mlir.mlir_module_to_xla_computation(
        bytecode(module), use_tuple_args=False, return_tuple=False
    )
    proto: bytes = computation.as_serialized_hlo_module_proto()
    return proto


def options_of(serialized: bytes) -> Any:
    """The `CompileOptions` of a serialized `CompileOptionsProto`."""
    return _jax.CompileOptions.ParseFromString(serialized)


def overrides(options: Any) -> dict[str, Any]:
    """XLA flags that a compile sets, by name."""
    return dict(options.env_option_overrides)


def set_overrides(options: Any, flags: dict[str, Any]) -> None:
    """Replaces the XLA flags of a compile."""
    options.env_option_overrides = list(flags.items())


def compile_module(module: Any, devices: Sequence[Any], options: Any) -> Any:
    """Compiles a module for devices, in the order of the options' device assignment."""
    return compiler.backend_compile_and_load(
        devices[0].client, module, _jax.DeviceList(tuple(devices)), options, []
    )


def assigned(options: Any) -> tuple[int, ...]:
    """Ids of the devices that a compile is for, partition by partition.

    `DeviceAssignment` gives no access to its table but its text form,
    `Computation0{0} Computation1{1}`.
    """
    text = repr(options.device_assignment)
    return tuple(int(number) for row in _DEVICES.findall(text) for number in row.split())
