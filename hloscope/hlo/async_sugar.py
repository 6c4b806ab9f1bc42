"""Asynchronous instructions that text writes as one: `custom-call-start` and its like.

XLA keeps an asynchronous operation as an `async-start` that calls a computation of its own around
the operation; its text leaves that computation out.
"""

from __future__ import annotations

import re

from hloscope.hlo.async_wrapped import OUTER, name_of
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


def desugared(blocks: list[Block]) -> list[Block]:
    """The blocks with every sugared statement as XLA holds it, wrapped computations added.

    A wrapped computation has the name of its async-start with `.async` and stands before its
    caller.
    """
    if not any(_is_sugar(s.opcode) for block in blocks for s in block.statements):
        return blocks
    result: list[Block] = []
    for block in blocks:
        updates = {
            first: s.shape
            for s in block.statements
            if s.opcode.endswith("-update") and (first := _first_operand(s))
        }
        statements = [
            _split(statement, updates.get(statement.name), result) for statement in block.statements
        ]
        result.append(block._replace(statements=statements))
    return result


def _is_sugar(opcode: str) -> bool:
    return opcode.endswith(("-start", "-update", "-done")) and opcode not in _NATIVE


def _first_operand(statement: Statement) -> str:
    listed = names(without_comments(statement.operands))
    return listed[0] if listed else ""


def _split(statement: Statement, update: str | None, blocks: list[Block]) -> Statement:
    """The statement in XLA's own terms; appends the computation that it calls to `blocks`.

    `update` is the shape of the update that follows; it has the operands where a start has none.
    """
    match = _SUFFIX.fullmatch(statement.opcode)
    if match is None or not _is_sugar(statement.opcode):
        return statement
    if match[2] != "start":
        return statement._replace(opcode=f"async-{match[2]}")
    late = not statement.operands.strip() and update is not None
    shapes = _wrapped_shapes(update if late else statement.shape)
    if shapes is None:
        return statement
    inner = [a for a in statement.attributes if a[0] not in OUTER]
    outer = [a for a in statement.attributes if a[0] in OUTER]
    metadata = [a for a in statement.attributes if a[0] == "metadata"]
    name = name_of(statement.name)
    inputs, result = shapes
    parameters = [f"param_{n}" for n in range(len(inputs))]
    body = [
        Statement(False, parameter, shape, "parameter", str(n), metadata)
        for n, (parameter, shape) in enumerate(zip(parameters, inputs, strict=True))
    ]
    inner += metadata
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
