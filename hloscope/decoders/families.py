"""What the sizes of one family of decoders have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from hloscope.decoders.pattern import Layer, Rope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hloscope.decoders.sizes import Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Choices of architecture that are no numbers of a size.

    Attributes:
      norm: `layer` with scale and bias, or `rms` with a scale.
      activation: `gelu` in its tanh form, or `silu`.
      gated: whether a second projection multiplies the MLP's hidden layer.
      bias: whether projections in a block have one.
      fused: queries, keys and values from one projection.
      post_norms: norms after attention and MLP too, before what they give is added.
      scaled_embedding: token embeddings are multiplied by the root of their width.
      learned_positions: a table of position embeddings at the entrance.
      tied: logits through the token embedding, unless the caller says otherwise.
      router: `sigmoid_topk` gives each chosen expert's input its own sigmoid score;
        `sigmoid_grouped` chooses by score plus a bias within groups, and normalises the scores.
    """

    norm: str = "rms"
    epsilon: float = 1e-5
    activation: str = "silu"
    gated: bool = True
    bias: bool = False
    fused: bool = False
    post_norms: bool = False
    scaled_embedding: bool = False
    learned_positions: bool = False
    tied: bool = False
    router: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family.

    Attributes:
      layer: what the layer of a number is.
      group: layers after which their pattern repeats.
    """

    traits: Traits
    layer: Callable[[Size, int], Layer]
    group: int = 1


def _gpt3(_: Size, __: int) -> Layer:
    return Layer()


def _llama2(_: Size, __: int) -> Layer:
    return Layer(rope=Rope(theta=1e4))


def _llama3(size: Size, _: int) -> Layer:
    return Layer(rope=Rope(theta=5e5, scaling="llama3", factor=size.rope_factor))


def _gemma3(size: Size, number: int) -> Layer:
    """Five local layers, then one that sees all, with wave lengths of their own."""
    if (number + 1) % GEMMA3_GROUP:
        return Layer(span="local", reach=size.reach, rope=Rope(theta=1e4))
    return Layer(rope=Rope(theta=1e6, scaling="linear", factor=size.rope_factor))


def _deepseek(size: Size, number: int) -> Layer:
    assert size.experts is not None  # noqa: S101 - every size of the family has them
    return Layer(rope=Rope(theta=1e4), experts=number >= size.experts.dense_first)


def _llama4(size: Size, number: int) -> Layer:
    """Three layers with chunked attention, then one that sees all and has no positions."""
    assert size.experts is not None  # noqa: S101 - every size of the family has them
    experts = (number + 1) % size.experts.every == 0
    if (number + 1) % LLAMA4_GROUP == 0:
        return Layer(experts=experts)
    scaling = "none" if size.rope_factor == 1 else "llama3"
    rope = Rope(theta=5e5, scaling=scaling, factor=size.rope_factor, high=1.0)
    return Layer(span="chunked", reach=size.reach, rope=rope, experts=experts)


GEMMA3_GROUP = 6  # Gemma 3 Technical Report, section 2: five local layers for every global one
LLAMA4_GROUP = 4  # `no_rope_layers` of the published configurations; `every` divides it

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "gpt3": Family(
            traits=Traits(
                norm="layer",
                activation="gelu",
                gated=False,
                bias=True,
                fused=True,
                learned_positions=True,
                tied=True,
            ),
            layer=_gpt3,
        ),
        "llama2": Family(traits=Traits(), layer=_llama2),
        "llama3": Family(traits=Traits(), layer=_llama3),
        "deepseek": Family(traits=Traits(epsilon=1e-6, router="sigmoid_grouped"), layer=_deepseek),
        "gemma3": Family(
            traits=Traits(
                epsilon=1e-6,
                activation="gelu",
                post_norms=True,
                scaled_embedding=True,
                tied=True,
            ),
            layer=_gemma3,
            group=GEMMA3_GROUP,
        ),
        "llama4": Family(traits=Traits(router="sigmoid_topk"), layer=_llama4, group=LLAMA4_GROUP),
    }
)
