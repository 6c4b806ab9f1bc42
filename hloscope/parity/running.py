"""Running two programs from equal inputs; called in the child process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from hloscope.capture import leaves
from hloscope.capture.jax_private import stages
from hloscope.capture.lowering import abstract
from hloscope.capture.program_loading import failed, load_program
from hloscope.capture.targets import parse_target, target_devices
from hloscope.model.capture import Leaf
from hloscope.model.parity import LeafPair, LeafPath, Parity, Part, ValuePair
from hloscope.model.program import Program
from hloscope.model.units import Maybe, Measured, Missing
from hloscope.parity.ask import Ask
from hloscope.parity.checkpoint import checkpoint_leaves
from hloscope.parity.inputs import make_value
from hloscope.parity.trees import by_path, pair_leaves
from hloscope.parity.ulps import measure

_TRAINS = "opt_state"
# coarsest first: as jaxprs write them, with NumPy's names
_FLOATS = (
    ("f8_e5m2[", "float8_e5m2"),
    ("f8_e4m3fn[", "float8_e4m3fn"),
    ("bf16[", "bfloat16"),
    ("f16[", "float16"),
    ("f32[", "float32"),
    ("f64[", "float64"),
)
# In the last place of a leaf's largest value; docs/parity.md says why.
DEFAULT_TOLERANCE = {
    "float64": 64.0,
    "float32": 64.0,
    "float16": 16.0,
    "bfloat16": 16.0,
    "float8_e4m3fn": 4.0,
    "float8_e5m2": 4.0,
}
# compiles in a tenth of the time; both sides then round where their own operations round
_QUICK = {"xla_backend_optimization_level": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A program with its leaves; `args` and `kwargs` are abstract."""

    spec: str
    program: Program
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    jaxpr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a program computed.

    Attributes:
      values: by part and canonical path.
      unchanged: paths of outputs that are inputs, bit for bit.
    """

    values: Mapping[tuple[Part, LeafPath], Any]
    unchanged: frozenset[LeafPath]


def compare_programs(lhs: str, rhs: str, ask: Ask) -> Parity:
    """Traces both programs, and where their trees map, runs them.

    Raises:
      HloscopeError: a program does not exist, or does not trace or run.
    """
    devices = target_devices(parse_target(ask.target))
    left, right = (trace(spec, devices) for spec in (lhs, rhs))
    inputs = pair_leaves(left.inputs, right.inputs)
    outputs = pair_leaves(left.outputs, right.outputs)
    unit = next((name for mark, name in _FLOATS if mark in left.jaxpr + right.jaxpr), "float32")
    values: Maybe[tuple[ValuePair, ...]]
    if lost := _lost(inputs):
        values = Missing(lost)
    else:
        runs = tuple(run(side, ask) for side in (left, right))
        outputs = tuple(_checked(pair, inputs, runs) for pair in outputs)
        values = Measured(_measured(runs, outputs, unit))
    return Parity(
        lhs=lhs,
        rhs=rhs,
        inputs=inputs,
        outputs=outputs,
        values=values,
        unit=unit,
        tolerance=DEFAULT_TOLERANCE[unit] if ask.tolerance is None else ask.tolerance,
        seed=ask.seed,
        bound=ask.bound,
    )


def compare_checkpoint(lhs: str, rhs: str, ask: Ask) -> Parity:
    """Compares the trees of a checkpoint and a program, whichever is which.

    Raises:
      HloscopeError: either cannot be read.
    """
    devices = target_devices(parse_target(ask.target))
    left, right = (
        checkpoint_leaves(side) if Path(side).is_dir() else trace(side, devices).inputs
        for side in (lhs, rhs)
    )
    return Parity(
        lhs=lhs,
        rhs=rhs,
        inputs=pair_leaves(left, right),
        outputs=(),
        values=Missing("a checkpoint computes nothing"),
        unit="float32",
        tolerance=0.0,
        seed=ask.seed,
        bound=ask.bound,
        checkpoint="lhs" if Path(lhs).is_dir() else "rhs",
    )


def trace(spec: str, devices: Sequence[Any]) -> Traced:
    """Traces the program that a spec names."""
    program, _ = load_program(spec, devices)
    args, kwargs = abstract((program.args, dict(program.kwargs)), devices)
    try:
        with program.context():
            function: Any = program.function
            if not hasattr(function, "trace"):
                given = {name: abstract(v, devices) for name, v in program.jit_options.items()}
                function = jax.jit(function, **given)
            traced = function.trace(*args, **kwargs)
            lowered = stages.unwrap(traced.lower())
    except Exception as error:
        raise failed("tracing the program", error, spec) from error
    known = stages.facts(lowered)
    return Traced(
        spec=spec,
        program=program,
        args=args,
        kwargs=kwargs,
        inputs=leaves.input_leaves(lowered, known, stages.argument_names(traced)),
        outputs=leaves.output_leaves(lowered, known),
        jaxpr=str(traced.jaxpr),
    )


def _lost(inputs: tuple[LeafPair, ...]) -> str:
    """Why the programs cannot be given equal inputs, `""` where they can."""
    lost = [pair for pair in inputs if not pair.is_mapped and not pair.random]
    named = ", ".join(".".join(pair.path) for pair in lost[:3])
    more = ", ..." if len(lost) > 3 else ""
    return f"{len(lost)} inputs are not mapped: {named}{more}" if lost else ""


def _checked(pair: LeafPair, inputs: tuple[LeafPair, ...], runs: tuple[Run, ...]) -> LeafPair:
    """Says whether an output of one side alone is an input of both, given back as it came in."""
    taken = any(each.path == pair.path and each.is_mapped for each in inputs)
    side = runs[0] if pair.rhs is None else runs[1]
    one_sided = pair.lhs is None or pair.rhs is None
    return replace(pair, unchanged=one_sided and taken and pair.path in side.unchanged)


def _measured(
    runs: tuple[Run, ...], outputs: tuple[LeafPair, ...], unit: str
) -> tuple[ValuePair, ...]:
    mapped = {pair.path for pair in outputs if pair.is_mapped and not pair.random}
    left, right = (run.values for run in runs)
    pairs = [
        measure(part, path, value, right[part, path], unit)
        for (part, path), value in left.items()
        if (part, path) in right and (part is Part.GRADIENT or path in mapped)
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair.ulps, pair.part, pair.path)))


def run(side: Traced, ask: Ask) -> Run:
    """Runs a program on inputs by canonical path.

    Raises:
      HloscopeError: it does not run.
    """
    flat, tree = jax.tree_util.tree_flatten((side.args, side.kwargs))
    paths = by_path([leaf.path for leaf in side.inputs])
    values = [
        _placed(make_value(path, leaf, seed=ask.seed, bound=ask.bound), leaf)
        for path, leaf in zip(paths, flat, strict=True)
    ]
    trains = any(_TRAINS in path for path in paths)
    moving = [] if trains else [at for at, leaf in enumerate(flat) if _is_float(leaf)]

    def weighed(floats: list[Any]) -> tuple[Any, Any]:
        filled = list(values)
        for at, value in zip(moving, floats, strict=True):
            filled[at] = value
        args, kwargs = jax.tree_util.tree_unflatten(tree, filled)
        given = side.program.function(*args, **kwargs)
        return _weight(given, ask), given

    try:
        with side.program.context():
            step = jax.jit(jax.value_and_grad(weighed, has_aux=True), compiler_options=_QUICK)
            (_, given), grads = step([values[at] for at in moving])
            outputs = _named(given)
    except Exception as error:
        raise failed("running the program", error, side.spec) from error
    taken = dict(zip(paths, values, strict=True))
    slopes = {
        (Part.GRADIENT, paths[at]): np.asarray(g) for at, g in zip(moving, grads, strict=True)
    }
    return Run(
        values={(Part.OUTPUT, path): value for path, value in outputs.items()} | slopes,
        unchanged=frozenset(
            path
            for path, value in outputs.items()
            if path in taken and np.array_equal(value, np.asarray(taken[path]))
        ),
    )


def _placed(value: Any, leaf: Any) -> Any:
    sharding = getattr(leaf, "sharding", None)
    return jax.device_put(value, sharding if isinstance(sharding, NamedSharding) else None)


def _is_float(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)


def _weight(given: Any, ask: Ask) -> jax.Array:
    """One number that every floating output has a share of, with weights by canonical path."""
    flat = jax.tree_util.tree_leaves_with_path(given)
    paths = by_path([jax.tree_util.keystr(path) for path, _ in flat])
    total: jax.Array = jnp.float32(0)
    for path, (_, leaf) in zip(paths, flat, strict=True):
        if _is_float(leaf):
            share = make_value(("weight", *path), leaf, seed=ask.seed, bound=ask.bound)
            total += jnp.sum(leaf.astype(jnp.float32) * share.astype(jnp.float32))
    return total


def _named(given: Any) -> dict[LeafPath, Any]:
    """Outputs by canonical path, keys left out."""
    flat = jax.tree_util.tree_leaves_with_path(given)
    paths = by_path([jax.tree_util.keystr(path) for path, _ in flat])
    return {
        path: np.asarray(leaf)
        for path, (_, leaf) in zip(paths, flat, strict=True)
        if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    }
