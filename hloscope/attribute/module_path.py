"""Module paths of instructions: decoder / layers / mlp, also where op_names carry no scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hloscope import hlo
from hloscope.attribute.cost_shapes import leaf_bytes
from hloscope.hlo.state_path import state_path
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Instruction, Module, StackFrame
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

State = tuple[str, ...]


class ModulePath(NamedTuple):
    """A module path, with what it rests on."""

    path: tuple[str, ...]
    source: PathSource


NO_PATH = ModulePath((), PathSource.NONE)


class ModulePaths:
    """Module paths of one module's instructions, found when asked for.

    Args:
      module: the module.
      given: tree paths of the entry's parameters by number, from a capture; op_names otherwise.
    """

    def __init__(self, module: Module, given: Mapping[int, str] | None = None) -> None:
        self.module = module
        self._given = given or {}
        self._state: dict[Ref, dict[tuple[int, ...], State]] = {}
        self._known: dict[Ref, ModulePath] = {}
        self._nearest: dict[int, dict[int, ModulePath]] = {}
        # thousands of instructions share an op_name or a stack
        self._scoped: dict[str, ModulePath | None] = {}
        self._framed: dict[tuple[int, str, int], ModulePath] = {}
        if module.entry is not None:
            self._flow(module.entry)
        owners = {owner(state) for found in self._state.values() for state in found.values()}
        self._modules = {path[:n] for path in owners for n in range(1, len(path) + 1)}

    def state(self, ref: Ref, index: tuple[int, ...] = ()) -> State:
        """State path of the input that a value is, unchanged but for its form; empty for none."""
        return self._state.get(ref, {}).get(index, ())

    def path(self, ref: Ref) -> ModulePath:
        """The module that an instruction belongs to.

        In this order: the state that it is; scopes of its op_name; the state that flows into it;
        the module of a neighbour in the graph; the Python function that it comes from.
        """
        sure = self._sure(ref)
        if sure.path:
            return sure
        return self._near(ref) or self._from_frame(ref)

    def frame(self, ref: Ref) -> StackFrame | None:
        """The Python frame to show for an instruction, `None` where the source has none."""
        return hlo.origin(self.module, self._instruction(ref))

    def _sure(self, ref: Ref) -> ModulePath:
        if ref not in self._known:
            self._known[ref] = self._from_state(ref) or self._from_scopes(ref) or self._inflow(ref)
        return self._known[ref]

    def _from_state(self, ref: Ref) -> ModulePath | None:
        state = self.state(ref)
        return ModulePath(owner(state), PathSource.STATE) if state else None

    def _from_scopes(self, ref: Ref) -> ModulePath | None:
        op_name = self._instruction(ref).metadata.op_name
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

    def _inflow(self, ref: Ref) -> ModulePath:
        """The owner of the largest state among the operands."""
        sized: list[tuple[int, State]] = []
        for operand in self._instruction(ref).operands:
            at = Ref(ref.computation, operand)
            state = self.state(at)
            if state:
                sized.append((leaf_bytes(self._instruction(at).shape), state))
        if not sized:
            return NO_PATH
        return ModulePath(owner(max(sized)[1]), PathSource.FLOW)

    def _near(self, ref: Ref) -> ModulePath | None:
        if ref.computation not in self._nearest:
            self._nearest[ref.computation] = self._spread(ref.computation)
        return self._nearest[ref.computation].get(ref.instruction)

    def _spread(self, computation: int) -> dict[int, ModulePath]:
        """Hands each known module on to the neighbours that have none, the nearest one wins."""
        instructions = self.module.computations[computation].instructions
        sure = [self._sure(Ref(computation, number)) for number in range(len(instructions))]
        around = _neighbours(instructions)
        # what a state is moved through belongs to the state, which says little of its neighbours
        ring = [n for n, at in enumerate(sure) if at.path and at.source is not PathSource.STATE]
        found: dict[int, ModulePath] = {}
        for _ in range(NEIGHBOURHOOD):
            following = []
            for at in ring:
                if len(around[at]) > _HUB:
                    continue
                path = sure[at].path or found[at].path
                for other in around[at]:
                    if other not in found and not sure[other].path:
                        found[other] = ModulePath(path, PathSource.NEIGHBOUR)
                        following.append(other)
            ring = following
        return found

    def _from_frame(self, ref: Ref) -> ModulePath:
        metadata = self._instruction(ref).metadata
        stack = (metadata.stack_frame, metadata.source_file, metadata.source_line)
        if stack not in self._framed:
            self._framed[stack] = _named(self.frame(ref))
        return self._framed[stack]

    def _instruction(self, ref: Ref) -> Instruction:
        return self.module.computations[ref.computation].instructions[ref.instruction]

    def _flow(self, entry: int) -> None:
        """Hands states down from the entry's parameters, into loops and called computations."""
        waiting: list[tuple[int, dict[int, dict[tuple[int, ...], State]]]] = [(entry, {})]
        done: set[int] = set()
        while waiting:
            computation, arguments = waiting.pop()
            if computation in done:
                continue
            done.add(computation)
            for number, instruction in enumerate(
                self.module.computations[computation].instructions
            ):
                ref = Ref(computation, number)
                states = self._states(
                    instruction, computation, arguments, is_entry=computation == entry
                )
                if states:
                    self._state[ref] = states
                if instruction.opcode in ("while", "call", "conditional", "async-start"):
                    waiting += self._calls(instruction, computation)

    def _states(
        self,
        instruction: Instruction,
        computation: int,
        arguments: Mapping[int, dict[tuple[int, ...], State]],
        *,
        is_entry: bool,
    ) -> dict[tuple[int, ...], State]:
        if instruction.opcode == "parameter":
            if not is_entry:
                return arguments.get(instruction.parameter, {})
            text = self._given.get(instruction.parameter) or instruction.metadata.op_name
            path = state_path(text)
            return {(): path} if path else {}
        operands = [self._state.get(Ref(computation, o), {}) for o in instruction.operands]
        if instruction.opcode == "tuple":
            return {(n, *index): s for n, part in enumerate(operands) for index, s in part.items()}
        if instruction.opcode == "get-tuple-element" and operands:
            at = int(instruction.attr("index") or 0)
            return {index[1:]: s for index, s in operands[0].items() if index[:1] == (at,)}
        if instruction.opcode in _CARRY and operands:
            state = operands[0].get((), ())
            return {(): state} if state else {}
        return {}

    def _calls(
        self, instruction: Instruction, computation: int
    ) -> list[tuple[int, dict[int, dict[tuple[int, ...], State]]]]:
        operands = [self._state.get(Ref(computation, o), {}) for o in instruction.operands]
        calls = []
        for number, (_, called) in enumerate(instruction.called):
            if instruction.opcode == "conditional":
                # operand 0 chooses the branch; branch n gets operand n + 1
                calls.append(
                    (called, {0: operands[number + 1] if number + 1 < len(operands) else {}})
                )
            else:
                calls.append((called, dict(enumerate(operands))))
        return calls


def _named(frame: StackFrame | None) -> ModulePath:
    """The function of a frame as a path."""
    if frame is None or _ANONYMOUS.fullmatch(frame.function):
        return NO_PATH
    steps = [step for step in frame.function.split(".") if step not in _NO_MODULE]
    return ModulePath(tuple(steps), PathSource.FRAME)


def _neighbours(instructions: Sequence[Instruction]) -> list[list[int]]:
    """Users, then operands, of each instruction, without repeats."""
    users: list[list[int]] = [[] for _ in instructions]
    for number, instruction in enumerate(instructions):
        for operand in dict.fromkeys(instruction.operands):
            users[operand].append(number)
    return [
        list(dict.fromkeys((*readers, *instruction.operands)))
        for readers, instruction in zip(users, instructions, strict=True)
    ]


def owner(state: State) -> tuple[str, ...]:
    """The module that owns a state: without optimizer steps in front and the leaf's own name."""
    start = 0
    while start < len(state) and (state[start] in _OPTIMIZER_STEPS or state[start].isdigit()):
        start += 1
    bare = state[start:] or state
    return bare[:-1] or bare
