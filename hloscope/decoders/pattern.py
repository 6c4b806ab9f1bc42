"""What each layer of a decoder is, and which layers are scanned together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """Rotary position embedding.

    Attributes:
      theta: base of the wave lengths.
      scaling: `none`; `linear` divides every frequency by `factor`; `llama3` only low ones.
      low, high: of `llama3`, the wave counts over `original` positions between which frequencies
        go over from divided to kept.
      original: positions that the unscaled model was trained on.
    """

    theta: float
    scaling: str = "none"
    factor: float = 1.0
    low: float = 1.0
    high: float = 4.0
    original: int = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer.

    Attributes:
      span: `full` sees all earlier positions, `local` the last `reach` of them, `chunked` those
        of the same chunk of `reach` positions.
      rope: rotary positions, `None` for a layer without any.
      experts: routed experts in place of the dense MLP.
    """

    span: str = "full"
    reach: int = 0
    rope: Rope | None = None
    experts: bool = False


class Stretch(NamedTuple):
    """Layers that lie together in the tree.

    Attributes:
      name: the field that holds them.
      group: the layers of one turn of the scan; all of the stretch where nothing is scanned.
      repeats: turns of the scan, `None` for layers that are written out one by one.
    """

    name: str
    group: tuple[Layer, ...]
    repeats: int | None


def stretches(
    layers: tuple[Layer, ...], *, prefix: int, group: int, scan: bool
) -> tuple[Stretch, ...]:
    """Divides a decoder's layers as users do.

    The first `prefix` layers are of another kind than the rest and stand apart. A scan takes
    `group` layers a turn, after which the pattern repeats; what is left over is written out.
    """
    prefix = min(prefix, len(layers))
    head, body = layers[:prefix], layers[prefix:]
    found = []
    if head:
        found.append(Stretch("dense_layers", head[:1], prefix) if scan else _listed(head, "dense_"))
    if not scan:
        return (*found, _listed(body)) if body else tuple(found)
    turns = len(body) // group
    if turns:
        found.append(Stretch("layers", body[:group], turns))
    if rest := body[turns * group :]:
        found.append(Stretch("remainder", rest, None))
    return tuple(found)


def _listed(layers: tuple[Layer, ...], prefix: str = "") -> Stretch:
    return Stretch(f"{prefix}layers", layers, None)
