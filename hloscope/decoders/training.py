"""The loss with the optimizer that both stacks train with."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax


def make_optimizer() -> optax.GradientTransformation:
    """AdamW with GPT-3's betas, epsilon and weight decay (Brown et al. 2020, appendix B)."""
    return optax.adamw(learning_rate=3e-4, b1=0.9, b2=0.95, eps=1e-8, weight_decay=0.1)


def cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean loss in nats per token, a float32 scalar.

    Args:
      logits: `[batch, seq, vocab]`; the softmax is taken in their dtype.
      targets: `[batch, seq]`, token numbers.
    """
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    return jnp.mean(losses, dtype=jnp.float32)
