"""The chips that a target can name, read from the data files of this package."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from hloscope.capture.targets.topology import TopologyRule, parse_sides
from hloscope.model.target import Chip
from hloscope.model.units import Bytes, Measured, Missing

GIB = 1 << 30
GB = 10**9
TERA = 10**12

# what `cpu:8` runs on; nothing is published for whatever machine that is
HOST = Chip(
    platform="cpu",
    name="host",
    devices_per_chip=1,
    memory=Missing("the memory of a host is not part of a cpu target"),
    peak_flops=MappingProxyType({}),
    memory_bandwidth=Missing("no figure is published for a cpu target"),
    interconnect_bandwidth=Missing("devices of a cpu target share one memory"),
    source="",
    usable_memory=Missing("the compiler knows no limit for a cpu target"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipEntry:
    """A chip with what only target names and device descriptions need.

    Attributes:
      product: the maker's name.
      aliases: other names in use, lower case.
      topologies: of a TPU generation, `None` for a GPU.
      chip_config: libtpu's name of the configuration that machines of this generation run with,
        `None` for libtpu's own default.
      accelerator_type_units: what Google Cloud's `v5p-16` counts for each chip.
    """

    chip: Chip
    product: str
    aliases: tuple[str, ...] = ()
    topologies: TopologyRule | None = None
    chip_config: str | None = None
    accelerator_type_units: int = 1


@cache
def tpu_chips() -> Mapping[str, ChipEntry]:
    """TPU generations by name, oldest first."""
    return MappingProxyType({name: _tpu(name, row) for name, row in _table("tpu").items()})


@cache
def gpu_chips() -> Mapping[str, ChipEntry]:
    """GPUs by name, oldest first."""
    return MappingProxyType({name: _gpu(name, row) for name, row in _table("gpu").items()})


def gpu_description(name: str) -> str:
    """A GPU as XLA's `GpuTargetConfigProto`, in protobuf text form."""
    return _data(f"{name}.textproto")


def _data(name: str) -> str:
    return (files("hloscope.capture") / "target_data" / name).read_text(encoding="utf-8")


def _table(name: str) -> Mapping[str, dict[str, Any]]:
    return tomllib.loads(_data(f"{name}.toml"))


def _tpu(name: str, row: Mapping[str, Any]) -> ChipEntry:
    devices = row["devices_per_chip"]
    chip = Chip(
        platform="tpu",
        name=name,
        devices_per_chip=devices,
        memory=Measured(Bytes(row["memory_gib"] * GIB // devices)),
        usable_memory=Measured(Bytes(row["usable_bytes_per_device"])),
        peak_flops=_flops(row, devices),
        memory_bandwidth=Measured(row["memory_gbs"] * GB / devices),
        interconnect_bandwidth=Measured(row["interconnect_gbs"] * GB / devices),
        source=row["source"],
    )
    return ChipEntry(
        chip=chip,
        product=row["product"],
        aliases=tuple(row["aliases"]),
        topologies=_rule(row),
        chip_config=row.get("chip_config"),
        accelerator_type_units=row["accelerator_type_units_per_chip"],
    )


def _gpu(name: str, row: Mapping[str, Any]) -> ChipEntry:
    chip = Chip(
        platform="gpu",
        name=name,
        devices_per_chip=1,
        memory=Measured(Bytes(row["memory_gb"] * GB)),
        usable_memory=Measured(Bytes(row["usable_bytes"])),
        peak_flops=_flops(row, 1),
        memory_bandwidth=Measured(float(row["memory_gbs"] * GB)),
        interconnect_bandwidth=Measured(float(row["interconnect_gbs"] * GB)),
        source=row["source"],
    )
    return ChipEntry(chip=chip, product=row["product"])


def _flops(row: Mapping[str, Any], devices: int) -> Mapping[str, float]:
    flops = sorted(row["peak_tflops"].items())
    # rounded: 66.9 times 10**12 is 66900000000000.01
    return MappingProxyType({dtype: round(tera * TERA) / devices for dtype, tera in flops})


def _rule(row: Mapping[str, Any]) -> TopologyRule:
    examples = _topologies(row["examples"])
    return TopologyRule(
        step=tuple(row.get("step", [1] * len(examples[0]))),
        sides=tuple(row.get("sides", ())),
        refused=frozenset(_topologies(row.get("refused", ()))),
        max_side=row["max_side"],
        max_chips=row["max_chips"],
        sub_host=frozenset(_topologies(row["sub_host"])),
        examples=examples,
    )


def _topologies(texts: list[str]) -> tuple[tuple[int, ...], ...]:
    return tuple(sides for text in texts if (sides := parse_sides(text)))
