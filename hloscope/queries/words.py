"""How analyzers name things."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.hlo import format_shape, parse_op_name
from hloscope.model.hlo import Instruction, Shape

# more names than this say less than their number does
_NAMED = 3


def listed(names: Sequence[str], most: int = _NAMED) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 7 more`."""
    if len(names) <= 1:
        return "".join(names)
    if len(names) <= most:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    kept = most - 1
    return f"{', '.join(names[:kept])} and {len(names) - kept} more"


def array(shape: Shape) -> str:
    """`bf16[8,128]`: a shape without its layout."""
    return format_shape(shape._replace(layout=None))


def operation(instruction: Instruction) -> str:
    """`dot_general f32[8,128]`: what JAX calls the operation, with the array that it gives."""
    name = parse_op_name(instruction.metadata.op_name).primitive or instruction.opcode
    return f"{name} {array(instruction.shape)}"
