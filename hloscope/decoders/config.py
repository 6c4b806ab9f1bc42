"""A reference decoder with every choice made."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from hloscope.decoders.families import FAMILIES
from hloscope.decoders.meshes import batch_axes, check_split, make_mesh_sizes
from hloscope.decoders.pattern import stretches
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hloscope.decoders.families import Traits
    from hloscope.decoders.options import Options
    from hloscope.decoders.pattern import Layer, Stretch
    from hloscope.decoders.sizes import Size

CAPACITY_FACTOR = 1.25  # Fedus et al. 2021, Switch Transformers, section 2.2
# options that some steps or some decoders alone know
_OF_TRAINING = ("loss", "accumulate", "lora")
_OF_CACHE = ("cache",)
_OF_EXPERTS = ("moe", "capacity_factor", "expert")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheShape:
    """Extent of the KV cache: sequences, and positions of each."""

    batch: int
    positions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a decoder is built from; hashable, so that it can be a Linen module's attribute.

    Attributes:
      size: the named decoder's dimensions.
      layers: what each layer is, first to last.
      attention: `dot_product` is `jax.nn.dot_product_attention`, `plain` two einsums.
      moe: how tokens reach experts, `capacity` or `dropless`.
      lora: rank of the adapters, 0 for none.
      cache: of a step that keeps keys and values, `None` for others.
    """

    size: Size
    traits: Traits
    layers: tuple[Layer, ...]
    vocab: int
    scan: bool
    remat: str
    dropout: float
    tied: bool
    dtype: str
    weights_dtype: str
    logits_dtype: str
    attention: str
    moe: str
    capacity_factor: float
    lora: int
    cache: CacheShape | None

    def stretches(self) -> tuple[Stretch, ...]:
        """The layers as they lie in the tree."""
        experts = self.size.experts
        return stretches(
            self.layers,
            prefix=experts.dense_first if experts else 0,
            group=FAMILIES[self.size.family].group,
            scan=self.scan,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A decoder, the step to compile, and how both lie on the devices.

    Attributes:
      batch: sequences of one step, over all devices; pairs of sequences for the DPO loss.
      seq: tokens of a sequence; of a decode step, positions that the cache has.
      loss: `cross_entropy` or `dpo`.
      accumulate: parts that a train step's batch is taken in.
      mesh: axis sizes by name, in `meshes.AXES` order; their product is the number of devices.
    """

    config: Config
    step: str
    batch: int
    seq: int
    loss: str
    accumulate: int
    mesh: Mapping[str, int]
    donate: bool

    def settled(self) -> dict[str, object]:
        """Every choice that the program rests on, given or not, by name."""
        choices: dict[str, object] = {
            field.name: getattr(self.config.size, field.name)
            for field in fields(self.config.size)
            if field.name not in {"source", "note", "experts", "latent"}
        }
        for part in (self.config.size.experts, self.config.size.latent):
            if part is not None:
                prefix = type(part).__name__.lower()
                choices |= {f"{prefix}_{f.name}": getattr(part, f.name) for f in fields(part)}
        named = {field.name for field in fields(self.config)} - {"size", "traits", "cache"}
        choices |= {name: getattr(self.config, name) for name in named}
        choices["layers"] = len(self.config.layers)
        if self.config.cache is not None:
            choices["cache"] = self.config.cache.positions
        own = ("step", "batch", "seq", "loss", "accumulate", "donate")
        return choices | {name: getattr(self, name) for name in own} | dict(self.mesh)


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
    _check_meaning(size, options, where)
    mesh = make_mesh_sizes(size, options, devices, where)
    replicas = math.prod(mesh[axis] for axis in batch_axes(mesh))
    accumulate = options.accumulate or 1
    batch = options.batch or replicas * accumulate
    seq = options.seq or min(size.seq, size.positions)
    _check_positions("seq", seq, size, where)
    check_split("batch", batch, " * ".join(batch_axes(mesh)), replicas, where)
    if batch % (replicas * accumulate):
        raise HloscopeError(
            f"batch of {batch} does not split evenly into {accumulate} parts over {replicas} "
            "devices",
            where=where,
            remedy=f"batch={replicas * accumulate}",
        )
    check_split("seq", seq, "context", mesh["context"], where)
    return Setup(
        config=_config(size, options, _cache(size, options, batch, seq, where)),
        step=options.step,
        batch=batch,
        seq=seq,
        loss=options.loss or "cross_entropy",
        accumulate=accumulate,
        mesh=mesh,
        donate=options.donate,
    )


def _config(size: Size, options: Options, cache: CacheShape | None) -> Config:
    family = FAMILIES[size.family]
    return Config(
        size=size,
        traits=family.traits,
        layers=tuple(family.layer(size, i) for i in range(options.layers or size.layers)),
        vocab=options.vocab or size.vocab,
        scan=options.scan,
        remat=options.remat,
        dropout=options.dropout,
        tied=family.traits.tied if options.tied is None else options.tied,
        dtype=options.dtype,
        weights_dtype=options.weights_dtype,
        logits_dtype=options.logits_dtype,
        attention=options.attention,
        moe=options.moe or "capacity",
        capacity_factor=options.capacity_factor or CAPACITY_FACTOR,
        lora=options.lora or 0,
        cache=cache,
    )


def _cache(size: Size, options: Options, batch: int, seq: int, where: str) -> CacheShape | None:
    if options.step not in {"prefill", "decode"}:
        return None
    positions = options.cache or seq
    _check_positions("cache", positions, size, where)
    if options.step == "prefill" and positions < seq:
        raise HloscopeError(
            f"a cache of {positions} positions does not hold {seq} tokens",
            where=where,
            remedy=f"cache={seq}",
        )
    return CacheShape(batch=batch, positions=positions)


def _check_meaning(size: Size, options: Options, where: str) -> None:
    """Refuses options that would change nothing."""
    refused: list[tuple[tuple[str, ...], str]] = []
    if options.step != "train":
        refused.append((_OF_TRAINING, "step=train"))
    if options.step not in {"prefill", "decode"}:
        refused.append((_OF_CACHE, "step=prefill or step=decode"))
    if size.experts is None:
        refused.append((_OF_EXPERTS, "a decoder with experts, such as deepseek-tiny"))
    for names, needed in refused:
        for name in names:
            if getattr(options, name) is not None:
                raise HloscopeError(
                    f"option '{name}' changes nothing here",
                    where=where,
                    remedy=f"leave it out; it is for {needed}",
                )
    if options.moe == "dropless" and options.capacity_factor is not None:
        raise HloscopeError(
            "option 'capacity_factor' changes nothing here",
            where=where,
            remedy="leave it out; it is for moe=capacity",
        )


def _check_positions(name: str, extent: int, size: Size, where: str) -> None:
    if extent > size.positions:
        raise HloscopeError(
            f"option '{name}' cannot be '{extent}': there are {size.positions} positions",
            where=where,
            remedy=f"{name}={size.positions}",
        )
