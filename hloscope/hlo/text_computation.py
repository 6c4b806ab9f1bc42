"""One computation's statements to `Instruction`s, names resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from hloscope.hlo.attribute_fields import ALWAYS
from hloscope.hlo.calls import ROLES, in_print_order
from hloscope.hlo.comparisons import canonical_comparison
from hloscope.hlo.literal_text import read_literal
from hloscope.hlo.shape_text import MAX_DEPTH, format_shape, read_shape
from hloscope.hlo.text_attributes import normalized, read_metadata
from hloscope.hlo.text_operands import Named, Nested, names, operands
from hloscope.hlo.text_parser import Block, Statement, without_comments
from hloscope.hlo.text_scan import bare, split
from hloscope.model.hlo import NO_METADATA, Computation, Instruction, Metadata, Shape

UNKNOWN = Shape("unknown")  # of a value whose text gives no shape
MISSING = "missing"  # opcode of what stands in for an operand that the text does not define
_MAX_NESTING = 16  # instructions inside operands; hand-written tests nest two or three deep

_normalized = lru_cache(maxsize=65536)(normalized)
_metadata = lru_cache(maxsize=65536)(read_metadata)


class Resolver:
    """Makes one module's computations; collects what could not be resolved."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self.positions: dict[str, int] = {}
        for number, block in enumerate(blocks):
            self.positions.setdefault(block.name, number)
        self.notes: list[str] = []
        self.next_id = 0

    def computation(self, block: Block, thread: str) -> Computation:
        """The computation of a block."""
        statements = [s for s in block.statements if s.opcode]
        positions: dict[str, int] = {}
        instructions: list[Instruction] = []
        ordered = _Ordered(self, block.name, statements, positions, instructions)
        for number in range(len(statements)):
            ordered.add(number)
        roots = [positions[s.name] for s in statements if s.is_root and s.name in positions]
        if not block.is_whole:
            self.notes.append(
                f"computation '{block.name}' is cut off after {len(instructions)} instructions"
            )
        return Computation(
            block.name, tuple(instructions), roots[-1] if roots else len(instructions) - 1, thread
        )

    def instruction(
        self, statement: Statement, inputs: tuple[int, ...], before: list[Instruction]
    ) -> Instruction:
        """The instruction of a statement whose operands are at `inputs`."""
        opcode = statement.opcode
        shape = UNKNOWN if statement.shape is None else read_shape(statement.shape) or UNKNOWN
        attrs, called, controls, metadata = self.attributes(statement, inputs, before)
        literal = None
        if opcode == "constant":
            literal = read_literal(statement.operands.strip(), shape)
        elif "literal" in attrs:
            place, _, value = _literal_parts(attrs["literal"])
            attrs["literal"] = place
            literal = read_literal(value, read_shape(place) or UNKNOWN)
        self.next_id += 1
        return Instruction(
            statement.name,
            self.next_id,
            opcode,
            shape,
            inputs,
            called,
            tuple(sorted(attrs.items())),
            controls,
            _parameter(statement) if opcode == "parameter" else -1,
            literal,
            metadata,
        )

    def attributes(
        self, statement: Statement, inputs: tuple[int, ...], before: list[Instruction]
    ) -> tuple[dict[str, str], tuple[tuple[str, int], ...], tuple[int, ...], Metadata]:
        """Attributes as XLA prints them, called computations, control predecessors, metadata."""
        attrs: dict[str, str] = dict(ALWAYS.get(statement.opcode, ()))
        called: list[tuple[str, int]] = []
        controls: tuple[int, ...] = ()
        metadata = NO_METADATA
        for name, value in statement.attributes:
            if name == "metadata":
                metadata = _metadata(value)
            elif name == "control-predecessors":
                controls = self.controls(value, statement, before)
            elif (name in ROLES or value[:1] == "%") and self.calls(name, value, called):
                continue
            else:
                kept = _normalized(name, value)
                if kept is not None:
                    attrs[name] = kept
                else:
                    attrs.pop(name, None)
        if statement.opcode == "compare":
            canonical_comparison(attrs, before[inputs[0]].shape.dtype if inputs else "")
        return attrs, in_print_order(statement.opcode, called), controls, metadata

    def calls(self, role: str, value: str, called: list[tuple[str, int]]) -> bool:
        """Adds the computations that `value` names; `False` where it names anything else."""
        listed = split(value[1:-1]) if value[:1] == "{" else [value]
        found = [self.positions.get(bare(name)) for name in listed]
        if not found or None in found:
            if role in ROLES:
                self.notes.append(f"no computation '{value[:60]}' for '{role}' in the text")
            return False
        called += [(role, position) for position in found if position is not None]
        return True

    def controls(
        self, value: str, statement: Statement, before: list[Instruction]
    ) -> tuple[int, ...]:
        """Positions of the control predecessors that `value` lists."""
        positions = {i.name: n for n, i in enumerate(before)}
        found = [positions.get(bare(name)) for name in split(value.strip("{}"))]
        if None in found:
            self.notes.append(f"'{statement.name}' waits for an instruction that is not there")
        return tuple(position for position in found if position is not None)


class _Ordered:
    """Adds a computation's statements so that operands come before their users."""

    def __init__(
        self,
        resolver: Resolver,
        owner: str,
        statements: list[Statement],
        positions: dict[str, int],
        instructions: list[Instruction],
    ) -> None:
        self.resolver = resolver
        self.owner = owner
        self.statements = statements
        self.positions = positions
        self.instructions = instructions
        self.later: dict[str, int] | None = None
        self.done: set[int] = set()

    def add(self, number: int) -> None:
        """Adds statement `number`, and first whatever it uses that the text defines later."""
        if number in self.done:
            return
        statement = self.statements[number]
        inputs = self.known(statement)
        if inputs is not None:
            self.done.add(number)
            self.append(statement, inputs)
            return
        pending = [number]
        waiting = {number}
        while pending:
            statement = self.statements[pending[-1]]
            ahead = self.ahead(statement, waiting)
            if ahead is not None:
                pending.append(ahead)
                waiting.add(ahead)
                continue
            self.done.add(pending.pop())
            inputs = self.known(statement)
            self.append(statement, self.inputs(statement) if inputs is None else inputs)

    def append(self, statement: Statement, inputs: tuple[int, ...]) -> None:
        made = self.resolver.instruction(statement, inputs, self.instructions)
        self.positions[statement.name] = len(self.instructions)
        self.instructions.append(made)

    def known(self, statement: Statement) -> tuple[int, ...] | None:
        """The operands' positions, `None` where one is not there or is no plain name."""
        if statement.opcode in ("constant", "parameter"):
            return ()
        listed = names(without_comments(statement.operands))
        if listed is None:
            return None
        positions = self.positions
        try:
            return tuple([positions[name] for name in listed])
        except KeyError:
            return None

    def ahead(self, statement: Statement, waiting: set[int]) -> int | None:
        """A statement that defines an operand and is not added yet; `None` without one."""
        listed = names(without_comments(statement.operands))
        for name in listed or ():
            if name not in self.positions:
                if self.later is None:
                    self.later = {s.name: n for n, s in enumerate(self.statements)}
                number = self.later.get(name)
                if number is not None and number not in waiting and number not in self.done:
                    return number
        return None

    def inputs(self, statement: Statement) -> tuple[int, ...]:
        """The operands' positions, stand-ins and nested instructions added where it takes them."""
        text = without_comments(statement.operands)
        return tuple(self.position(operand, 0) for operand in operands(text))

    def position(self, operand: Named | Nested, depth: int) -> int:
        if isinstance(operand, Nested):
            return self.nested(operand, depth)
        position = self.positions.get(operand.name)
        if position is None:
            position = self.element(operand.name)
        return self.missing(operand) if position is None else position

    def element(self, name: str) -> int | None:
        """Adds the get-tuple-element that `while.6#1` stands for, `None` where it is none.

        XLA's text leaves get-tuple-elements out since 2026 and numbers the element instead.
        """
        base, _, index = name.rpartition("#")
        is_index = index.isascii() and index.isdigit() and len(index) < 10
        if not base or not is_index or name.count("#") > MAX_DEPTH:
            return None
        source = self.positions.get(base)
        if source is None:
            source = self.element(base)
        if source is None:
            return None
        elements = self.instructions[source].shape.elements
        shape = format_shape(elements[int(index)]) if int(index) < len(elements) else None
        own = self.fresh(f"{base.replace('#', '.')}.element.{index}")
        made = Statement(False, own, shape, "get-tuple-element", "", [("index", index)])
        self.append(made, (source,))
        self.positions[name] = self.positions[own]
        return self.positions[name]

    def nested(self, operand: Nested, depth: int) -> int:
        """Adds an instruction that is written inside another one's operands."""
        name = self.fresh(f"{operand.opcode}.anon")
        if depth >= _MAX_NESTING:
            return self.missing(Named(name, operand.shape))
        inputs: tuple[int, ...] = ()
        if operand.opcode not in ("constant", "parameter"):
            parts = operands(operand.operands)
            inputs = tuple(self.position(part, depth + 1) for part in parts)
        statement = Statement(False, name, operand.shape, operand.opcode, operand.operands, [])
        self.instructions.append(self.resolver.instruction(statement, inputs, self.instructions))
        self.positions[name] = len(self.instructions) - 1
        return self.positions[name]

    def missing(self, operand: Named) -> int:
        """Adds a stand-in for an operand that the text does not define."""
        self.resolver.notes.append(
            f"operand '{operand.name[:60]}' is not defined in computation '{self.owner}'"
        )
        statement = Statement(False, operand.name, operand.shape, MISSING, "", [])
        self.instructions.append(self.resolver.instruction(statement, (), self.instructions))
        self.positions[operand.name] = len(self.instructions) - 1
        return self.positions[operand.name]

    def fresh(self, name: str) -> str:
        number = 0
        candidate = name
        while candidate in self.positions:
            number += 1
            candidate = f"{name}.{number}"
        return candidate


def _parameter(statement: Statement) -> int:
    number = statement.operands.strip()
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1


def _literal_parts(text: str) -> tuple[str, str, str]:
    """`s32[2]{0} {1, 2}` as shape and value; a tuple's shapes stand before each of its elements."""
    if text[:1] != "(":
        return text.partition(" ")
    shapes, values = [], []
    for part in split(text[1:-1].strip()):
        shape, _, value = _literal_parts(part)
        shapes.append(shape)
        values.append(value)
    return f"({', '.join(shapes)})", " ", f"( {', '.join(values)} )"


def thread_of(attributes: Mapping[str, str]) -> str:
    """The execution thread that a computation's closing brace names."""
    return attributes.get("execution_thread", '"main"').strip('"')
