"""Which value each logical buffer is, with where values come from and go to."""

from __future__ import annotations

from collections.abc import Iterator

from hloscope.model.buffers import BufferAssignment
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.model.ledger import Value

# opcodes whose result is the memory of their first operand
_SAME_MEMORY = frozenset({"bitcast", "optimization-barrier", "add-dependency", "domain"})
_FIRST_ELEMENT = frozenset({"copy-done"})


class Values:
    """The values of one module.

    Attributes:
      by_buffer: logical buffer id to its value; ids of unknown instructions are left out.
      sizes: logical buffer id to bytes.
    """

    def __init__(self, module: Module, buffers: BufferAssignment) -> None:
        self.module = module
        held = {b.instruction_id for b in buffers.logical_buffers}
        refs = {
            instruction.id: Ref(c, i)
            for c, computation in enumerate(module.computations)
            for i, instruction in enumerate(computation.instructions)
            if instruction.id in held
        }
        self.by_buffer = {
            b.id: Value(refs[b.instruction_id], b.shape_index)
            for b in buffers.logical_buffers
            if b.instruction_id in refs
        }
        self.sizes = {b.id: b.size for b in buffers.logical_buffers}
        self.outputs = _outputs(self)

    def instruction(self, ref: Ref) -> Instruction:
        """The instruction at `ref`."""
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def shape(self, value: Value) -> Shape:
        """The shape of a value; of the whole instruction where the index leads nowhere."""
        return sub_shape(self.instruction(value.ref).shape, value.part)

    def name(self, value: Value) -> str:
        """The instruction's name with the tuple index, as XLA writes it (`while.2{4}`)."""
        index = "{" + ",".join(map(str, value.part)) + "}" if value.part else ""
        return self.instruction(value.ref).name + index

    def origin(self, value: Value) -> Value:
        """The value that owns the memory of `value`, inside one computation."""
        ref, index = value
        while True:
            instruction = self.instruction(ref)
            operand = instruction.operands[0] if instruction.operands else -1
            if instruction.opcode == "get-tuple-element" and operand >= 0:
                index = (int(instruction.attr("index") or 0), *index)
            elif instruction.opcode == "tuple" and index:
                operand, index = instruction.operands[index[0]], index[1:]
            elif instruction.opcode in _FIRST_ELEMENT:
                index = (0, *index)
            elif instruction.opcode not in _SAME_MEMORY:
                return Value(ref, index)
            if operand < 0:
                return Value(ref, index)
            ref = Ref(ref.computation, operand)


def sub_shape(shape: Shape, index: tuple[int, ...]) -> Shape:
    """The part of a tuple shape at `index`; as far as it leads."""
    for position in index:
        if position >= len(shape.elements):
            break
        shape = shape.elements[position]
    return shape


def leaf_indices(shape: Shape, prefix: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Indices of the arrays of a shape, in order."""
    if shape.dtype != "tuple":
        yield prefix
        return
    for position, element in enumerate(shape.elements):
        yield from leaf_indices(element, (*prefix, position))


def _outputs(values: Values) -> dict[Value, tuple[int, ...]]:
    """Values that the entry returns, with their positions in its flattened result."""
    module = values.module
    found: dict[Value, tuple[int, ...]] = {}
    if module.entry is None:
        return found
    root = Ref(module.entry, module.computations[module.entry].root)
    for number, index in enumerate(leaf_indices(values.instruction(root).shape)):
        value = values.origin(Value(root, index))
        found[value] = (*found.get(value, ()), number)
    return found
