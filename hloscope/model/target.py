"""What a program is compiled for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloscope.model.showing import Shown
from hloscope.model.units import Bytes, Maybe, Missing

NO_KNOWN_LIMIT = Missing("the compiler's own limit is not known for this chip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip(Shown):
    """A chip's published figures, each with its source.

    Attributes:
      platform: `tpu`, `gpu` or `cpu`.
      name: the middle word of a target (`v5p`, `h100`), `host` for cpu.
      devices_per_chip: JAX devices that one chip shows as.
      memory: device memory of one JAX device, as published.
      usable_memory: what the compiler lets one JAX device's program use of it; the figure that
        headroom is counted against.
      peak_flops: dtype (`bf16`, `f32`, `int8`, ...) to FLOP/s of one JAX device, dense.
      memory_bandwidth: bytes/s of one JAX device.
      interconnect_bandwidth: bytes/s of one JAX device, all links together, one direction.
      source: where the figures were published.
    """

    platform: str
    name: str
    devices_per_chip: int
    memory: Maybe[Bytes]
    peak_flops: Mapping[str, float]
    memory_bandwidth: Maybe[float]
    interconnect_bandwidth: Maybe[float]
    source: str
    usable_memory: Maybe[Bytes] = NO_KNOWN_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Shown):
    """A named set of devices.

    Attributes:
      spec: as the user writes it: `tpu:v5p:2x2x2`, `gpu:h100:8`, `cpu:8`.
      topology: the part after the chip, `""` for cpu.
      device_count: JAX devices.
    """

    spec: str
    chip: Chip
    topology: str
    device_count: int
