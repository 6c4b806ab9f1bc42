"""Steps of a Linen decoder, ready to compile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.core.meta import map_axis_meta
from flax.training.train_state import TrainState
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from hloscope.decoders.config import Config, Setup
from hloscope.decoders.layout import AXIS_RULES, abstract_tokens, tracing_under
from hloscope.decoders.linen.gpt3 import Decoder
from hloscope.decoders.training import cross_entropy, make_optimizer
from hloscope.model.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

Batch = dict[str, jax.Array]


def init_state(config: Config, rng: jax.Array) -> TrainState:
    """Makes a train state whose parameters and moments are boxed with their logical axes."""
    model = Decoder(config)
    tokens = jnp.zeros((1, 1), jnp.int32)
    params = model.init({"params": rng, "dropout": rng}, tokens)["params"]
    return TrainState.create(apply_fn=model.apply, params=params, tx=make_optimizer())


def train_step(
    state: TrainState, batch: Batch, rng: jax.Array
) -> tuple[TrainState, dict[str, jax.Array]]:
    """One optimizer step on `batch`, whose `inputs` and `targets` are `[batch, seq]` tokens."""
    dropout_rng = jax.random.fold_in(rng, state.step)

    def loss_fn(params: Any) -> jax.Array:
        logits = state.apply_fn({"params": params}, batch["inputs"], rngs={"dropout": dropout_rng})
        return cross_entropy(logits, batch["targets"])

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), {"loss": loss}


def _abstract_state(config: Config, mesh: Mesh) -> tuple[TrainState, Any]:
    """The train state's shapes, with the sharding that each leaf's logical axes ask for."""
    # the key is made inside: the ambient mesh has no devices that could run anything
    boxed = jax.eval_shape(lambda: init_state(config, jax.random.key(0)))
    shardings = nn.logical_to_mesh_sharding(nn.get_partition_spec(boxed), mesh, AXIS_RULES)
    state = jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        map_axis_meta(lambda box: box.value, boxed),
        shardings,
    )
    return state, shardings


def train_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The train step on abstract, sharded arguments."""
    replicated = NamedSharding(mesh, PartitionSpec())
    tokens = abstract_tokens(mesh, setup.batch, setup.seq)
    key = jax.eval_shape(lambda: jax.random.key(0))
    rng = jax.ShapeDtypeStruct(key.shape, key.dtype, sharding=replicated)
    with tracing_under(mesh):
        state, shardings = _abstract_state(setup.config, mesh)
    return Program(
        function=train_step,
        args=(state, {"inputs": tokens, "targets": tokens}, rng),
        jit_options={
            "donate_argnums": (0,) if setup.donate else (),
            "out_shardings": (shardings, replicated),
        },
        context=partial(tracing_under, mesh),
        name=name,
        options=options,
    )


def forward_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The logits of a batch, without dropout, on abstract, sharded arguments."""
    model = Decoder(setup.config, deterministic=True)

    def forward(params: Any, tokens: jax.Array) -> jax.Array:
        return model.apply({"params": params}, tokens)

    with tracing_under(mesh):
        state, _ = _abstract_state(setup.config, mesh)
    return Program(
        function=forward,
        args=(state.params, abstract_tokens(mesh, setup.batch, setup.seq)),
        context=partial(tracing_under, mesh),
        name=name,
        options=options,
    )
