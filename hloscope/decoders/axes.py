"""Logical axes of activations, as both stacks constrain them."""

from __future__ import annotations

RESIDUAL = ("activation_batch", "activation_length", "activation_embed")
HIDDEN = ("activation_batch", "activation_length", "activation_mlp")
QUERY = ("activation_batch", "activation_length", "activation_heads", "activation_head_dim")
# keys and values see the whole sequence; expanded from a latent they have as many heads as queries
KEY = ("activation_batch", "activation_kv_length", "activation_kv_heads", "activation_head_dim")
EXPANDED = ("activation_batch", "activation_kv_length", "activation_heads", "activation_head_dim")
LATENT = ("activation_batch", "activation_kv_length", "activation_embed")
LOGITS = ("activation_batch", "activation_length", "activation_vocab")
