"""The computations that asynchronous instructions wrap, as XLA's text tells them.

XLA's text writes an `async-start` around one operation as one instruction, `slice-start` say. It
leaves out the wrapped computation's names and repeats neither metadata nor configuration for the
operation inside. A module from a proto is brought to that form, so that both sources agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hloscope.model.hlo import Computation, Instruction

# opcodes with asynchronous forms of their own, which text cannot tell from wrapped ones
_OWN_FORM = frozenset({"all-gather", "all-reduce", "async", "collective-permute", "copy"})

# what text says of the async-start alone; everything else describes the operation inside
OUTER = frozenset(
    {
        "async_execution_thread", "backend_config", "control-predecessors",
        "frontend_attributes", "metadata", "origin", "sharding", "statistics",
    }
)  # fmt: skip


def name_of(start: str) -> str:
    """The name of the computation that the async-start named `start` wraps."""
    return f"{start}.async"


def as_text_says(computations: tuple[Computation, ...]) -> tuple[Computation, ...]:
    """`computations`, the wrapped ones of a single operation with a single caller reduced."""
    callers = Counter(n for c in computations for i in c.instructions for _, n in i.called)
    changed = list(computations)
    for number, computation in enumerate(computations):
        starts = [
            n
            for n, i in enumerate(computation.instructions)
            if i.opcode == "async-start" and _is_wrapper(i, computations, callers)
        ]
        if starts:
            instructions = list(changed[number].instructions)
            for n in starts:
                wrapped = instructions[n].called[0][1]
                instructions[n] = _with_frontend(instructions[n], computations[wrapped])
                changed[wrapped] = _reduced(computations[wrapped], instructions[n])
            changed[number] = changed[number]._replace(instructions=tuple(instructions))
    return tuple(changed)


def _is_wrapper(
    start: Instruction, computations: Sequence[Computation], callers: Counter[int]
) -> bool:
    if len(start.called) != 1 or callers[start.called[0][1]] != 1:
        return False
    wrapped = computations[start.called[0][1]]
    root = wrapped.instructions[wrapped.root]
    others = [i for n, i in enumerate(wrapped.instructions) if n != wrapped.root]
    numbers = [wrapped.instructions[n].parameter for n in root.operands]
    return (
        root.opcode not in _OWN_FORM
        and all(i.opcode == "parameter" for i in others)
        and numbers == list(range(len(others)))
        and len(others) == (len(start.operands) or len(others))
    )


def _with_frontend(start: Instruction, wrapped: Computation) -> Instruction:
    """`start` with the frontend attributes of the operation inside, where it has none itself."""
    inner = wrapped.instructions[wrapped.root].attr("frontend_attributes")
    if inner is None or start.attr("frontend_attributes") is not None:
        return start
    return start._replace(attrs=tuple(sorted((*start.attrs, ("frontend_attributes", inner)))))


def _reduced(wrapped: Computation, start: Instruction) -> Computation:
    parameters = sorted(
        (i for n, i in enumerate(wrapped.instructions) if n != wrapped.root),
        key=lambda i: i.parameter,
    )
    root = wrapped.instructions[wrapped.root]
    instructions = [
        i._replace(name=f"param_{n}", metadata=start.metadata, attrs=())
        for n, i in enumerate(parameters)
    ]
    instructions.append(
        root._replace(
            name=root.opcode,
            operands=tuple(range(len(parameters))),
            attrs=tuple(a for a in root.attrs if a[0] not in OUTER),
            metadata=start.metadata,
        )
    )
    return wrapped._replace(
        name=name_of(start.name), instructions=tuple(instructions), root=len(parameters)
    )
