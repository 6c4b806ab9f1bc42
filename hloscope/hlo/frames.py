"""Where in the program's source an instruction comes from."""

from __future__ import annotations

from hloscope.model.hlo import Instruction, Module, StackFrame


def frames(module: Module, instruction: Instruction) -> tuple[StackFrame, ...]:
    """The Python frames of an instruction, innermost first; empty where the module has none.

    Text and protos from before stack frames give one frame, of the file and line alone.
    """
    metadata = instruction.metadata
    table = module.stack_frames
    found: list[StackFrame] = []
    number = metadata.stack_frame
    # a damaged table may go round in a circle; no stack is longer than the table
    while 0 < number <= len(table) and len(found) < len(table):
        found.append(table[number - 1])
        number = table[number - 1].parent
    if not found and metadata.source_file:
        return (StackFrame(metadata.source_file, "", metadata.source_line, 0, 0),)
    return tuple(found)
