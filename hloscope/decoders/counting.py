"""How many weights a decoder has, from its dimensions alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hloscope.decoders.families import Traits
    from hloscope.decoders.pattern import Layer
    from hloscope.decoders.sizes import Size


def parameter_count(
    size: Size, traits: Traits, layers: tuple[Layer, ...], *, tied: bool, vocab: int
) -> int:
    """Counts weights: blocks, a norm after them, embeddings, and the output matrix unless tied."""
    blocks = sum(_block(size, traits, layer) for layer in layers)
    rows = vocab * (1 if tied else 2) + (size.positions if traits.learned_positions else 0)
    return blocks + _norm(traits, size.embed) + rows * size.embed


def _block(size: Size, traits: Traits, layer: Layer) -> int:
    norms = (4 if traits.post_norms else 2) * _norm(traits, size.embed)
    attention = _latent_attention(size) if size.latent else _attention(size, traits)
    return norms + attention + (_experts(size) if layer.experts else _mlp(size, traits, size.mlp))


def _norm(traits: Traits, width: int) -> int:
    return width * (2 if traits.norm == "layer" else 1)


def _attention(size: Size, traits: Traits) -> int:
    inner = (size.heads + 2 * size.kv_heads) * size.head_dim
    merged = size.heads * size.head_dim
    biases = inner + size.embed if traits.bias else 0
    norms = 2 * size.head_dim if size.qk_norm == "rms" else 0
    return size.embed * (inner + merged) + biases + norms


def _latent_attention(size: Size) -> int:
    latent = size.latent
    assert latent is not None  # noqa: S101 - asked by the caller
    queries = size.embed * latent.query_rank + latent.query_rank * size.heads * size.head_dim
    keys = size.head_dim - latent.rope_dim
    shared = size.embed * (latent.rank + latent.rope_dim)
    expanded = latent.rank * size.heads * (keys + latent.value_dim)
    norms = latent.query_rank + latent.rank
    return queries + shared + expanded + norms + size.heads * latent.value_dim * size.embed


def _mlp(size: Size, traits: Traits, hidden: int) -> int:
    into = 2 if traits.gated else 1
    biases = into * hidden + size.embed if traits.bias else 0
    return size.embed * hidden * (into + 1) + biases


def _experts(size: Size) -> int:
    """Three matrices an expert, the router, and an expert's bias where groups are chosen."""
    experts = size.experts
    assert experts is not None  # noqa: S101 - the layer's pattern says so
    router = size.embed * experts.count + (experts.count if experts.groups > 1 else 0)
    return 3 * size.embed * (experts.count * experts.mlp + experts.shared_mlp) + router
