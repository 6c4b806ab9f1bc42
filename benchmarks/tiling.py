"""Large modules made of copies of a real one, side by side in one entry computation."""

from __future__ import annotations

from hloscope.hlo import state_path
from hloscope.hlo.schema import hlo_pb2


def tile(data: bytes, copies: int) -> bytes:
    """An HloProto that runs `copies` of a module on as many sets of parameters.

    Args:
      data: an HloProto.
      copies: how many; parameters of each copy have state paths of their own.
    """
    source = hlo_pb2.HloProto.FromString(data).hlo_module
    tiled = hlo_pb2.HloModuleProto(name=source.name, id=1)
    entry = next(c for c in source.computations if c.id == source.entry_computation_id)
    highest = max(i.id for c in source.computations for i in c.instructions) + 1
    merged = hlo_pb2.HloComputationProto(name="main", id=1)
    roots: list[int] = []
    for copy in range(copies):
        first = 10 + copy * (highest + len(source.computations) + 10)
        numbers = {c.id: first + k for k, c in enumerate(source.computations)}
        for computation in source.computations:
            target = merged if computation is entry else tiled.computations.add()
            _copy_into(target, computation, first + len(numbers), numbers, copy)
            if target is not merged:
                target.id, target.name = numbers[computation.id], f"{computation.name}.c{copy}"
                target.root_id = computation.root_id + first + len(numbers)
        roots.append(entry.root_id + first + len(numbers))
    root = merged.instructions.add(name="results", opcode="tuple", id=5, operand_ids=roots)
    root.shape.element_type = hlo_pb2.TUPLE
    by_id = {i.id: i for i in merged.instructions}
    root.shape.tuple_shapes.extend(by_id[number].shape for number in roots)
    merged.root_id = root.id
    tiled.computations.append(merged)
    tiled.entry_computation_id = merged.id
    tiled.stack_frame_index.CopyFrom(source.stack_frame_index)
    return bytes(hlo_pb2.HloProto(hlo_module=tiled).SerializeToString())


def _copy_into(
    target: hlo_pb2.HloComputationProto,
    source: hlo_pb2.HloComputationProto,
    offset: int,
    numbers: dict[int, int],
    copy: int,
) -> None:
    before = sum(i.opcode == "parameter" for i in target.instructions)
    for instruction in source.instructions:
        new = target.instructions.add()
        new.CopyFrom(instruction)
        new.id += offset
        new.name = f"{instruction.name}.c{copy}"
        new.operand_ids[:] = [o + offset for o in instruction.operand_ids]
        new.control_predecessor_ids[:] = [o + offset for o in instruction.control_predecessor_ids]
        new.called_computation_ids[:] = [numbers[c] for c in instruction.called_computation_ids]
        if instruction.opcode == "parameter" and target.name == "main":
            new.parameter_number += before
            new.metadata.op_name = _path_of_copy(instruction.metadata.op_name, copy)


def _path_of_copy(path: str, copy: int) -> str:
    """The state path, in either stack's spelling, under a step of the copy's own."""
    return f"copy_{copy}" + "".join(f"['{step}']" for step in state_path(path))


def edited(data: bytes, every: int) -> bytes:
    """The module with one edit in about `every` instructions: another opcode, or a copy put in.

    Args:
      data: an HloProto.
      every: instructions from one edit to the next.
    """
    proto = hlo_pb2.HloProto.FromString(data)
    number = max(i.id for c in proto.hlo_module.computations for i in c.instructions)
    seen, edits = 0, 0
    for computation in proto.hlo_module.computations:
        instructions = list(computation.instructions)
        for place, instruction in enumerate(instructions):
            seen += 1
            if seen < every or instruction.opcode not in ("add", "multiply"):
                continue
            seen, edits = 0, edits + 1
            if edits % 2:
                instruction.opcode = "subtract"
                continue
            number += 1
            source = next(i for i in instructions if i.id == instruction.operand_ids[0])
            copy = hlo_pb2.HloInstructionProto(name=f"put_in.{number}", opcode="copy", id=number)
            copy.shape.CopyFrom(source.shape)
            copy.operand_ids[:] = [source.id]
            instruction.operand_ids[0] = number
            rest = instructions[place:]
            del computation.instructions[place:]
            computation.instructions.append(copy)
            computation.instructions.extend(rest)
            break  # positions have moved: go on in the next computation
    return bytes(proto.SerializeToString())
