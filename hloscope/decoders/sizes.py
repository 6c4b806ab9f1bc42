"""Published sizes of the reference decoders."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Dimensions of one decoder.

    Attributes:
      embed: width of the residual stream.
      head_dim: width of one attention head; `heads * head_dim` need not be `embed`.
      mlp: width of the hidden layer of each block's MLP.
      vocab: rows of the token embedding, padding included.
      positions: rows of the learned position embedding.
      seq: tokens of a sequence, where the caller does not say.
      source: where the figures were published.
      note: where a figure is not the published one, empty for nowhere.
    """

    layers: int
    embed: int
    heads: int
    head_dim: int
    mlp: int
    vocab: int
    positions: int
    seq: int
    source: str
    note: str

    def parameter_count(self, *, tied: bool = True) -> int:
        """Counts weights from the dimensions alone.

        A block has the fused qkv projection, the attention's output projection, the MLP's two
        layers (each with a bias) and two layer norms (scale and bias each); around the blocks are
        two embeddings, a layer norm and, unless tied, an output projection without bias.
        """
        inner = self.heads * self.head_dim
        attention = (self.embed + 1) * 3 * inner + (inner + 1) * self.embed
        mlp = (self.embed + 1) * self.mlp + (self.mlp + 1) * self.embed
        norm = 2 * self.embed
        tables = (self.vocab * (1 if tied else 2) + self.positions) * self.embed
        return self.layers * (attention + mlp + 2 * norm) + norm + tables


@cache
def sizes() -> Mapping[str, Size]:
    """Name to size, in the order of sizes.toml: smallest first."""
    text = files("hloscope.decoders").joinpath("sizes.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {name: Size(**figures) for name, figures in tomllib.loads(text).items()}
    )
