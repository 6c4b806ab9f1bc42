"""The JAX devices of a target, made inside the process that compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hloscope.capture.targets.chips import ChipEntry, gpu_description, tpu_chips
from hloscope.capture.targets.parse import GPUS_PER_HOST
from hloscope.capture.targets.toolchain import require_toolchain
from hloscope.capture.targets.topology import parse_sides
from hloscope.errors import HloscopeError
from hloscope.model.target import Target

if TYPE_CHECKING:
    import jax


def target_devices(target: Target) -> list[jax.Device]:
    """Devices to put a mesh on; imports JAX, whose environment `child_environment` gives.

    They compile and cannot run, except those of a cpu target.

    Returns:
      `target.device_count` devices in the topology's own order.

    Raises:
      HloscopeError: the toolchain is missing or refuses the target.
    """
    platform = target.chip.platform
    require_toolchain(platform, target.spec)
    try:
        devices = _described(target) if platform in {"tpu", "gpu"} else _host(target)
    except RuntimeError as error:
        # JAX's errors of a plugin and of a topology are RuntimeErrors
        raise HloscopeError(
            f"the compiler refuses target '{target.spec}': {_first_line(error)}",
            remedy=f"hloscope targets {platform}:{target.chip.name}",
        ) from error
    if len(devices) != target.device_count:
        raise HloscopeError(
            f"target '{target.spec}' has {target.device_count} devices "
            f"and the compiler describes {len(devices)}",
            remedy="start the process with the variables of child_environment(target)",
        )
    return devices


def _described(target: Target) -> list[jax.Device]:
    from hloscope.capture.jax_private import devices

    if target.chip.platform == "gpu":
        hosts = max(1, target.device_count // GPUS_PER_HOST)
        return devices.gpu_devices(
            hosts=hosts,
            gpus_per_host=target.device_count // hosts,
            description=gpu_description(target.chip.name),
        )
    entry = tpu_chips()[target.chip.name]
    return devices.tpu_devices(
        f"{target.chip.name}:{target.topology}",
        host_bounds=_host_bounds(entry, target.topology),
        chip_config=entry.chip_config,
    )


def _host_bounds(entry: ChipEntry, topology: str) -> tuple[int, ...] | None:
    """The whole slice where it is smaller than a host."""
    sides = parse_sides(topology)
    if sides is None or entry.topologies is None or sides not in entry.topologies.sub_host:
        return None
    return sides


def _host(target: Target) -> list[jax.Device]:
    import jax

    return list(jax.devices("cpu"))[: target.device_count]


def _first_line(error: RuntimeError) -> str:
    return str(error).strip().partition("\n")[0]
