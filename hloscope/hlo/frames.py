"""Where in the program's source an instruction comes from."""

from __future__ import annotations

import re
from functools import lru_cache

from hloscope.model.hlo import Instruction, Module, StackFrame

# what a program is written with rather than what was written; `hloscope/capture` calls it
_LIBRARY = re.compile(
    r"(?:.*/)?(?:site-packages|dist-packages|third_party/py)/(?:jax|jaxlib|flax|optax)/"
    r"|(?:jax|jaxlib|flax|optax|hloscope/capture)/|<"
)


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


def origin(module: Module, instruction: Instruction) -> StackFrame | None:
    """The frame to show for an instruction: the innermost one in the user's own code.

    Where all frames are a library's the innermost of them; `None` where the module has none.
    """
    found = frames(module, instruction)
    own = (frame for frame in found if not _is_library(frame.file))
    return next(own, found[0] if found else None)


@lru_cache(maxsize=4096)
def _is_library(file: str) -> bool:
    return bool(_LIBRARY.match(file))
