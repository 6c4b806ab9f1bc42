"""The reference decoders by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from hloscope.decoders.config import make_setup
from hloscope.decoders.counting import parameter_count
from hloscope.decoders.families import FAMILIES
from hloscope.decoders.options import write
from hloscope.decoders.sizes import Size, sizes
from hloscope.decoders.spec import STACKS, parse_spec
from hloscope.errors import HloscopeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jax

    from hloscope.model.program import Program

# where each stack makes the program of a step
_MODULES = {"train": "train", "prefill": "serve", "decode": "serve", "forward": "serve"}
_MODULE_NAMES = ("serve", "train")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What `hloscope programs` says of one decoder.

    Attributes:
      stacks: what may follow the name's colon.
      parameters: weights, from the dimensions alone; output tied or not as published.
    """

    name: str
    stacks: tuple[str, ...]
    size: Size
    parameters: int


def describe(prefix: str = "") -> tuple[Description, ...]:
    """Describes the decoders whose name starts with `prefix`, smallest first; needs no JAX.

    Raises:
      HloscopeError: where no name starts so.
    """
    found = tuple(
        Description(name=name, stacks=STACKS, size=size, parameters=_count(size))
        for name, size in sizes().items()
        if name.startswith(prefix)
    )
    if not found:
        raise HloscopeError(
            f"no program starts with '{prefix}'", remedy=f"one of {', '.join(sizes())}"
        )
    return found


def _count(size: Size) -> int:
    family = FAMILIES[size.family]
    layers = tuple(family.layer(size, number) for number in range(size.layers))
    return parameter_count(size, family.traits, layers, tied=family.traits.tied, vocab=size.vocab)


def resolve(spec: str, devices: Sequence[jax.Device]) -> Program:
    """Makes the program that a spec names, for the devices given; allocates no array.

    Args:
      spec: `NAME:STACK?OPTION=VALUE&...`, for instance `gpt3-6b:nnx?layers=4&scan=false`.
      devices: the target's devices, real or described ahead of time.

    Raises:
      HloscopeError: for a spec that does not exist or does not fit the number of devices.
    """
    decoder = parse_spec(spec)
    setup = make_setup(decoder.size, decoder.options, len(devices), where=spec)
    # JAX and Flax load here: whoever only lists or checks names does without
    layout = import_module("hloscope.decoders.layout")
    # both modules of a stack, whichever makes the step: a capture says what libraries are loaded
    modules = {
        name: import_module(f"hloscope.decoders.{decoder.stack}.{name}") for name in _MODULE_NAMES
    }
    steps = modules[_MODULES[setup.step]]
    factory = getattr(steps, f"{setup.step}_program")
    mesh = layout.make_mesh(setup.mesh, devices)
    options = {name: write(value) for name, value in sorted(setup.settled().items())}
    program: Program = factory(setup, mesh, name=spec, options=options)
    return program
