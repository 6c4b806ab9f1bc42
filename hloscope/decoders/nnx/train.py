"""The train step of an NNX decoder, ready to compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from hloscope.decoders.config import Config, Setup
from hloscope.decoders.layout import abstract_tokens, axis_rules, tracing_under
from hloscope.decoders.nnx.decoder import Decoder
from hloscope.decoders.training import (
    Batch,
    cross_entropy,
    in_parts,
    make_optimizer,
    preference_loss,
)
from hloscope.model.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

Metrics = dict[str, jax.Array]
Loss = Callable[[Decoder, Decoder | None, Batch], jax.Array]


class TrainState(nnx.Module):
    """A decoder with its optimizer, and for the DPO loss the decoder that it started from."""

    def __init__(self, setup: Setup, *, rngs: nnx.Rngs) -> None:
        self.model = Decoder(setup.config, rngs=rngs)
        self.optimizer = nnx.Optimizer(self.model, make_optimizer(), wrt=trained(setup.config))
        if setup.loss == "dpo":
            # it has no adapters, and drops nothing
            self.reference = Decoder(replace(setup.config, lora=0), rngs=rngs)
            self.reference.eval()


def trained(config: Config) -> type[nnx.Variable]:
    """What the optimizer changes: the adapters where there are any, or all weights."""
    return nnx.LoRAParam if config.lora else nnx.Param


def init_state(setup: Setup, rng: jax.Array) -> TrainState:
    """Makes a train state whose variables carry their logical axes."""
    return TrainState(setup, rngs=nnx.Rngs(rng))


def make_train_step(
    graphdef: nnx.GraphDef, setup: Setup
) -> Callable[[nnx.State, Batch], tuple[nnx.State, Metrics]]:
    """Makes the step for a split train state of this structure."""

    def train_step(state: nnx.State, batch: Batch) -> tuple[nnx.State, Metrics]:
        """One optimizer step on `batch`, whose `inputs` and `targets` are `[batch, seq]`.

        For the DPO loss they are `[batch, 2, seq]`, the preferred sequence first.
        """
        train_state = nnx.merge(graphdef, state)

        reference = train_state.reference if setup.loss == "dpo" else None
        loss, grads = _accumulated(_loss, setup)(train_state.model, reference, batch)
        train_state.optimizer.update(train_state.model, grads)
        return nnx.state(train_state), {"loss": loss}

    return train_step


def _loss(model: Decoder, reference: Decoder | None, batch: Batch) -> jax.Array:
    if reference is None:
        return cross_entropy(model(batch["inputs"]), batch["targets"])
    return preference_loss(model, reference, batch)


def _accumulated(loss_fn: Loss, setup: Setup) -> Callable[..., tuple[Any, Any]]:
    """Loss and gradients of the whole batch, computed part by part."""
    wrt = trained(setup.config)
    grad_fn = nnx.value_and_grad(loss_fn, argnums=nnx.DiffState(0, wrt))
    if setup.accumulate == 1:
        return grad_fn

    def mean(
        model: Decoder, reference: Decoder | None, batch: Batch
    ) -> tuple[jax.Array, nnx.State]:
        graphdef, random, rest = nnx.split((model, reference), nnx.RngState, ...)

        def add(carry: Any, part: Batch) -> tuple[Any, None]:
            total, random = carry  # the counts of the random streams go on from part to part
            both = nnx.merge(graphdef, random, rest, copy=True)
            given = grad_fn(*both, part)
            return (jax.tree.map(jnp.add, total, given), nnx.state(both, nnx.RngState)), None

        zero = (jnp.float32(0), jax.tree.map(jnp.zeros_like, nnx.state(model, wrt)))
        (total, random), _ = jax.lax.scan(add, (zero, random), in_parts(batch, setup.accumulate))
        nnx.update((model, reference), random)
        summed: tuple[jax.Array, nnx.State] = jax.tree.map(lambda x: x / setup.accumulate, total)
        return summed

    return mean


def train_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The train step on abstract, sharded arguments."""
    rules = axis_rules(setup)
    with tracing_under(mesh, rules):
        # the key is made inside: the ambient mesh has no devices that could run anything
        graphdef, state = nnx.get_abstract_model(lambda: init_state(setup, jax.random.key(0)), mesh)
    pair = (2,) if setup.loss == "dpo" else ()
    tokens = abstract_tokens(mesh, setup.batch, *pair, setup.seq)
    shardings = jax.tree.map(lambda leaf: leaf.sharding, state)
    return Program(
        function=make_train_step(graphdef, setup),
        args=(state, {"inputs": tokens, "targets": tokens}),
        jit_options={
            "donate_argnums": (0,) if setup.donate else (),
            "out_shardings": (shardings, NamedSharding(mesh, PartitionSpec())),
        },
        context=partial(tracing_under, mesh, rules),
        name=name,
        options=options,
    )
