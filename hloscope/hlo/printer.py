"""`Module` to HLO text."""

from __future__ import annotations

from collections.abc import Sequence

from hloscope.hlo.quoting import quote
from hloscope.hlo.shape_text import format_shape, read_shape
from hloscope.hlo.text_scan import split
from hloscope.model.hlo import (
    NO_METADATA,
    Computation,
    Instruction,
    Metadata,
    Module,
    Shape,
    StackFrame,
)

# where XLA's parser wants a list of names although one name would do
_LISTS = frozenset({"branch_computations", "called_computations"})


def print_module(module: Module) -> str:
    """HLO text that `read_text` reads back to an equal module, but for ids.

    XLA reads it too, as far as the module is one that XLA can hold. Constants keep what the module
    knows of them: a value longer than its preview comes out as `{...}`, as in XLA's own text.
    """
    head = f"HloModule {module.name or 'module'}"
    parts = [head + "".join(f", {name}={value}" for name, value in _header(module)), ""]
    parts += _tables(module.stack_frames)
    for number, computation in enumerate(module.computations):
        parts.append(_computation(module, computation, is_entry=number == module.entry))
    return "\n".join(parts)


def print_instruction(module: Module, owner: Computation, instruction: Instruction) -> str:
    """One line of HLO text, without metadata."""
    return _instruction(module, owner, instruction._replace(metadata=NO_METADATA))


def _header(module: Module) -> list[tuple[str, str]]:
    """The module's attributes; XLA wants `is_scheduled` among them."""
    scheduled = [("is_scheduled", "true")] if module.is_scheduled else []
    return scheduled + list(module.header)


def _tables(frames: Sequence[StackFrame]) -> list[str]:
    """The four tables of source places; ids count from 1, a parent is printed one higher."""
    if not frames:
        return []
    files = {name: n for n, name in enumerate(dict.fromkeys(f.file for f in frames), 1)}
    functions = {name: n for n, name in enumerate(dict.fromkeys(f.function for f in frames), 1)}
    places = {place: n for n, place in enumerate(dict.fromkeys(_place(f) for f in frames), 1)}
    lines = ["FileNames"]
    lines += [f"{n} {quote(name)}" for name, n in files.items()]
    lines += ["", "FunctionNames"]
    lines += [f"{n} {quote(name)}" for name, n in functions.items()]
    lines += ["", "FileLocations"]
    lines += [
        f"{n} {{file_name_id={files[file]} function_name_id={functions[function]} "
        f"line={line} end_line={line} column={column} end_column={column}}}"
        for (file, function, line, column), n in places.items()
    ]
    lines += ["", "StackFrames"]
    lines += [
        f"{n} {{file_location_id={places[_place(f)]} parent_frame_id={f.parent + 1}}}"
        for n, f in enumerate(frames, 1)
    ]
    return [*lines, "", ""]


def _place(frame: StackFrame) -> tuple[str, str, int, int]:
    return frame.file, frame.function, frame.line, frame.column


def _computation(module: Module, computation: Computation, *, is_entry: bool) -> str:
    lines = [f"{'ENTRY ' if is_entry else ''}%{computation.name} {_signature(computation)} {{"]
    for number, instruction in enumerate(computation.instructions):
        root = "ROOT " if number == computation.root else ""
        lines.append(f"  {root}{_instruction(module, computation, instruction)}")
    thread = computation.execution_thread
    lines.append("}" if thread == "main" else f"}}, execution_thread={quote(thread)}")
    return "\n".join(lines) + "\n"


def _signature(computation: Computation) -> str:
    """`(a: f32[2], b: s32[]) -> f32[2]`."""
    parameters = sorted(
        (i for i in computation.instructions if i.opcode == "parameter"),
        key=lambda i: i.parameter,
    )
    given = ", ".join(f"{i.name}: {format_shape(i.shape)}" for i in parameters)
    return f"({given}) -> {format_shape(computation.instructions[computation.root].shape)}"


def _instruction(module: Module, owner: Computation, instruction: Instruction) -> str:
    names = owner.instructions
    text = (
        f"%{instruction.name} = {format_shape(instruction.shape)} "
        f"{instruction.opcode}({_operands(owner, instruction)})"
    )
    attributes = [f"{name}={_value(instruction, name, value)}" for name, value in instruction.attrs]
    attributes += _called(module, instruction)
    if instruction.control:
        waits = ", ".join(f"%{names[n].name}" for n in instruction.control)
        attributes.append(f"control-predecessors={{{waits}}}")
    metadata = _metadata(instruction.metadata)
    if metadata:
        attributes.append(f"metadata={{{metadata}}}")
    return ", ".join([text, *attributes])


def _operands(owner: Computation, instruction: Instruction) -> str:
    if instruction.opcode == "parameter":
        return str(max(instruction.parameter, 0))
    if instruction.opcode == "constant":
        literal = instruction.literal
        return literal.preview if literal is not None and _is_complete(literal.preview) else "{...}"
    return ", ".join(f"%{owner.instructions[n].name}" for n in instruction.operands)


def _is_complete(preview: str) -> bool:
    return bool(preview) and all(preview.count(a) == preview.count(b) for a, b in ("{}", "()"))


def _value(instruction: Instruction, name: str, value: str) -> str:
    if name == "literal" and instruction.literal is not None:
        return _typed(read_shape(value), instruction.literal.preview) or value
    return value


def _typed(shape: Shape | None, text: str) -> str:
    """`s32[2]{0} {1, 2}`; each element of a tuple has its own shape before it."""
    if shape is None:
        return ""
    if shape.dtype != "tuple":
        return f"{format_shape(shape)} {text}"
    parts = split(text.strip()[1:-1])
    typed = [_typed(s, part) for s, part in zip(shape.elements, parts, strict=False)]
    return f"( {', '.join(typed)} )"


def _called(module: Module, instruction: Instruction) -> list[str]:
    """`calls=%a`, `branch_computations={%a, %b}`."""
    roles: dict[str, list[str]] = {}
    for role, number in instruction.called:
        roles.setdefault(role, []).append(f"%{module.computations[number].name}")
    return [
        f"{role}={{{', '.join(names)}}}"
        if len(names) > 1 or role in _LISTS
        else f"{role}={names[0]}"
        for role, names in roles.items()
    ]


def _metadata(metadata: Metadata) -> str:
    fields = [
        f"{name}={quote(value)}"
        for name, value in (
            ("op_type", metadata.op_type),
            ("op_name", metadata.op_name),
            ("source_file", metadata.source_file),
        )
        if value
    ]
    if metadata.source_line:
        fields.append(f"source_line={metadata.source_line}")
    if metadata.stack_frame:
        fields.append(f"stack_frame_id={metadata.stack_frame}")
    return " ".join(fields)
