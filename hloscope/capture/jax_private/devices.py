"""JAX's unstable doors to devices that nobody owns; importing this module imports JAX."""

from __future__ import annotations

from collections.abc import Sequence

import jax
from jax.experimental import topologies

# libtpu before 0.0.50 wants the host's bounds for slices smaller than 2x2 chips
_HOST_BOUNDS = 3


def tpu_devices(
    name: str, *, host_bounds: Sequence[int] | None, chip_config: str | None
) -> list[jax.Device]:
    """Devices of a TPU topology, for compiling alone.

    `jax.experimental.topologies.get_topology_desc`, whose keyword arguments libtpu defines:
    `chips_per_host_bounds` (three integers) and `chip_config_name`.

    Args:
      name: libtpu's name of it, `v5p:2x2x2`.
      host_bounds: chips that one host has along each of three dimensions, `None` for libtpu's own.
      chip_config: `megacore` and the like, `None` for libtpu's own.

    Raises:
      RuntimeError: libtpu is missing or refuses the topology.
    """
    options: dict[str, object] = {}
    if host_bounds is not None:
        options["chips_per_host_bounds"] = [*host_bounds, 1, 1][:_HOST_BOUNDS]
    if chip_config is not None:
        options["chip_config_name"] = chip_config
    topology = topologies.get_topology_desc(platform="tpu", topology_name=name, **options)
    return list(topology.devices)


def gpu_devices(*, hosts: int, gpus_per_host: int, description: str) -> list[jax.Device]:
    """Devices of a GPU topology, for compiling alone.

    `jax.experimental.topologies.get_topology_desc`, whose keyword arguments the CUDA plugin
    defines: `topology` (partitions x hosts x GPUs) and `target_config`.

    Args:
      hosts: machines, each a JAX process.
      gpus_per_host: GPUs of each machine.
      description: a `stream_executor.GpuTargetConfigProto` in text form.

    Raises:
      RuntimeError: the plugin is missing or refuses the description.
    """
    topology = topologies.get_topology_desc(
        platform="cuda",
        topology_name="",
        topology=f"1x{hosts}x{gpus_per_host}",
        target_config=description,
    )
    return list(topology.devices)
