"""Steps of a Linen decoder without a backward pass, ready to compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from hloscope.decoders.config import Config, Setup
from hloscope.decoders.layout import (
    abstract_tokens,
    axis_rules,
    logits_sharding,
    replicated,
    tracing_under,
)
from hloscope.decoders.linen.abstract import with_shardings
from hloscope.decoders.linen.decoder import Decoder
from hloscope.model.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping


def init_variables(setup: Setup, rng: jax.Array) -> Any:
    """Makes the collections `params` and, for a step that has one, `cache`."""
    start = None if setup.config.cache is None else jnp.int32(0)
    tokens = jnp.zeros((setup.batch, 1 if setup.step == "decode" else setup.seq), jnp.int32)
    return Decoder(setup.config, deterministic=True).init({"params": rng}, tokens, start)


def forward_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The logits of a batch, without dropout, on abstract, sharded arguments."""
    model = Decoder(setup.config, deterministic=True)

    def forward(params: Any, tokens: jax.Array) -> jax.Array:
        return model.apply({"params": params}, tokens)

    rules = axis_rules(setup)
    variables, _ = _abstract_variables(setup, mesh)
    return Program(
        function=forward,
        args=(variables["params"], abstract_tokens(mesh, setup.batch, setup.seq)),
        context=partial(tracing_under, mesh, rules),
        name=name,
        options=options,
    )


def make_cache_step(config: Config) -> Callable[..., tuple[jax.Array, Any]]:
    """Makes the step: weights, cache, tokens and their position to logits and the next cache."""
    model = Decoder(config, deterministic=True)

    def step(params: Any, cache: Any, tokens: jax.Array, start: jax.Array) -> tuple[jax.Array, Any]:
        """Logits `[batch, 1, vocab]` of what follows `tokens`, which begin at `start`."""
        variables = {"params": params, "cache": cache}
        logits, updated = model.apply(variables, tokens, start, mutable=["cache"])
        return logits, updated["cache"]

    return step


def prefill_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """Fills an empty cache with a batch of prompts."""
    return _cache_program(setup, mesh, setup.seq, name=name, options=options)


def decode_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """Adds one token of each sequence to the cache."""
    return _cache_program(setup, mesh, 1, name=name, options=options)


def _cache_program(
    setup: Setup, mesh: Mesh, tokens: int, *, name: str, options: Mapping[str, str]
) -> Program:
    rules = axis_rules(setup)
    variables, shardings = _abstract_variables(setup, mesh)
    start = replicated(mesh, jax.ShapeDtypeStruct((), jnp.int32))
    return Program(
        function=make_cache_step(setup.config),
        args=(
            variables["params"],
            variables["cache"],
            abstract_tokens(mesh, setup.batch, tokens),
            start,
        ),
        jit_options={
            "donate_argnums": (1,) if setup.donate else (),
            "out_shardings": (logits_sharding(mesh), shardings["cache"]),
        },
        context=partial(tracing_under, mesh, rules),
        name=name,
        options=options,
    )


def _abstract_variables(setup: Setup, mesh: Mesh) -> tuple[Any, Any]:
    rules = axis_rules(setup)
    with tracing_under(mesh, rules):
        # the key is made inside: the ambient mesh has no devices that could run anything
        boxed = jax.eval_shape(lambda: init_variables(setup, jax.random.key(0)))
        return with_shardings(boxed, mesh, rules)
