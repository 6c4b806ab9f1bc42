"""Running tokens through the experts that they were routed to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

from hloscope.decoders.meshes import batch_axes
from hloscope.decoders.sizes import Experts

T = TypeVar("T")
Constrain = Callable[[jax.Array, tuple[str, ...]], jax.Array]

_SENT = ("activation_experts", "activation_expert_batch", "activation_capacity", "activation_embed")
_HIDDEN = ("activation_experts", "activation_expert_batch", "activation_capacity", "activation_mlp")


class Weights(NamedTuple, Generic[T]):
    """The experts' matrices: `gate` and `up` `[experts, embed, mlp]`, `down` the other way."""

    gate: T
    up: T
    down: T


def capacity_of(experts: Experts, seq: int, factor: float) -> int:
    """Tokens of one sequence that an expert takes (Lepikhin et al. 2020, GShard, section 2.2)."""
    return max(1, math.ceil(seq * experts.per_token / experts.count * factor))


def with_capacity(
    x: jax.Array,
    shares: jax.Array,
    chosen: jax.Array,
    weights: Weights[jax.Array],
    *,
    capacity: int,
    scale_input: bool,
    constrain: Constrain,
) -> jax.Array:
    """Sends each sequence's tokens to the experts' free places; who finds none is left out.

    Args:
      x: `[batch, seq, embed]`.
      shares: `[batch, seq, per_token]`.
      chosen: `[batch, seq, per_token]`, numbers of experts.
      weights: the experts'.
      capacity: places that an expert has for one sequence.
      scale_input: whether shares multiply what goes in, rather than what comes out.
      constrain: shards an activation by its logical axes.

    Returns:
      `[batch, seq, embed]`.
    """
    places = _places(chosen, weights.gate.shape[0], capacity)  # [batch, seq, per_token, e, c]
    sent = places.any(2).astype(x.dtype)
    shared = jnp.einsum("btk,btkec->btec", shares.astype(x.dtype), places.astype(x.dtype))
    into, out = (shared, sent) if scale_input else (sent, shared)
    received = constrain(jnp.einsum("btec,btd->ebcd", into, x), _SENT)
    gate = jnp.einsum("ebcd,edf->ebcf", received, weights.gate)
    up = jnp.einsum("ebcd,edf->ebcf", received, weights.up)
    hidden = constrain(jax.nn.silu(gate) * up, _HIDDEN)
    given = constrain(jnp.einsum("ebcf,efd->ebcd", hidden, weights.down), _SENT)
    return jnp.einsum("btec,ebcd->btd", out, given)


def _places(chosen: jax.Array, count: int, capacity: int) -> jax.Array:
    """Which place of which expert each choice gets, first choices before second ones."""
    batch, seq, per_token = chosen.shape
    wanted = jax.nn.one_hot(chosen, count, dtype=jnp.int32)  # [batch, seq, per_token, experts]
    in_order = wanted.swapaxes(1, 2).reshape(batch, per_token * seq, count)
    before = jnp.cumsum(in_order, axis=1) - in_order
    before = before.reshape(batch, per_token, seq, count).swapaxes(1, 2)
    places = jnp.arange(capacity) == before[..., None]
    return places & (wanted[..., None] > 0)


def dropless(
    x: jax.Array,
    shares: jax.Array,
    chosen: jax.Array,
    weights: Weights[jax.Array],
    *,
    scale_input: bool,
) -> jax.Array:
    """Sorts tokens by expert and multiplies each expert's run of them by its matrices.

    Arguments and result as of `with_capacity`. Each device sorts the tokens that it has; along the
    mesh's `expert` axis it first gathers its neighbours' and keeps those of its own experts.
    """
    mesh = jax.sharding.get_abstract_mesh()
    batch = batch_axes(mesh.shape)
    # one token more is not split along the sequence
    tokens = PartitionSpec(batch, None if x.shape[1] == 1 else "context", None)

    def on_device(
        x: jax.Array, shares: jax.Array, chosen: jax.Array, weights: Weights[jax.Array]
    ) -> jax.Array:
        gather = ("expert",) if mesh.shape["expert"] > 1 else ()
        for axis in gather:
            x, shares, chosen = (
                jax.lax.all_gather(part, axis, axis=0, tiled=True) for part in (x, shares, chosen)
            )
        first = jax.lax.axis_index("expert") * weights.gate.shape[0]
        given = _sorted_by_expert(x, shares, chosen - first, weights, scale_input=scale_input)
        given = jax.lax.psum(given, "tensor")
        for axis in gather:
            given = jax.lax.psum_scatter(given, axis, scatter_dimension=0, tiled=True)
        return given

    into = PartitionSpec("expert", None, "tensor")
    out = PartitionSpec("expert", "tensor", None)
    run = jax.shard_map(
        on_device,
        in_specs=(tokens, tokens, tokens, Weights(into, into, out)),
        out_specs=tokens,
        check_vma=False,
    )
    return run(x, shares, chosen, weights)


def _sorted_by_expert(
    x: jax.Array,
    shares: jax.Array,
    chosen: jax.Array,
    weights: Weights[jax.Array],
    *,
    scale_input: bool,
) -> jax.Array:
    """What this device's experts make of tokens; those of other experts come last and give 0."""
    count, embed = weights.gate.shape[:2]
    own = (chosen >= 0) & (chosen < count)
    expert = jnp.where(own, chosen, count).reshape(-1)
    order = jnp.argsort(expert)
    token = order // chosen.shape[-1]
    share = jnp.where(own, shares, 0).reshape(-1)[order, None].astype(x.dtype)
    runs = jnp.bincount(expert, length=count + 1)[:count].astype(jnp.int32)
    flat = x.reshape(-1, embed)
    rows = flat[token]
    rows = rows * share if scale_input else rows
    gate = jax.lax.ragged_dot(rows, weights.gate, runs)
    up = jax.lax.ragged_dot(rows, weights.up, runs)
    given = jax.lax.ragged_dot(jax.nn.silu(gate) * up, weights.down, runs)
    given = given if scale_input else given * share
    given = jnp.where(expert[order, None] < count, given, 0)
    return jnp.zeros_like(flat).at[token].add(given).reshape(x.shape)
