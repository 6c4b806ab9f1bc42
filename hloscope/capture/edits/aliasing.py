"""Which output an argument's memory goes to, kept possible through other edits."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from hloscope.capture.edits.program import Program

# JAX writes the first where it knows the output, the second where XLA is to find one
ALIAS = "tf.aliasing_output"
DONOR = "jax.buffer_donor"
_SHARDINGS = ("sdy.sharding", "mhlo.sharding")


def donated(held: dict[str, Any]) -> bool:
    """Whether an argument with these attributes is offered."""
    return ALIAS in held or DONOR in held


def output_of(held: dict[str, Any]) -> int:
    """The output that an argument is aliased with, -1 for none."""
    return int(ir.IntegerAttr(held[ALIAS]).value) if ALIAS in held else -1


def alias_with(held: dict[str, Any], output: int) -> None:
    """Aliases an argument with an output."""
    held.pop(DONOR, None)
    held[ALIAS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), output)


def offer(held: dict[str, Any]) -> None:
    """Offers an argument to whichever output XLA finds."""
    held.pop(ALIAS, None)
    held[DONOR] = ir.BoolAttr.get(True)


def can_alias(program: Program, argument: int, output: int) -> bool:
    """Whether an output has an argument's type and sharding, without which no compile succeeds."""
    if program.arguments[argument].type != program.returned.operands[output].type:
        return False
    given = program.attributes("arg_attrs")[argument]
    result = program.attributes("res_attrs")[output]
    return all(str(result.get(name)) == str(given.get(name)) for name in _SHARDINGS)


def keep_possible(program: Program) -> int:
    """Leaves to XLA what can no longer be aliased as it is said; how many arguments that was."""
    attributes = program.attributes("arg_attrs")
    changed = 0
    for argument, held in enumerate(attributes):
        if ALIAS in held and not can_alias(program, argument, output_of(held)):
            offer(held)
            changed += 1
    if changed:
        program.set_attributes("arg_attrs", attributes)
    return changed
