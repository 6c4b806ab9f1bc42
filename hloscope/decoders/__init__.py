"""Reference decoders: GPT-3 in Flax Linen and Flax NNX, for any number of devices.

Names, sizes and options are read without JAX; `resolve` loads it.
"""

from __future__ import annotations

from hloscope.decoders.options import OptionHelp, option_help
from hloscope.decoders.registry import Description, describe, resolve
from hloscope.decoders.sizes import Size, sizes
from hloscope.decoders.spec import STACKS, DecoderSpec, parse_spec

NAMES: tuple[str, ...] = tuple(sizes())

__all__ = [
    "NAMES",
    "STACKS",
    "DecoderSpec",
    "Description",
    "OptionHelp",
    "Size",
    "describe",
    "option_help",
    "parse_spec",
    "resolve",
]
