"""Arguments that are handed over as one tuple: its elements are the entry's real parameters.

JAX passes the arguments of a TPU program that way where there are more than 2,000 of them.
"""

from __future__ import annotations

from hloscope.model.hlo import Instruction, Module


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
