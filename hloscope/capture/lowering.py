"""Tracing and lowering a program for devices; runs in the compiler process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from hloscope.capture import provenance
from hloscope.capture.jax_private import stages
from hloscope.capture.program_loading import failed
from hloscope.capture.steps import Steps
from hloscope.errors import HloscopeError
from hloscope.model.program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowering:
    """A lowered program with what was current while it was traced.

    Attributes:
      traced: JAX's `Traced`.
      lowered: JAX's `Lowered`.
      mesh: axis sizes of the ambient mesh and how it was made so.
      config: every JAX configuration value.
    """

    traced: Any
    lowered: Any
    mesh: tuple[Mapping[str, int], str] | None
    axis_rules: tuple[tuple[str, str], ...]
    config: Mapping[str, object]


def abstract(tree: Any, devices: Sequence[Any]) -> Any:
    """`tree` with arrays as shapes, and abstract meshes as meshes over the target's devices.

    Arrays keep a `NamedSharding` and lose any other, which names a device of this machine.
    Python scalars, and what is no array, stay as they are.
    """
    return jax.tree_util.tree_map(lambda leaf: _abstract_leaf(leaf, devices), tree)


def _abstract_leaf(leaf: Any, devices: Sequence[Any]) -> Any:
    if isinstance(leaf, NamedSharding):
        return concrete(leaf, devices)
    if not isinstance(leaf, jax.Array | np.ndarray | jax.ShapeDtypeStruct):
        return leaf
    sharding = getattr(leaf, "sharding", None)
    if not isinstance(sharding, NamedSharding):
        if isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        sharding = None
    return stages.shape_of(leaf, None if sharding is None else concrete(sharding, devices))


def concrete(sharding: NamedSharding, devices: Sequence[Any]) -> NamedSharding:
    """The sharding with an abstract mesh laid over the first of the target's devices."""
    mesh = sharding.mesh
    if not isinstance(mesh, AbstractMesh):
        return sharding
    sizes = tuple(mesh.shape.values())
    count = int(np.prod(sizes))
    if count > len(devices):
        raise HloscopeError(
            f"a mesh of {count} devices {dict(mesh.shape)} on a target of {len(devices)}",
            remedy="make the mesh smaller or the target larger",
        )
    grid = np.asarray(devices[:count], dtype=object).reshape(sizes)
    full = Mesh(grid, mesh.axis_names, axis_types=mesh.axis_types)
    return NamedSharding(full, sharding.spec, memory_kind=sharding.memory_kind)


def lower(program: Program, devices: Sequence[Any], steps: Steps) -> Lowering:
    """Traces and lowers a program.

    Where neither an argument nor the program names a device, it compiles for the first of the
    target's: what JAX does with its own devices.

    Raises:
      HloscopeError: tracing or lowering failed.
    """
    try:
        return _lower(program, devices, steps)
    except HloscopeError:
        raise
    except Exception as error:
        raise failed("tracing the program", error, program.name) from error


def _lower(program: Program, devices: Sequence[Any], steps: Steps) -> Lowering:
    args, kwargs = abstract((program.args, dict(program.kwargs)), devices)
    function: Any = program.function
    if not hasattr(function, "trace"):
        options = {key: abstract(value, devices) for key, value in program.jit_options.items()}
        function = jax.jit(function, **options)
    with program.context():
        with steps.step("trace"):
            traced = function.trace(*args, **kwargs)
        mesh, axis_rules = stages.ambient_mesh(), provenance.axis_rules()
        config = stages.config_values()
        # not while tracing: what a trace computes eagerly needs a device that can
        with steps.step("lower"), jax.default_device(devices[0]):
            lowered = stages.unwrap(traced.lower())
    return Lowering(traced=traced, lowered=lowered, mesh=mesh, axis_rules=axis_rules, config=config)
