"""Module paths of instructions: decoder / layers / mlp, also where op_names carry no scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hloscope import hlo
from hloscope.attribute.cost_shapes import leaf_bytes
from hloscope.hlo.arguments import tupled_arguments
from hloscope.hlo.state_path import state_path
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Instruction, Metadata, Module, StackFrame
from hloscope.model.ledger import PathSource

# a state's value is still that state after these
_CARRY = frozenset({
    "bitcast", "convert", "copy", "copy-start", "copy-done", "reshape", "transpose", "broadcast",
    "slice", "dynamic-slice", "all-gather", "all-gather-start", "all-gather-done",
    "optimization-barrier", "async-start", "async-done", "slice-start", "slice-done",
})  # fmt: skip
# steps looked around an instruction for one whose module is known
NEIGHBOURHOOD = 5
# what has more neighbours, such as a constant, is no evidence that they belong together
_HUB = 24
# optimizer states mirror the parameters below these steps
_OPTIMIZER_STEPS = frozenset({"opt_state", "mu", "nu", "m", "v", "trace"})
# what a module can be called; einsum and the like open scopes named by their equation
_MODULE = re.compile(r"[\w.\-\[\]]+")
# parts of a function's qualified name that say nothing of the module
_NO_MODULE = frozenset({"<locals>", "__call__"})
_ANONYMOUS = re.compile(r"<.*>|\(.*|")

# they run computations whose parameters are their operands
_RUNNERS = frozenset({"while", "call", "conditional", "async-start"})

State = tuple[str, ...]
States = Mapping[tuple[int, ...], State]
_NONE: States = {}


class ModulePath(NamedTuple):
    """A module path, with what it rests on."""

    path: tuple[str, ...]
    source: PathSource


NO_PATH = ModulePath((), PathSource.NONE)


class ModulePaths:
    """Module paths of one module's instructions, worked out for a computation when first asked.

    Args:
      module: the module.
      given: tree paths of the entry's parameters by number, from a capture; op_names otherwise.
        Where the entry takes one tuple of all arguments, those of its elements.
    """

    def __init__(self, module: Module, given: Mapping[int, str] | None = None) -> None:
        self.module = module
        self._given = given or {}
        self._states: dict[int, list[States]] = {}
        self._paths: dict[int, list[ModulePath]] = {}
        # thousands of instructions share an op_name, a state or a stack
        self._scoped: dict[str, ModulePath | None] = {}
        self._owned: dict[State, ModulePath] = {}
        self._origins: dict[Metadata, StackFrame | None] = {}
        self._framed: dict[tuple[int, str, int], ModulePath] = {}
        if module.entry is not None:
            self._flow(module.entry)
        owners = {
            owner(state)
            for found in self._states.values()
            for states in found
            for state in states.values()
        }
        self._modules = {path[:n] for path in owners for n in range(1, len(path) + 1)}

    def state(self, ref: Ref, index: tuple[int, ...] = ()) -> State:
        """State path of the input that a value is, unchanged but for its form; empty for none."""
        found = self._states.get(ref.computation)
        return found[ref.instruction].get(index, ()) if found is not None else ()

    def path(self, ref: Ref) -> ModulePath:
        """The module that an instruction belongs to.

        In this order: the state that it is; scopes of its op_name; the state that flows into it;
        the module of a neighbour in the graph; the Python function that it comes from.
        """
        return self.of(ref.computation)[ref.instruction]

    def of(self, computation: int) -> Sequence[ModulePath]:
        """The modules that a computation's instructions belong to, in their order; see `path`."""
        if computation not in self._paths:
            instructions = self.module.computations[computation].instructions
            sure = self._sure(computation)
            near = _spread(instructions, sure)
            self._paths[computation] = [
                at if at.path else near.get(number) or self._from_frame(instructions[number])
                for number, at in enumerate(sure)
            ]
        return self._paths[computation]

    def frame(self, ref: Ref) -> StackFrame | None:
        """The Python frame to show for an instruction, `None` where the source has none."""
        instruction = self.module.computations[ref.computation].instructions[ref.instruction]
        metadata = instruction.metadata
        if metadata not in self._origins:
            self._origins[metadata] = hlo.origin(self.module, instruction)
        return self._origins[metadata]

    def _sure(self, computation: int) -> list[ModulePath]:
        """What the instructions say themselves, or the state that flows into them."""
        instructions = self.module.computations[computation].instructions
        states = self._states.get(computation)
        if states is None:
            return [self._from_scopes(i.metadata.op_name) or NO_PATH for i in instructions]
        return [
            self._from_state(states[number].get(()))
            or self._from_scopes(instruction.metadata.op_name)
            or self._inflow(instruction, instructions, states)
            for number, instruction in enumerate(instructions)
        ]

    def _from_state(self, state: State | None) -> ModulePath | None:
        if not state:
            return None
        if state not in self._owned:
            self._owned[state] = ModulePath(owner(state), PathSource.STATE)
        return self._owned[state]

    def _from_scopes(self, op_name: str) -> ModulePath | None:
        if op_name not in self._scoped:
            modules = tuple(s for s in hlo.scopes(op_name) if _MODULE.fullmatch(s))
            path = ModulePath(self._as_known(modules), PathSource.SCOPE) if modules else None
            self._scoped[op_name] = path
        return self._scoped[op_name]

    def _as_known(self, scopes: tuple[str, ...]) -> tuple[str, ...]:
        """The part of the scopes that is a module with state, under the state's own spelling.

        Linen's scopes begin with classes and methods (`Decoder/Decoder._blocks/layers/mlp`) where
        the state, and NNX, says `layers/mlp`; one module must have one name.
        """
        for length in range(len(scopes), 0, -1):
            for start in range(len(scopes) - length + 1):
                if scopes[start : start + length] in self._modules:
                    return scopes[start : start + length]
        return scopes

    def _inflow(
        self, instruction: Instruction, instructions: Sequence[Instruction], states: list[States]
    ) -> ModulePath:
        """The owner of the largest state among the operands."""
        sized = [
            (leaf_bytes(instructions[operand].shape), state)
            for operand in instruction.operands
            if (state := states[operand].get(()))
        ]
        if not sized:
            return NO_PATH
        return ModulePath(owner(max(sized)[1]), PathSource.FLOW)

    def _from_frame(self, instruction: Instruction) -> ModulePath:
        metadata = instruction.metadata
        stack = (metadata.stack_frame, metadata.source_file, metadata.source_line)
        if stack not in self._framed:
            self._framed[stack] = _named(hlo.origin(self.module, instruction))
        return self._framed[stack]

    def _flow(self, entry: int) -> None:
        """Hands states down from the entry's parameters, into loops and called computations."""
        waiting: list[tuple[int, dict[int, States]]] = [(entry, self._given_states(entry))]
        while waiting:
            computation, arguments = waiting.pop()
            if computation in self._states:
                continue
            states: list[States] = []
            self._states[computation] = states
            for instruction in self.module.computations[computation].instructions:
                states.append(_carried(instruction, states, arguments))
                if instruction.opcode in _RUNNERS:
                    waiting += _calls(instruction, states)

    def _given_states(self, entry: int) -> dict[int, States]:
        found: dict[int, States] = {}
        tupled = tupled_arguments(self.module)
        for place, instruction in enumerate(self.module.computations[entry].instructions):
            if place == tupled:
                paths = ((n, state_path(text)) for n, text in self._given.items())
                found[instruction.parameter] = {(n,): path for n, path in paths if path}
            elif instruction.opcode == "parameter":
                text = self._given.get(instruction.parameter) or instruction.metadata.op_name
                path = state_path(text)
                found[instruction.parameter] = {(): path} if path else _NONE
        return found


def _carried(
    instruction: Instruction, states: Sequence[States], arguments: Mapping[int, States]
) -> States:
    """The states that an instruction's result is, by tuple index; operands come before it."""
    opcode = instruction.opcode
    if opcode == "parameter":
        return arguments.get(instruction.parameter, _NONE)
    if not instruction.operands:
        return _NONE
    if opcode == "tuple":
        parts = [(n, part) for n, o in enumerate(instruction.operands) if (part := states[o])]
        return {(n, *index): state for n, part in parts for index, state in part.items()}
    first = states[instruction.operands[0]]
    if not first:
        return _NONE
    if opcode == "get-tuple-element":
        at = int(instruction.attr("index") or 0)
        return {index[1:]: s for index, s in first.items() if index[:1] == (at,)}
    if opcode in _CARRY:
        state = first.get(())
        return {(): state} if state else _NONE
    return _NONE


def _calls(
    instruction: Instruction, states: Sequence[States]
) -> list[tuple[int, dict[int, States]]]:
    """The computations that an instruction runs, each with the states of its parameters."""
    operands = [states[o] for o in instruction.operands]
    if instruction.opcode != "conditional":
        return [(called, dict(enumerate(operands))) for _, called in instruction.called]
    # operand 0 chooses the branch; branch n gets operand n + 1
    return [
        (called, {0: operands[number + 1] if number + 1 < len(operands) else _NONE})
        for number, (_, called) in enumerate(instruction.called)
    ]


def _spread(
    instructions: Sequence[Instruction], sure: Sequence[ModulePath]
) -> Mapping[int, ModulePath]:
    """Hands each known module on to the neighbours that have none, the nearest one wins."""
    # what a state is moved through belongs to the state, which says little of its neighbours
    ring = [n for n, at in enumerate(sure) if at.path and at.source is not PathSource.STATE]
    found: dict[int, ModulePath] = {}
    if not ring or all(at.path for at in sure):
        return found
    users = _users(instructions)
    for _ in range(NEIGHBOURHOOD):
        following = []
        for at in ring:
            # users, then operands, without repeats
            around = dict.fromkeys((*users[at], *instructions[at].operands))
            if len(around) > _HUB:
                continue
            path = sure[at].path or found[at].path
            for other in around:
                if other not in found and not sure[other].path:
                    found[other] = ModulePath(path, PathSource.NEIGHBOUR)
                    following.append(other)
        ring = following
    return found


def _named(frame: StackFrame | None) -> ModulePath:
    """The function of a frame as a path."""
    if frame is None or _ANONYMOUS.fullmatch(frame.function):
        return NO_PATH
    steps = [step for step in frame.function.split(".") if step not in _NO_MODULE]
    return ModulePath(tuple(steps), PathSource.FRAME)


def _users(instructions: Sequence[Instruction]) -> list[list[int]]:
    """Users of each instruction, without repeats."""
    users: list[list[int]] = [[] for _ in instructions]
    for number, instruction in enumerate(instructions):
        for operand in instruction.operands:
            if not users[operand] or users[operand][-1] != number:
                users[operand].append(number)
    return users


def owner(state: State) -> tuple[str, ...]:
    """The module that owns a state: without optimizer steps in front and the leaf's own name."""
    start = 0
    while start < len(state) and (state[start] in _OPTIMIZER_STEPS or state[start].isdigit()):
        start += 1
    bare = state[start:] or state
    return bare[:-1] or bare
