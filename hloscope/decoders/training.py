"""The losses with the optimizer that both stacks train with."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

BETA = 0.1  # Rafailov et al. 2023, Direct Preference Optimization, appendix B

Batch = dict[str, jax.Array]
Logits = Callable[[jax.Array], jax.Array]


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


def preference_loss(policy: Logits, reference: Logits, batch: Batch) -> jax.Array:
    """The DPO loss (Rafailov et al. 2023, equation 7), a float32 scalar.

    Args:
      policy: from tokens `[sequences, seq]` to logits, of what is trained.
      reference: the same of what it started from.
      batch: `inputs` and `targets`, `[batch, 2, seq]`, the preferred sequence first.
    """
    inputs, targets = (_one_by_one(batch[name]) for name in ("inputs", "targets"))
    frozen = jax.lax.stop_gradient(reference(inputs))
    ratios = _log_probability(policy(inputs), targets) - _log_probability(frozen, targets)
    ratios = ratios.reshape(-1, 2)
    return -jnp.mean(jax.nn.log_sigmoid(BETA * (ratios[:, 0] - ratios[:, 1])))


def _one_by_one(pairs: jax.Array) -> jax.Array:
    return pairs.reshape(-1, pairs.shape[-1])


def _log_probability(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Of each sequence, `[sequences]`, float32."""
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    return -jnp.sum(losses, axis=-1, dtype=jnp.float32)


def in_parts(batch: Batch, parts: int) -> Batch:
    """Divides `[batch, ...]` into `[parts, batch / parts, ...]`.

    Sequence number `i` goes to part `i % parts`, so that no sequence leaves its device.
    """
    return {
        name: tokens.reshape(-1, parts, *tokens.shape[1:]).swapaxes(0, 1)
        for name, tokens in batch.items()
    }
