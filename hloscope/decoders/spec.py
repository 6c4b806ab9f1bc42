"""Program specs of the reference decoders: `NAME:STACK?OPTION=VALUE&...`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hloscope.decoders.options import Options, parse
from hloscope.decoders.sizes import sizes
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from hloscope.decoders.sizes import Size

STACKS = ("linen", "nnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSpec:
    """A spec taken apart.

    Attributes:
      text: the spec as the user wrote it.
      stack: one of `STACKS`.
    """

    text: str
    name: str
    stack: str
    options: Options

    @property
    def size(self) -> Size:
        """The named decoder's dimensions."""
        return sizes()[self.name]


def parse_spec(text: str) -> DecoderSpec:
    """Takes a spec apart.

    Raises:
      HloscopeError: for an unknown name, stack or option, or a value that an option cannot have.
    """
    program, _, query = text.partition("?")
    name, _, stack = program.partition(":")
    if name not in sizes():
        raise HloscopeError(
            f"unknown program '{name}'", where=text, remedy=_nearest_name(name, stack)
        )
    if stack not in STACKS:
        problem = f"unknown stack '{stack}'" if stack else f"program '{name}' names no stack"
        remedy = " or ".join(f"{name}:{known}" for known in STACKS)
        raise HloscopeError(problem, where=text, remedy=remedy)
    return DecoderSpec(text=text, name=name, stack=stack, options=parse(query, where=text))


def _nearest_name(name: str, stack: str) -> str:
    close = difflib.get_close_matches(name, sizes(), n=1)
    if close:
        return f"{close[0]}:{stack if stack in STACKS else STACKS[0]}"
    return f"hloscope programs; there are {', '.join(sizes())}"
