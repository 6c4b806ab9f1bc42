"""The environment variables that a compile for a target starts with, and its compile options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hloscope.model.target import Target

_DEVICE_COUNT = "--xla_force_host_platform_device_count"

# The device that runs is never the one that is compiled for: JAX keeps to the host's CPU.
_EVERY_PLATFORM = {"JAX_PLATFORMS": "cpu"}

_TPU = {
    # a second process with libtpu aborts on a lock file otherwise
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    # no query to a metadata server that only TPU machines have
    "TPU_SKIP_MDS_QUERY": "1",
    # no log files outside the capture's own folder
    "TPU_LOG_DIR": "disabled",
}

_GPU_OPTIONS = {
    # autotuning measures on a device, and Triton's choices come from it
    "xla_gpu_autotune_level": "0",
    # XLA reads True and False of a text, nothing else
    "xla_gpu_enable_triton_gemm": "False",
}


def child_environment(
    target: Target, inherited: Mapping[str, str] = MappingProxyType({})
) -> Mapping[str, str]:
    """Variables that a process needs before it imports JAX to compile for a target.

    Args:
      target: what the process compiles for.
      inherited: the environment that the result is laid over; a variable that holds flags of the
        user's keeps them.
    """
    variables = dict(_EVERY_PLATFORM)
    if target.chip.platform == "tpu":
        variables |= _TPU
    flags = [f for f in inherited.get("XLA_FLAGS", "").split() if not _counts_devices(f)]
    if target.chip.platform == "cpu":
        flags.append(f"{_DEVICE_COUNT}={target.device_count}")
        # JAX's own setting of the same count; -1 is its default, and the flag above decides
        variables["JAX_NUM_CPU_DEVICES"] = "-1"
    if flags:
        variables["XLA_FLAGS"] = " ".join(flags)
    return MappingProxyType(variables)


def default_compile_options(target: Target) -> Mapping[str, str]:
    """XLA options without which compiling for the target needs the device itself.

    Values are in the text form that `compile(compiler_options=...)` takes; what the user asks for
    goes over them.
    """
    return MappingProxyType(dict(_GPU_OPTIONS) if target.chip.platform == "gpu" else {})


def _counts_devices(flag: str) -> bool:
    return flag.partition("=")[0] == _DEVICE_COUNT
