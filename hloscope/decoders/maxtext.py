"""Programs of the user's own MaxText: `maxtext:MODEL?option=value&stack=linen|nnx`.

Every option but `stack`, `step` and `mesh_context` is MaxText's. The steps are made by MaxText's
own functions, in the order in which its `train_compile` and its `MaxEngine` call them.

Longer than other files: all that is known of MaxText's releases is in this one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

from hloscope.errors import HloscopeError
from hloscope.model.program import Program

PREFIX = "maxtext"
STACKS = ("linen", "nnx")
STEPS = ("train", "forward", "prefill", "generate")
MESH_CONTEXTS = ("set_mesh", "with")

# MaxText's flags that choose the stack, by release; the NNX values are their opposites
_FLAGS = {
    "0.2.1": ("enable_nnx", "pure_nnx_decoder"),
    # it has pure_nnx too, whose train step does not trace yet
    "0.2.2": ("enable_nnx", "pure_nnx_decoder"),
    "0.2.3": ("enable_nnx", "pure_nnx_decoder", "pure_nnx"),
    "0.2.4": ("enable_nnx", "pure_nnx_decoder", "pure_nnx"),
    "0.2.5": (),  # NNX alone
}
_TOPOLOGY = "hloscope"  # the target's entry in MaxText's table of topologies
_INSTALL = "docs/maxtext.md has the install lines; hloscope has to be in that environment too"
# MaxText up to 0.2.3 imports them to read data, which no step that is compiled here does
_UNUSED = ("tensorflow", "tensorflow_datasets")
_OURS = frozenset({"stack", "step", "mesh_context"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxTextSpec:
    """A spec taken apart.

    Attributes:
      text: as the user wrote it.
      step: `train`; `forward` alone, which in NNX returns the model's state too; or MaxEngine's
        `prefill` or `generate`.
      mesh_context: how the mesh is made current while tracing; MaxText's own way by default:
        `set_mesh` for train and forward, `with` for MaxEngine.
      overrides: MaxText's options.
    """

    text: str
    model: str
    stack: str
    step: str
    mesh_context: str
    overrides: Mapping[str, str]


def parse_maxtext(text: str) -> MaxTextSpec:
    """Takes a spec apart; needs neither JAX nor MaxText.

    Raises:
      HloscopeError: it names no model, or an option has no value or one that it cannot have.
    """
    program, _, query = text.partition("?")
    model = program.partition(":")[2]
    if not model:
        raise HloscopeError("the spec names no model", where=text, remedy="maxtext:gpt3-52k")
    options: dict[str, str] = {}
    for item in filter(None, query.split("&")):
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise HloscopeError(f"option '{item}' is not name=value", where=text)
        if name in options:
            raise HloscopeError(f"option '{name}' is given twice", where=text)
        options[name] = unquote(value)
    step = _choice(options, "step", STEPS, "train", text)
    usual = "set_mesh" if step in ("train", "forward") else "with"
    return MaxTextSpec(
        text=text,
        model=model,
        stack=_choice(options, "stack", STACKS, "nnx", text),
        step=step,
        mesh_context=_choice(options, "mesh_context", MESH_CONTEXTS, usual, text),
        overrides={name: value for name, value in options.items() if name not in _OURS},
    )


def _choice(
    options: Mapping[str, str], name: str, values: Sequence[str], default: str, text: str
) -> str:
    value = options.get(name, default)
    if value not in values:
        raise HloscopeError(
            f"option '{name}' cannot be '{value}'", where=text, remedy=" or ".join(values)
        )
    return value


def maxtext_program(spec: str, devices: Sequence[Any]) -> Program:
    """The program that a spec names, for the devices given; allocates no weights.

    Raises:
      HloscopeError: MaxText is not importable, is of an unknown release, or lacks the stack.
    """
    parsed = parse_maxtext(spec)
    os.environ["DECOUPLE_GCLOUD"] = "TRUE"  # MaxEngine without JetStream
    release = _release(spec)
    flags = _stack_flags(parsed, release)
    stand_ins = _stand_in(_UNUSED)
    modules = _Modules(spec)
    config = _configure(modules, parsed, flags, devices)
    make = {"train": _train_program, "forward": _forward_program}.get(parsed.step, _engine_program)
    settled = {**parsed.overrides, "stack": parsed.stack, "step": parsed.step}
    settled["mesh_context"] = parsed.mesh_context
    if stand_ins:
        settled["stand-ins"] = ", ".join(stand_ins)
    return make(modules, config, parsed, devices, dict(sorted(settled.items())))


def _release(spec: str) -> str:
    try:
        found = metadata.version("maxtext")
    except metadata.PackageNotFoundError:
        raise HloscopeError(
            "MaxText is not installed in this environment", where=spec, remedy=_INSTALL
        ) from None
    if found not in _FLAGS:
        raise HloscopeError(
            f"MaxText {found} is unknown here; tried are {', '.join(_FLAGS)}",
            where=spec,
            remedy=f"pip install --no-deps maxtext=={max(_FLAGS)}",
        )
    return found


def _stack_flags(parsed: MaxTextSpec, release: str) -> dict[str, str]:
    flags = _FLAGS[release]
    if not flags and parsed.stack == "linen":
        raise HloscopeError(
            f"MaxText {release} has no Linen stack",
            where=parsed.text,
            remedy="stack=nnx, or pip install --no-deps maxtext==0.2.4, the last that has both",
        )
    return dict.fromkeys(flags, "true" if parsed.stack == "nnx" else "false")


class _Nothing(type):
    """A type whose attributes are of that type too, whatever they are called."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name, (), {})


class _StandIns(MetaPathFinder, Loader):
    """Finds modules of packages that are not installed; they import, and do nothing."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002 - the protocol's
        if fullname.partition(".")[0] not in self._packages:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        made = _Nothing(module.__name__, (), {})
        module.__dict__["__getattr__"] = lambda name: getattr(made, name)


def _stand_in(packages: Sequence[str]) -> tuple[str, ...]:
    """Lets packages be imported that are not installed; those that are not."""
    absent = tuple(name for name in packages if importlib.util.find_spec(name) is None)
    sys.meta_path.append(_StandIns(absent))
    return absent


class _Modules:
    """MaxText's modules by the last part of their name, imported when first used."""

    _PLACES: Mapping[str, str] = {
        "accelerator_to_spec_map": "utils",
        "maxengine": "inference.maxengine",
        "max_utils": "utils",
        "maxtext_utils": "utils",
        "maxtext_utils_nnx": "utils",
        "model_creation_utils": "utils",
        "pyconfig": "configs",
        "sharding": "utils",
        "train": "trainers.pre_train",
        "train_compile": "trainers.pre_train",
    }

    def __init__(self, spec: str) -> None:
        self._spec = spec

    def __getattr__(self, name: str) -> Any:
        path = f"maxtext.{self._PLACES[name]}.{name}"
        try:
            return importlib.import_module(path)
        except ImportError as error:
            raise HloscopeError(
                f"importing '{path}' raised {type(error).__name__}: {error}",
                where=self._spec,
                remedy=_INSTALL,
            ) from error


def _configure(
    modules: _Modules, parsed: MaxTextSpec, flags: Mapping[str, str], devices: Sequence[Any]
) -> Any:
    """MaxText's configuration, with the target in its table of topologies."""
    import jax

    platform = {"tpu": "tpu", "cpu": "cpu"}.get(devices[0].platform, "gpu")
    table = modules.accelerator_to_spec_map
    table.UserFacingNameToSystemCharacteristics[_TOPOLOGY] = table.SystemCharacteristics(
        platform, None, None, None, len(devices), None
    )
    # as its train_compile does
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    settings = {
        "model_name": parsed.model,
        "run_name": "hloscope",
        "base_output_directory": tempfile.gettempdir(),
        "dataset_type": "synthetic",
        "enable_checkpointing": "false",
        "skip_jax_distributed_system": "true",
        "log_config": "false",
        "jax_cache_dir": "",  # with a hit in JAX's own cache there would be no dump
        "hardware": platform,
        "compile_topology": _TOPOLOGY,
        "compile_topology_num_slices": "1",
        "override_model_config": "true",
        **flags,
        **parsed.overrides,
    }
    base = Path(str(modules.pyconfig.__file__)).parent / "base.yml"
    argv = ["hloscope", str(base), *(f"{name}={value}" for name, value in settings.items())]
    config = modules.pyconfig.initialize(argv)
    remove = getattr(config, "remove_size_one_mesh_axis_from_type", None)
    if remove is not None:
        jax.config.update("jax_remove_size_one_mesh_axis_from_type", remove)
    return config


def _compiler_options(devices: Sequence[Any]) -> dict[str, Any]:
    """What train_compile puts into LIBTPU_INIT_ARGS, which is read before we get here."""
    if devices[0].platform != "tpu":
        return {}
    return {"compiler_options": {"xla_tpu_spmd_rng_bit_generator_unsafe": True}}


def _context(
    modules: _Modules, config: Any, mesh: Any, how: str
) -> Callable[[], AbstractContextManager[Any]]:
    @contextmanager
    def current() -> Iterator[None]:
        import jax

        with ExitStack() as stack:
            if how == "set_mesh":
                stack.enter_context(jax.set_mesh(mesh))
            stack.enter_context(mesh)
            stack.enter_context(_axis_rules(modules, config))
            yield

    return current


def _axis_rules(modules: _Modules, config: Any) -> AbstractContextManager[Any]:
    """Flax's logical axis rules, or MaxText's own where it has them."""
    own = getattr(modules.train_compile, "axis_rules", None)
    rules = own or importlib.import_module("flax.linen.partitioning").axis_rules
    context: AbstractContextManager[Any] = rules(config.logical_axis_rules)
    return context


def _train_program(
    modules: _Modules,
    config: Any,
    parsed: MaxTextSpec,
    devices: Sequence[Any],
    settled: dict[str, str],
) -> Program:
    mesh = _train_mesh(modules, config, devices)
    args, kwargs, state, _, model = modules.train_compile.get_shaped_inputs(mesh, config)
    params, state = _zero1(modules, config, state)
    function, ins, outs, static, donate = modules.maxtext_utils.get_functional_train_with_signature(
        modules.train.train_step,
        modules.sharding.get_input_data_sharding(config, mesh),
        state,
        model,
        config,
        *params,
    )
    return Program(
        function=function,
        args=tuple(args),
        kwargs=kwargs,
        jit_options={
            "in_shardings": ins,
            "out_shardings": outs,
            "static_argnums": static,
            "donate_argnums": donate,
            **_compiler_options(devices),
        },
        context=_context(modules, config, mesh, parsed.mesh_context),
        name=parsed.text,
        options=settled,
    )


def _forward_program(
    modules: _Modules,
    config: Any,
    parsed: MaxTextSpec,
    devices: Sequence[Any],
    settled: dict[str, str],
) -> Program:
    mesh = _train_mesh(modules, config, devices)
    pure = getattr(config, "pure_nnx", not _FLAGS[metadata.version("maxtext")])
    function, state = (_nnx_forward if pure else _linen_forward)(modules, config, mesh)
    sharding = modules.sharding.get_input_data_sharding(config, mesh)
    batch = modules.maxtext_utils.get_shaped_batch(config)
    names = ("inputs", "inputs_position", "inputs_segmentation")
    return Program(
        function=function,
        args=(state, *(_shapes(batch[name], sharding) for name in names)),
        jit_options=_compiler_options(devices),
        context=_context(modules, config, mesh, parsed.mesh_context),
        name=parsed.text,
        options=settled,
    )


def _nnx_forward(modules: _Modules, config: Any, mesh: Any) -> tuple[Callable[..., Any], Any]:
    from flax import nnx

    _, abstract = modules.model_creation_utils.create_nnx_abstract_model(config, mesh)
    graph, state = nnx.split(abstract)

    def forward(state: Any, tokens: Any, positions: Any, segments: Any) -> Any:
        model = nnx.merge(graph, state, copy=True)
        logits = model(tokens, positions, decoder_segment_ids=segments, enable_dropout=False)
        return logits, nnx.state(model)

    return forward, state


def _linen_forward(modules: _Modules, config: Any, mesh: Any) -> tuple[Callable[..., Any], Any]:
    args, _, shardings, _, model = modules.train_compile.get_shaped_inputs(mesh, config)

    def forward(params: Any, tokens: Any, positions: Any, segments: Any) -> Any:
        import jax

        key = jax.random.PRNGKey(0)
        rngs = {"params": key, "dropout": key}
        return model.apply(
            params, tokens, positions, decoder_segment_ids=segments, enable_dropout=False, rngs=rngs
        )

    return forward, _shapes(args[0].params, shardings.params)


def _train_mesh(modules: _Modules, config: Any, devices: Sequence[Any]) -> Any:
    from jax.sharding import AxisType, Mesh

    explicit = str(getattr(config, "shard_mode", "auto")).rpartition(".")[2].lower() == "explicit"
    kind = AxisType.Explicit if explicit else AxisType.Auto
    grid = modules.maxtext_utils.create_device_mesh(config, list(devices))
    return Mesh(grid, config.mesh_axes, axis_types=(kind,) * len(config.mesh_axes))


def _zero1(modules: _Modules, config: Any, state: Any) -> tuple[tuple[Any, ...], Any]:
    """Parameters' shardings and the state's, as each release's train_compile settles them."""
    sharding = modules.sharding
    if "maybe_update_params_sharding_with_opt" not in _names_in(modules.train_compile.main):
        return (), state  # 0.2.1 and 0.2.2 give the train step none
    params, state = sharding.maybe_update_params_sharding_with_opt(config, state)
    build = getattr(sharding, "build_zero1_input_state_mesh_shardings", None)
    if build is not None:
        return (params,), build(config, state, params)
    if config.shard_optimizer_over_data:
        state = state.replace(params=params)
    return (params,), state


def _names_in(function: Any) -> tuple[str, ...]:
    return tuple(function.__code__.co_names)


def _engine_program(
    modules: _Modules,
    config: Any,
    parsed: MaxTextSpec,
    devices: Sequence[Any],
    settled: dict[str, str],
) -> Program:
    engine_module = modules.maxengine
    engine_module.engine_api.ResultTokens = _result_tokens()
    engine = engine_module.MaxEngine(config, devices=list(devices))
    params, rest = (_nnx_state if _is_nnx(engine) else _linen_state)(modules, config, engine)
    step = _prefill if parsed.step == "prefill" else _generate
    function, args, options = step(modules, config, engine, params, rest)
    return Program(
        function=function,
        args=args,
        jit_options={**options, **_compiler_options(devices)},
        context=_context(modules, config, engine.mesh, parsed.mesh_context),
        name=parsed.text,
        options=settled,
    )


def _result_tokens() -> Any:
    """Jetstream's record as a pytree, which MaxText's stand-in for it is not."""
    from flax import struct

    fields = ("tokens_idx", "valid_idx", "length_idx", "samples_per_slot")
    body = {name: struct.field(pytree_node=False, default=None) for name in fields}
    kinds = dict.fromkeys(("data", "log_prob", *fields), Any)
    named = {"__annotations__": kinds, "__module__": __name__, "log_prob": None, **body}
    return struct.dataclass(type("ResultTokens", (), named))


def _is_nnx(engine: Any) -> bool:
    return getattr(engine, "graphdef", None) is not None


def _shapes(tree: Any, shardings: Any) -> Any:
    import jax

    return jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        tree,
        shardings,
    )


def _named(engine: Any, annotations: Any) -> Any:
    import jax

    return jax.tree.map(
        lambda spec: jax.sharding.NamedSharding(engine.mesh, spec),
        annotations,
        is_leaf=lambda leaf: isinstance(leaf, jax.sharding.PartitionSpec),
    )


def _nnx_state(modules: _Modules, config: Any, engine: Any) -> tuple[Any, tuple[Any, ...]]:
    """Parameters, and what else the model holds, as load_params would leave them."""
    from flax import nnx

    _, params, _, rest = nnx.split(engine.model, nnx.Param, nnx.Cache, ...)
    construct = getattr(modules.sharding, "nnx_construct_named_sharding", None)
    if construct is None:  # 0.2.3
        construct = modules.maxtext_utils.get_nnx_named_sharding_with_scan_axis
    with _axis_rules(modules, config):
        placed = [_shapes(state, construct(state, engine.mesh)) for state in (params, rest)]
    utils = modules.maxtext_utils
    prefill = utils.get_prefill_kv_cache_annotations_nnx(engine.model, config, engine.mesh)
    decode = utils.get_kv_cache_annotations_nnx(engine.model_ar, config, engine.mesh)
    engine.prefill_kv_cache_annotations, engine.kv_cache_annotations = prefill, decode
    engine.prefill_kv_cache_shardings = _named(engine, prefill)
    engine.kv_cache_shardings = _named(engine, decode)
    return placed[0], (placed[1],)


def _linen_state(modules: _Modules, config: Any, engine: Any) -> tuple[Any, tuple[Any, ...]]:
    import jax

    utils, key, mesh = modules.maxtext_utils, jax.random.PRNGKey(0), engine.mesh
    if "init_state_fn" in utils.get_abstract_state.__code__.co_varnames:
        make = partial(utils.init_initial_state, engine.model, None, config, False, key)
        state, _, shardings = utils.get_abstract_state(config, mesh, make, False)
    else:  # 0.2.1
        state, _, shardings = utils.get_abstract_state(engine.model, None, config, key, mesh, False)
    prefill = utils.get_prefill_kv_cache_annotations(engine.model, config, key, mesh)
    decode = utils.get_kv_cache_annotations(engine.model, config, key, mesh)
    engine.prefill_kv_cache_annotations, engine.kv_cache_annotations = prefill, decode
    engine.prefill_kv_cache_shardings = _named(engine, prefill)
    engine.kv_cache_shardings = _named(engine, decode)
    return _shapes(state.params, shardings.params), ()


def _key() -> Any:
    import jax

    return jax.eval_shape(lambda: jax.random.PRNGKey(0))


def _prefill(
    modules: _Modules, config: Any, engine: Any, params: Any, rest: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    import jax
    import jax.numpy as jnp

    step = modules.maxengine.MaxEngine._prefill_jit.__wrapped__

    def prefill(params: Any, tokens: Any, true_length: Any, rng: Any, *rest: Any) -> Any:
        if rest:
            (engine._nnx_rest_state,) = rest
        return step(engine, params=params, padded_tokens=tokens, true_length=true_length, rng=rng)

    tokens = jax.ShapeDtypeStruct((config.max_prefill_predict_length,), jnp.int32)
    length = jax.ShapeDtypeStruct((), jnp.int32)
    return prefill, (params, tokens, length, _key(), *rest), {}


def _generate(
    modules: _Modules, config: Any, engine: Any, params: Any, rest: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    step = modules.maxengine.MaxEngine._generate_jit.__wrapped__

    def generate(params: Any, decode_state: Any, rng: Any, *rest: Any) -> Any:
        if rest:
            (engine._nnx_rest_state,) = rest
        return step(engine, params, decode_state, rng=rng)

    args = (params, _decode_state(modules, config, engine, params), _key(), *rest)
    return generate, args, {"donate_argnums": (1,)}


def _decode_state(modules: _Modules, config: Any, engine: Any, params: Any) -> dict[str, Any]:
    """What init_decode_state makes, with its shardings."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    batch = int(config.per_device_batch_size * engine.mesh.size)
    # NNX's are made outside of jit and uncommitted
    sharding = None if _is_nnx(engine) else NamedSharding(engine.mesh, PartitionSpec())

    def shape(*dims: int, dtype: Any = jnp.int32) -> Any:
        return jax.ShapeDtypeStruct(dims, dtype, sharding=sharding)

    names = ("next_pos", "generated_tokens", "tokens")
    return {
        "logits": shape(batch, 1, config.vocab_size, dtype=jnp.float32),
        "cache": _shapes(_cache(modules, config, engine, params, batch), engine.kv_cache_shardings),
        **{name: shape(batch, 1) for name in names},
        "token_logp": shape(batch, 1, dtype=jnp.float32),
    }


def _cache(modules: _Modules, config: Any, engine: Any, params: Any, batch: int) -> Any:
    import jax
    import jax.numpy as jnp

    if _is_nnx(engine):
        return jax.eval_shape(partial(engine._nnx_init_cache_dict, mode="autoregressive"))

    def init(params: Any) -> Any:
        tokens = jnp.ones((batch, 1), dtype=jnp.int32)
        _, state = engine.model.apply(
            params,
            tokens,
            tokens,
            enable_dropout=False,
            model_mode="autoregressive",
            rngs={"params": jax.random.PRNGKey(0)},
            mutable=["cache"],
            slot=0,
        )
        return state["cache"]

    with _axis_rules(modules, config):
        cache = jax.eval_shape(init, params)
    return modules.max_utils.unbox_logicallypartioned(cache)
