"""The train step of a Linen decoder, ready to compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from flax.training.train_state import TrainState
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from hloscope.decoders.config import Setup
from hloscope.decoders.layout import abstract_tokens, axis_rules, replicated, tracing_under
from hloscope.decoders.linen.abstract import with_shardings
from hloscope.decoders.linen.decoder import Decoder
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
Gradients = Callable[[Any, Batch, jax.Array], tuple[jax.Array, Any]]


def init_variables(setup: Setup, rng: jax.Array) -> Any:
    """Makes the collections `params` and, with adapters, `lora`, boxed with their logical axes."""
    tokens = jnp.zeros((setup.batch, setup.seq), jnp.int32)
    return Decoder(setup.config).init({"params": rng, "dropout": rng}, tokens)


def init_state(setup: Setup, rng: jax.Array) -> TrainState:
    """Makes a train state of what is trained: the adapters where there are any, or all weights."""
    trained = init_variables(setup, rng)["lora" if setup.config.lora else "params"]
    apply_fn = Decoder(setup.config).apply
    return TrainState.create(apply_fn=apply_fn, params=trained, tx=make_optimizer())


def make_train_step(setup: Setup) -> Callable[..., tuple[TrainState, Metrics]]:
    """Makes the step: state, batch and key to the next state."""
    config = setup.config
    # training starts from the reference, which has no adapters
    reference_model = Decoder(replace(config, lora=0), deterministic=True)

    def loss_fn(
        trained: Any, batch: Batch, rng: jax.Array, *, apply_fn: Any, params: Any, reference: Any
    ) -> jax.Array:
        variables = {"params": params, "lora": trained} if config.lora else {"params": trained}
        policy = partial(apply_fn, variables, rngs={"dropout": rng})
        if setup.loss == "cross_entropy":
            return cross_entropy(policy(batch["inputs"]), batch["targets"])
        return preference_loss(policy, partial(reference_model.apply, {"params": reference}), batch)

    def train_step(
        state: TrainState,
        batch: Batch,
        rng: jax.Array,
        *,
        params: Any = None,
        reference: Any = None,
    ) -> tuple[TrainState, Metrics]:
        """One optimizer step on `batch`, whose `inputs` and `targets` are `[batch, seq]` tokens.

        Args:
          state: of what is trained.
          batch: for the DPO loss `[batch, 2, seq]`, the preferred sequence first.
          rng: of dropout.
          params: the frozen weights, where adapters are trained.
          reference: the frozen weights that the DPO loss compares with.
        """
        dropout_rng = jax.random.fold_in(rng, state.step)
        loss_of = partial(loss_fn, apply_fn=state.apply_fn, params=params, reference=reference)
        gradients = _accumulated(jax.value_and_grad(loss_of), setup.accumulate)
        loss, grads = gradients(state.params, batch, dropout_rng)
        return state.apply_gradients(grads=grads), {"loss": loss}

    return train_step


def _accumulated(gradients: Gradients, parts: int) -> Gradients:
    """Loss and gradients of the whole batch, computed part by part."""
    if parts == 1:
        return gradients

    def mean(params: Any, batch: Batch, rng: jax.Array) -> tuple[jax.Array, Any]:
        def add(total: Any, part: tuple[Batch, jax.Array]) -> tuple[Any, None]:
            tokens, number = part
            given = gradients(params, tokens, jax.random.fold_in(rng, number))
            return jax.tree.map(jnp.add, total, given), None

        zero = (jnp.float32(0), jax.tree.map(jnp.zeros_like, params))
        total, _ = jax.lax.scan(add, zero, (in_parts(batch, parts), jnp.arange(parts)))
        summed: tuple[jax.Array, Any] = jax.tree.map(lambda leaf: leaf / parts, total)
        return summed

    return mean


def train_program(setup: Setup, mesh: Mesh, *, name: str, options: Mapping[str, str]) -> Program:
    """The train step on abstract, sharded arguments."""
    rules = axis_rules(setup)
    with tracing_under(mesh, rules):
        # keys are made inside: the ambient mesh has no devices that could run anything
        boxed = jax.eval_shape(lambda: init_state(setup, jax.random.key(0)))
        state, shardings = with_shardings(boxed, mesh, rules)
        boxed = jax.eval_shape(lambda: init_variables(setup, jax.random.key(0))["params"])
        weights, _ = with_shardings(boxed, mesh, rules)
    pair = (2,) if setup.loss == "dpo" else ()
    tokens = abstract_tokens(mesh, setup.batch, *pair, setup.seq)
    rng = replicated(mesh, jax.eval_shape(lambda: jax.random.key(0)))
    frozen = {"params": setup.config.lora > 0, "reference": setup.loss == "dpo"}
    return Program(
        function=make_train_step(setup),
        args=(state, {"inputs": tokens, "targets": tokens}, rng),
        kwargs={part: weights for part, is_there in frozen.items() if is_there},
        jit_options={
            "donate_argnums": (0,) if setup.donate else (),
            "out_shardings": (shardings, NamedSharding(mesh, PartitionSpec())),
        },
        context=partial(tracing_under, mesh, rules),
        name=name,
        options=options,
    )
