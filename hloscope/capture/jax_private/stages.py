"""Facts of JAX's lowering that its public interface does not give.

Every public way was looked for first.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
from jax._src import compiler, mesh
from jax.experimental.layout import Format

DUMP_PREFIX = "xla_dump_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a lowering knows.

    Attributes:
      kept: positions of the flat inputs that the program keeps, ascending.
      leading: entry parameters before the first input (tokens of ordered effects, constants).
      input_shardings: one for each kept input; `None` where the program does not say.
      output_shardings: one for each output, alike.
      input_layouts: what the program demands of each kept input, `None` where nothing.
      devices: the device assignment.
      jit_options: compile options given to `jax.jit`.
    """

    kept: tuple[int, ...]
    leading: int
    input_shardings: tuple[Any, ...]
    output_shardings: tuple[Any, ...]
    input_layouts: tuple[Any, ...]
    output_layouts: tuple[Any, ...]
    output_avals: tuple[Any, ...]
    devices: tuple[int, ...]
    jit_options: Mapping[str, str]


def configure(name: str, value: object) -> None:
    """Sets a JAX configuration value for the process."""
    jax.config.update(name, value)  # type: ignore[no-untyped-call]


def shape_of(array: Any, sharding: Any) -> jax.ShapeDtypeStruct:
    """What tracing needs of an array."""
    weak_type = getattr(array, "weak_type", False)
    return jax.ShapeDtypeStruct(  # type: ignore[no-untyped-call]
        array.shape, array.dtype, sharding=sharding, weak_type=weak_type
    )


def unwrap(stage: Any) -> Any:
    """JAX's own `Lowered` inside what `nnx.jit(...).lower(...)` returns."""
    while not isinstance(stage, jax.stages.Lowered):
        stage = stage.lowered
    return stage


def facts(lowered: Any) -> Facts:
    """The facts of a `jax.stages.Lowered`."""
    lowering = lowered._lowering
    known = lowering.compile_args
    constants = len(lowering.const_args)
    return Facts(
        kept=tuple(sorted(known["kept_var_idx"])),
        leading=constants + len(known["ordered_effects"]),
        input_shardings=_said(known["in_shardings"], constants),
        output_shardings=_said(known["out_shardings"], 0),
        input_layouts=_said(known["in_layouts"], constants),
        output_layouts=_said(known["out_layouts"], 0),
        output_avals=tuple(known["global_out_avals"]),
        devices=tuple(device.id for device in lowering._device_list),
        jit_options={key: str(value) for key, value in lowering._compiler_options_kvs},
    )


def _said(values: Sequence[Any], constants: int) -> tuple[Any, ...]:
    unsaid = ("UnspecifiedValue", "AutoLayoutSingleton", "NoneType")
    return tuple(None if type(v).__name__ in unsaid else v for v in values[constants:])


def stablehlo(lowered: Any) -> tuple[str, bytes]:
    """Name and MLIR bytecode of the module that the compiler is given."""
    module = lowered._lowering.stablehlo()
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return module.operation.attributes["sym_name"].value, written.getvalue()


def argument_names(traced: Any) -> tuple[str | None, ...]:
    """JAX's own name of each flat input, `state.params['w']`; these become HLO's `op_name`."""
    while not hasattr(traced, "jaxpr"):
        traced = traced.traced
    return tuple(traced.jaxpr.jaxpr.debug_info.arg_names or ())


def ambient_mesh() -> tuple[dict[str, int], str] | None:
    """Axis sizes of the mesh that is current, with how it was made so; `None` for no mesh.

    Flax's logical constraints see a mesh of `jax.set_mesh` and silently ignore one of a plain
    `with mesh:`, so the two are told apart.
    """
    abstract = jax.sharding.get_abstract_mesh()
    if abstract is not None and not abstract.empty:
        return dict(abstract.shape), "jax.set_mesh"
    physical = mesh.thread_resources.env.physical_mesh
    if not physical.empty:
        return dict(physical.shape), "with mesh"
    return None


def config_values() -> dict[str, object]:
    """Every configuration value by name, as it is now in this thread."""
    return dict(jax.config.values)


@contextmanager
def compile_options_seen(see: Callable[[bytes], object]) -> Iterator[None]:
    """Hands the serialized `CompileOptionsProto` of every compile in the block to `see`.

    The dump's options are taken out: they name a folder of this machine and are no part of what
    is compiled.
    """
    original = compiler.backend_compile_and_load

    def seen(
        backend: Any, module: Any, devices: Any, options: Any, *rest: Any, **named: Any
    ) -> Any:
        clean = type(options).ParseFromString(options.SerializeAsString())
        clean.env_option_overrides = [
            pair for pair in options.env_option_overrides if not pair[0].startswith(DUMP_PREFIX)
        ]
        see(clean.SerializeAsString())
        return original(backend, module, devices, options, *rest, **named)

    compiler.backend_compile_and_load = seen
    try:
        yield
    finally:
        compiler.backend_compile_and_load = original


def jit_arguments(jitted: Any) -> tuple[Any, dict[str, Any]]:
    """The function and the keyword arguments that `jax.jit` made `jitted` of."""
    info = jitted._jit_info
    options: dict[str, Any] = {
        "static_argnums": info.static_argnums,
        "static_argnames": info.static_argnames,
        "donate_argnums": info.donate_argnums,
        "keep_unused": info.keep_unused,
        "inline": info.inline,
        "compiler_options": dict(info.compiler_options_kvs) or None,
    }
    for side in ("in", "out"):
        said = _formats(info, side)
        if said is not None:
            options[f"{side}_shardings"] = said
    return jitted._fun, options


def _formats(info: Any, side: str) -> Any:
    """`in_shardings` or `out_shardings` as given, with demanded layouts; `None` for none."""
    shardings = getattr(info, f"{side}_shardings_leaves")
    layouts = getattr(info, f"{side}_layouts_leaves")
    tree = getattr(info, f"{side}_shardings_treedef")
    unsaid = [type(sharding).__name__ == "UnspecifiedValue" for sharding in shardings]
    if all(unsaid) and not any(layouts):
        return None
    leaves = [
        None if nothing else sharding for nothing, sharding in zip(unsaid, shardings, strict=True)
    ]
    if any(layouts):
        leaves = [
            Format(layout, sharding) if layout else sharding
            for layout, sharding in zip(layouts, leaves, strict=True)
        ]
    return jax.tree_util.tree_unflatten(tree, leaves)


_MEMORY_FIELDS = ("argument", "output", "alias", "temp", "generated_code")


def memory_analysis(executable: Any) -> dict[str, int] | None:
    """XLA's figures of one device's memory in bytes, `None` where the backend has none."""
    figures = executable.memory_analysis()
    if figures is None:
        return None
    return {name: int(getattr(figures, f"{name}_size_in_bytes")) for name in _MEMORY_FIELDS}


def cost_analysis(executable: Any) -> dict[str, float] | None:
    """XLA's cost analysis, `None` where the backend has none."""
    figures = executable.cost_analysis()
    # a list of one in older releases
    if isinstance(figures, list):
        figures = figures[0] if figures else None
    return None if figures is None else {name: float(value) for name, value in figures.items()}


def source_file(function: Any) -> Path | None:
    """The file that a callable, jitted or not, was written in."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    try:
        found = inspect.getsourcefile(function)
    except TypeError:
        return None
    return Path(found) if found and Path(found).is_file() else None
