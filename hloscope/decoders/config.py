"""A reference decoder with every choice made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hloscope.decoders.options import Options
    from hloscope.decoders.sizes import Size

MESH_AXES = ("data", "fsdp", "tensor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a decoder is built from; hashable, so that it can be a Linen module's attribute."""

    layers: int
    embed: int
    heads: int
    head_dim: int
    mlp: int
    vocab: int
    positions: int
    scan: bool
    remat: str
    dropout: float
    tied: bool
    dtype: str
    logits_dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A decoder, the step to compile, and how both lie on the devices.

    Attributes:
      batch: sequences of one step, over all devices.
      mesh: axis sizes by name, in `MESH_AXES` order; their product is the number of devices.
    """

    config: Config
    step: str
    batch: int
    seq: int
    mesh: Mapping[str, int]
    donate: bool


def make_setup(size: Size, options: Options, devices: int, *, where: str) -> Setup:
    """Settles what the options leave open.

    Args:
      size: the named decoder's dimensions.
      options: what the caller asked for.
      devices: how many devices the target has.
      where: the whole spec, for errors.

    Raises:
      HloscopeError: where sizes, options and devices do not fit together.
    """
    config = _config(size, options)
    mesh = _mesh(config, options, devices, where)
    replicas = mesh["data"] * mesh["fsdp"]
    batch = options.batch or replicas
    seq = options.seq or min(size.seq, size.positions)
    if seq > size.positions:
        raise HloscopeError(
            f"option 'seq' cannot be '{seq}': there are {size.positions} positions",
            where=where,
            remedy=f"seq={size.positions}",
        )
    _check_split("batch", batch, "data * fsdp", replicas, where)
    return Setup(
        config=config,
        step=options.step,
        batch=batch,
        seq=seq,
        mesh=mesh,
        donate=options.donate,
    )


def _config(size: Size, options: Options) -> Config:
    return Config(
        layers=options.layers or size.layers,
        embed=size.embed,
        heads=size.heads,
        head_dim=size.head_dim,
        mlp=size.mlp,
        vocab=options.vocab or size.vocab,
        positions=size.positions,
        scan=options.scan,
        remat=options.remat,
        dropout=options.dropout,
        tied=options.tied,
        dtype=options.dtype,
        logits_dtype=options.logits_dtype,
    )


def _mesh(config: Config, options: Options, devices: int, where: str) -> dict[str, int]:
    tensor = options.tensor or 1
    rest = devices // (tensor * (options.data or 1)) or 1
    # as much of what is left as splits the width evenly; `data` takes what then remains
    fsdp = options.fsdp or (rest if options.data else math.gcd(rest, config.embed))
    data = options.data or devices // (tensor * fsdp) or 1
    if data * fsdp * tensor != devices:
        raise HloscopeError(
            f"mesh of data={data}, fsdp={fsdp}, tensor={tensor} does not cover {devices} devices",
            where=where,
            remedy="give axis sizes whose product is the number of devices, or leave one out",
        )
    _check_split("embed", config.embed, "fsdp", fsdp, where)
    for name in ("heads", "mlp", "vocab"):
        _check_split(name, getattr(config, name), "tensor", tensor, where)
    return {"data": data, "fsdp": fsdp, "tensor": tensor}


def _check_split(name: str, extent: int, axis: str, parts: int, where: str) -> None:
    if extent % parts:
        raise HloscopeError(
            f"{name} of {extent} does not split evenly over {axis} of {parts}",
            where=where,
            remedy=f"a multiple of {parts} for {name}, or other mesh axis sizes",
        )
