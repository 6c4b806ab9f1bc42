"""Arguments that are handed over as one tuple: its elements are the entry's real parameters.

JAX passes the arguments of a TPU program that way where there are more than 2,000 of them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hloscope.model.hlo import Instruction, Module, Shape

# `{0}: (3, {}, may-alias)` in input_output_alias: result's place, parameter, place in that
_ALIAS = re.compile(r"\{\s*(\d*)[\d,\s]*\}\s*:\s*\(\s*(\d+)\s*,\s*\{\s*(\d*)")
# `(3, {})` in buffer_donor
_DONOR = re.compile(r"\(\s*(\d+)\s*,\s*\{\s*(\d*)")


class Argument(NamedTuple):
    """What the entry is given under one number: a parameter, or an element of its only one.

    Attributes:
      number: the parameter's; of an element its position.
      place: where in the entry computation it is read from: the parameter; of an element the first
        `get-tuple-element` of it, the tuple where there is none.
      name: the parameter's; of an element also which one.
      shape: on one device.
      op_name: where JAX writes the tree path; empty for an element.
      sharding: as HLO text writes it.
    """

    number: int
    place: int
    name: str
    shape: Shape
    op_name: str
    sharding: str | None


def entry_arguments(module: Module) -> tuple[Argument, ...]:
    """What the entry is given, by number; none in a module without an entry."""
    if module.entry is None:
        return ()
    instructions = module.computations[module.entry].instructions
    tupled = tupled_arguments(module)
    if tupled is None:
        found = (
            Argument(ins.parameter, place, ins.name, ins.shape, ins.metadata.op_name,
                     ins.attr("sharding"))
            for place, ins in enumerate(instructions)
            if ins.opcode == "parameter"
        )  # fmt: skip
        return tuple(sorted(found, key=lambda argument: argument.number))
    read: dict[int, int] = {}
    for place, ins in enumerate(instructions):
        if ins.opcode == "get-tuple-element" and ins.operands == (tupled,):
            read.setdefault(int(ins.attr("index") or 0), place)
    whole = instructions[tupled]
    elements = whole.shape.elements
    shardings = element_shardings(whole) or (whole.attr("sharding"),) * len(elements)
    return tuple(
        Argument(k, read.get(k, tupled), f"{whole.name}[{k}]", shape, "", sharding)
        for k, (shape, sharding) in enumerate(zip(elements, shardings, strict=True))
    )


def aliases(module: Module) -> dict[int, int]:
    """Number of an argument to the position of the result that takes its memory over."""
    tupled = tupled_arguments(module) is not None
    return {
        int(element or 0) if tupled else int(parameter): int(result or 0)
        for result, parameter, element in _ALIAS.findall(
            module.header_attr("input_output_alias") or ""
        )
    }


def donated(module: Module) -> frozenset[int]:
    """Numbers of the arguments whose memory the caller offers."""
    tupled = tupled_arguments(module) is not None
    return frozenset(aliases(module)) | {
        int(element or 0) if tupled else int(parameter)
        for parameter, element in _DONOR.findall(module.header_attr("buffer_donor") or "")
    }


def tupled_arguments(module: Module) -> int | None:
    """Where in the entry computation its only parameter is, if that is a tuple."""
    if module.entry is None:
        return None
    instructions = module.computations[module.entry].instructions
    found = [k for k, ins in enumerate(instructions) if ins.opcode == "parameter"]
    return found[0] if len(found) == 1 and instructions[found[0]].shape.elements else None


def element_shardings(parameter: Instruction) -> tuple[str, ...]:
    """The sharding of each element of a tuple parameter; empty where they are not told apart."""
    text = parameter.attr("sharding") or ""
    parts = _parts(text[1:-1]) if text.startswith("{{") else ()
    return parts if len(parts) == len(parameter.shape.elements) else ()


def _parts(text: str) -> tuple[str, ...]:
    """`{replicated}, {devices=[2,1]<=[2]}` taken apart at the commas outside of braces."""
    parts, start, depth = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "{[(":
            depth += 1
        elif letter in "}])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return (*parts, text[start:].strip())
