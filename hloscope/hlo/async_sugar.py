"""Asynchronous instructions that text writes as one: `custom-call-start` and its like.

XLA keeps an asynchronous operation as an `async-start` that calls a computation of its own around
the operation; its text leaves that computation out.
"""

from __future__ import annotations

import re

from hloscope.hlo.shape_text import format_shape, read_shape
from hloscope.hlo.text_operands import names
from hloscope.hlo.text_parser import Block, Statement, without_comments

# opcodes of their own that end like the sugar
_NATIVE = frozenset(
    {
        "all-gather-start", "all-gather-done", "all-reduce-start", "all-reduce-done",
        "async-start", "async-update", "async-done", "collective-permute-start",
        "collective-permute-done", "copy-start", "copy-done", "recv-done", "send-done",
    }
)  # fmt: skip
_SUFFIX = re.compile(r"([a-z][\w\-]*)-(start|update|done)")
# what belongs to the async-start; everything else describes the operation inside
_OUTER = frozenset(
    {
        "async_execution_thread", "backend_config", "control-predecessors",
        "frontend_attributes", "metadata", "origin", "sharding", "statistics",
    }
)  # fmt: skip


def desugared(blocks: list[Block]) -> list[Block]:
    """The blocks with every sugared statement as XLA holds it, wrapped computations added.

    A wrapped computation has the name of its async-start with `.async` and stands before its
    caller.
    """
    if not any(_is_sugar(s.opcode) for block in blocks for s in block.statements):
        return blocks
    result: list[Block] = []
    for block in blocks:
        statements = [_split(statement, result) for statement in block.statements]
        result.append(block._replace(statements=statements))
    return result


def _is_sugar(opcode: str) -> bool:
    return opcode.endswith(("-start", "-update", "-done")) and opcode not in _NATIVE


def _split(statement: Statement, blocks: list[Block]) -> Statement:
    """The statement in XLA's own terms; appends the computation that it calls to `blocks`."""
    match = _SUFFIX.fullmatch(statement.opcode)
    if match is None or not _is_sugar(statement.opcode):
        return statement
    if match[2] != "start":
        return statement._replace(opcode=f"async-{match[2]}")
    shapes = _wrapped_shapes(statement.shape)
    if shapes is None:
        return statement
    inner = [a for a in statement.attributes if a[0] not in _OUTER]
    outer = [a for a in statement.attributes if a[0] in _OUTER]
    name = f"{statement.name}.async"
    inputs, result = shapes
    operands = names(without_comments(statement.operands)) or []
    parameters = [f"param_{n}" for n in range(len(inputs) or len(operands))]
    body = [
        Statement(False, parameter, shape, "parameter", str(n), [])
        for n, (parameter, shape) in enumerate(zip(parameters, inputs, strict=False))
    ]
    body.append(Statement(True, match[1], result, match[1], ", ".join(parameters), inner))
    thread = [("execution_thread", value) for key, value in outer if key.startswith("async_e")]
    blocks.append(Block(name, False, body, thread, True))
    return statement._replace(opcode="async-start", attributes=[*outer, ("calls", name)])


def _wrapped_shapes(shape: str | None) -> tuple[list[str], str] | None:
    """Operand and result shapes inside `((operands...), result, contexts...)`."""
    read = read_shape(shape) if shape is not None else None
    if read is None or len(read.elements) < 2 or read.elements[0].dtype != "tuple":
        return None
    return [format_shape(s) for s in read.elements[0].elements], format_shape(read.elements[1])
