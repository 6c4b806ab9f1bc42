"""Steps of an NNX decoder, ready to compile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from hloscope.decoders.config import Config, Setup
from hloscope.decoders.layout import abstract_tokens, tracing_under
from hloscope.decoders.nnx.gpt3 import Decoder
from hloscope.decoders.training import cross_entropy, make_optimizer
from hloscope.model.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Batch = dict[str, jax.Array]


class TrainState(nnx.Module):
    """A decoder with its optimizer."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        self.model = Decoder(config, rngs=rngs)
        self.optimizer = nnx.Optimizer(self.model, make_optimizer(), wrt=nnx.Param)


def init_state(config: Config, rng: jax.Array) -> TrainState:
    """Makes a train state whose variables carry their logical axes."""
    return TrainState(config, rngs=nnx.Rngs(rng))


def make_train_step(
    graphdef: nnx.GraphDef,
) -> Callable[[nnx.State, Batch], tuple[nnx.State, dict[str, jax.Array]]]:
    """Makes the step for a split train state of this structure."""

    def train_step(state: nnx.State, batch: Batch) -> tuple[nnx.State, dict[str, jax.Array]]:
        """One optimizer step on `batch`, whose `inputs` and `targets` are `[batch, seq]`."""
        train_state = nnx.merge(graphdef, state)

        def loss_fn(model: Decoder) -> jax.Array:
            return cross_entropy(model(batch["inputs"]), batch["targets"])

        loss, grads = nnx.value_and_grad(loss_fn)(train_state.model)
        train_state.optimizer.update(train_state.model, grads)
        return nnx.state(train_state), {"loss": loss}

    return train_step


def _abstract_state(config: Config, mesh: Mesh) -> tuple[nnx.GraphDef, nnx.State]:
    """The split train state, each leaf with the sharding that its logical axes ask for."""
    # the key is made inside: the ambient mesh has no devices that could run anything
    return nnx.get_abstract_model(lambda: init_state(config, jax.random.key(0)), mesh)


def train_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The train step on abstract, sharded arguments."""
    with tracing_under(mesh):
        graphdef, state = _abstract_state(setup.config, mesh)
    tokens = abstract_tokens(mesh, setup.batch, setup.seq)
    shardings = jax.tree.map(lambda leaf: leaf.sharding, state)
    return Program(
        function=make_train_step(graphdef),
        args=(state, {"inputs": tokens, "targets": tokens}),
        jit_options={
            "donate_argnums": (0,) if setup.donate else (),
            "out_shardings": (shardings, NamedSharding(mesh, PartitionSpec())),
        },
        context=partial(tracing_under, mesh),
        name=name,
        options=options,
    )


def forward_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The logits of a batch, without dropout, on abstract, sharded arguments."""
    with tracing_under(mesh):
        abstract, state = nnx.get_abstract_model(
            lambda: Decoder(setup.config, rngs=nnx.Rngs(jax.random.key(0))), mesh
        )

    def forward(state: nnx.State, tokens: jax.Array) -> jax.Array:
        model = nnx.merge(abstract, state)
        model.eval()
        return model(tokens)

    return Program(
        function=forward,
        args=(state, abstract_tokens(mesh, setup.batch, setup.seq)),
        context=partial(tracing_under, mesh),
        name=name,
        options=options,
    )
