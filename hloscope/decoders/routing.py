"""Which experts each token goes to, with what weight."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from hloscope.decoders.sizes import Experts


def route(
    scores: jax.Array, bias: jax.Array | None, experts: Experts, router: str
) -> tuple[jax.Array, jax.Array]:
    """Chooses experts.

    Args:
      scores: `[batch, seq, experts]`, float32, as the router gives them.
      bias: `[experts]`, added where experts are chosen and not where they are weighed.
      experts: the dimensions.
      router: which of `families.Traits.router`.

    Returns:
      Weights `[batch, seq, per_token]` and the numbers of the experts, alike.
    """
    shares = jax.nn.sigmoid(scores)
    if router == "sigmoid_topk":
        return jax.lax.top_k(shares, experts.per_token)
    preferred = shares if bias is None else shares + bias
    _, chosen = jax.lax.top_k(_in_top_groups(preferred, experts), experts.per_token)
    weights = jnp.take_along_axis(shares, chosen, axis=-1)
    return weights / weights.sum(-1, keepdims=True) * experts.scale, chosen


def _in_top_groups(preferred: jax.Array, experts: Experts) -> jax.Array:
    """Lets only experts of a token's best groups be chosen; a group is as good as its best two."""
    grouped = preferred.reshape(*preferred.shape[:-1], experts.groups, -1)
    of_group = jax.lax.top_k(grouped, 2)[0].sum(-1)
    _, best = jax.lax.top_k(of_group, experts.top_groups)
    allowed = jax.nn.one_hot(best, experts.groups, dtype=bool).any(-2)
    return jnp.where(allowed[..., None], grouped, -jnp.inf).reshape(preferred.shape)
