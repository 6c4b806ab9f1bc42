"""Steps of an NNX decoder without a backward pass, ready to compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh

from hloscope.decoders.config import Setup
from hloscope.decoders.layout import (
    abstract_tokens,
    axis_rules,
    logits_sharding,
    replicated,
    tracing_under,
)
from hloscope.decoders.nnx.decoder import Decoder
from hloscope.model.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping


def forward_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The logits of a batch, without dropout, on abstract, sharded arguments."""
    graphdef, params = _abstract_model(setup, mesh)

    def forward(params: nnx.State, tokens: jax.Array) -> jax.Array:
        model = nnx.merge(graphdef, params)
        return model(tokens)

    return Program(
        function=forward,
        args=(params, abstract_tokens(mesh, setup.batch, setup.seq)),
        context=partial(tracing_under, mesh, axis_rules(setup)),
        name=name,
        options=options,
    )


def make_cache_step(
    graphdef: nnx.GraphDef,
) -> Callable[[nnx.State, nnx.State, jax.Array, jax.Array], tuple[jax.Array, nnx.State]]:
    """Makes the step: weights, cache, tokens and their position to logits and the next cache."""

    def step(
        params: nnx.State, cache: nnx.State, tokens: jax.Array, start: jax.Array
    ) -> tuple[jax.Array, nnx.State]:
        """Logits `[batch, 1, vocab]` of what follows `tokens`, which begin at `start`."""
        model = nnx.merge(graphdef, params, cache)
        logits = model(tokens, start)
        return logits, nnx.state(model, nnx.Cache)

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
    graphdef, state = _abstract_model(setup, mesh)
    cache, params = nnx.split_state(state, nnx.Cache, ...)
    start = replicated(mesh, jax.ShapeDtypeStruct((), jnp.int32))
    shardings = jax.tree.map(lambda leaf: leaf.sharding, cache)
    return Program(
        function=make_cache_step(graphdef),
        args=(params, cache, abstract_tokens(mesh, setup.batch, tokens), start),
        jit_options={
            "donate_argnums": (1,) if setup.donate else (),
            "out_shardings": (logits_sharding(mesh), shardings),
        },
        context=partial(tracing_under, mesh, axis_rules(setup)),
        name=name,
        options=options,
    )


def _abstract_model(setup: Setup, mesh: Mesh) -> tuple[nnx.GraphDef, nnx.State]:
    """The split decoder, which drops nothing."""

    def make() -> Decoder:
        # the key is made inside: the ambient mesh has no devices that could run anything
        model = Decoder(setup.config, rngs=nnx.Rngs(jax.random.key(0)))
        model.eval()
        return model

    with tracing_under(mesh, axis_rules(setup)):
        return nnx.get_abstract_model(make, mesh)
