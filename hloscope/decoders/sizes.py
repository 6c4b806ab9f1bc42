"""Published sizes of the reference decoders."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Dimensions of the routed experts.

    Attributes:
      count: experts of one layer.
      per_token: experts that one token goes to.
      mlp: width of the hidden layer of one expert.
      shared_mlp: the same of the experts that every token goes to, all together.
      every: each how many layers have experts, the last of them.
      dense_first: layers before the first with experts.
      groups: groups that experts are divided into, of which a token's lie in `top_groups`.
      scale: what the routing weights are multiplied by.
    """

    count: int
    per_token: int
    mlp: int
    shared_mlp: int
    every: int = 1
    dense_first: int = 0
    groups: int = 1
    top_groups: int = 1
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Latent:
    """Dimensions of multi-head latent attention.

    Attributes:
      query_rank: width of the queries' latent.
      rank: width of the latent that keys and values share.
      rope_dim: what of a head's width has positions; all heads share the keys' part.
      value_dim: width of a head's values.
    """

    query_rank: int
    rank: int
    rope_dim: int
    value_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Dimensions of one decoder.

    Attributes:
      family: which of `families.FAMILIES` it belongs to.
      embed: width of the residual stream.
      kv_heads: heads of keys and values; `heads` is a multiple.
      head_dim: width of a head's queries and keys; `heads * head_dim` need not be `embed`.
      mlp: width of the hidden layer of each dense block's MLP.
      vocab: rows of the token embedding, padding included.
      positions: longest sequence; rows of the position embedding where there is one.
      seq: tokens of a sequence, where the caller does not say.
      source: where the figures were published.
      note: where a figure is not the published one, empty for nowhere.
      reach: positions that a layer with local or chunked attention sees; 0 where there is none.
      query_scale: scores are divided by its square root; `head_dim` where it is 0.
      rope_factor: how much longer sequences are made by scaling the rotary frequencies.
      qk_norm: `none`; `rms` with a learned scale; `l2` without one, where there are positions.
    """

    family: str
    layers: int
    embed: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    vocab: int
    positions: int
    seq: int
    source: str
    note: str
    reach: int = 0
    query_scale: int = 0
    rope_factor: float = 1.0
    qk_norm: str = "none"
    experts: Experts | None = None
    latent: Latent | None = None


@cache
def sizes() -> Mapping[str, Size]:
    """Name to size, in the order of sizes.toml: families by age, each smallest first."""
    text = files("hloscope.decoders").joinpath("sizes.toml").read_text(encoding="utf-8")
    return MappingProxyType({name: _size(figures) for name, figures in tomllib.loads(text).items()})


def _size(figures: dict[str, Any]) -> Size:
    nested: dict[str, type[Any]] = {"experts": Experts, "latent": Latent}
    made = {name: record(**figures[name]) for name, record in nested.items() if name in figures}
    return Size(**{**figures, **made})
