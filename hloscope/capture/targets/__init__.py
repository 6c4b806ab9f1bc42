"""What a program can be compiled for: names, devices, toolchains."""

from hloscope.capture.targets.chips import ChipEntry, gpu_chips, tpu_chips
from hloscope.capture.targets.devices import target_devices
from hloscope.capture.targets.parse import is_target, parse_target
from hloscope.capture.targets.surroundings import child_environment, default_compile_options
from hloscope.capture.targets.toolchain import Toolchain, require_toolchain, toolchain

__all__ = [
    "ChipEntry",
    "Toolchain",
    "child_environment",
    "default_compile_options",
    "gpu_chips",
    "is_target",
    "parse_target",
    "require_toolchain",
    "target_devices",
    "toolchain",
    "tpu_chips",
]
