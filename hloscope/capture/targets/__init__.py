"""What a program can be compiled for: names, devices, toolchains."""

from hloscope.capture.targets.parse import is_target, parse_target

__all__ = ["is_target", "parse_target"]
