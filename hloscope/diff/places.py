"""Describes an instruction for a report."""

from __future__ import annotations

from collections.abc import Iterable

from hloscope.diff.anchors import anchor
from hloscope.diff.joined import Side
from hloscope.diff.weights import Scale
from hloscope.hlo import format_shape, origin, scopes
from hloscope.model.canonical import NodeKind
from hloscope.model.changes import Place
from hloscope.model.hlo import Instruction, Shape

NEIGHBOURS = 3  # enough to recognise the spot; the graph itself is in the module
# a parameter's value is still the parameter after these
_PASSES_ON = frozenset(
    {"bitcast", "convert", "copy", "copy-start", "copy-done", "reshape", "transpose",
     "broadcast", "slice", "dynamic-slice", "all-gather", "all-gather-start", "all-gather-done"}
)  # fmt: skip
_LOOK_BACK = 64  # nodes looked at on the way to parameters
_ATTRIBUTE_LENGTH = 80  # longer texts (backend configs) are cut in the middle of a line


class Describer:
    """Makes the places of one side; knows who reads what once it is told which nodes matter."""

    def __init__(self, side: Side, scale: Scale, nodes: Iterable[int]) -> None:
        self._side = side
        self._scale = scale
        wanted = set(nodes)
        self._users: dict[int, list[int]] = {node: [] for node in wanted}
        for user, sources in enumerate(side.sources):
            if side.kinds[user] != NodeKind.WIRE and not wanted.isdisjoint(sources):
                for source in dict.fromkeys(sources):
                    if source in wanted:
                        self._users[source].append(user)

    def place(self, node: int) -> Place:
        """The instruction that stands for the node."""
        side = self._side
        shown = anchor(side, node)
        ref = side.canonical.ref(shown)
        if ref is None:
            raise ValueError(f"node {node} has no instruction")
        ins = side.instruction(shown)
        shape = ins.shape
        if node in side.arguments:  # of thousands, which the tuple's text would name
            shape = shape.elements[side.arguments[node]]
        return Place(
            ref=ref,
            name=ins.name,
            computation=side.module.computations[ref.computation].name,
            opcode=ins.opcode,
            text=self._text(shown, ins, shape),
            shape=format_shape(shape),
            path=scopes(ins.metadata.op_name),
            state_paths=self._state_paths(node),
            frame=origin(self._side.module, ins),
            executions=self._scale.runs(ref.computation),
            operands=self._names(side.sources[node]),
            users=self._names(self._users.get(node, ())),
        )

    def _text(self, node: int, ins: Instruction, shape: Shape) -> str:
        holder = self._side.module.computations[self._side.computation_of[node]].instructions
        inside = ", ".join(holder[o].name for o in ins.operands)
        if ins.literal is not None:
            inside = ins.literal.preview
        if ins.parameter >= 0:
            inside = str(ins.parameter)
        attrs = "".join(f", {name}={_shortened(value)}" for name, value in ins.attrs)
        return f"{format_shape(shape)} {ins.opcode}({inside}){attrs}"

    def _names(self, nodes: Iterable[int]) -> tuple[str, ...]:
        side = self._side
        shown = (f"{side.name(n)}: {side.label(anchor(side, n)).opcode}" for n in nodes)
        names = list(dict.fromkeys(shown))
        more = [f"and {len(names) - NEIGHBOURS} more"] if len(names) > NEIGHBOURS else []
        return (*names[:NEIGHBOURS], *more)

    def _state_paths(self, node: int) -> tuple[str, ...]:
        """Paths of the entry parameters that the node is, reads, or reads through wiring."""
        side, found = self._side, dict[str, None]()
        waiting, seen = [node, *side.sources[node]], {node, *side.sources[node]}
        while waiting and len(seen) < _LOOK_BACK:
            current = waiting.pop(0)
            path = side.canonical.paths.get(current)
            if path:
                found["/".join(path)] = None
            elif side.kinds[current] != NodeKind.OPERATION or self._passes_on(current):
                fresh = [s for s in side.sources[current][:1] if s not in seen]
                waiting.extend(fresh)
                seen.update(fresh)
        return tuple(found)[:NEIGHBOURS]

    def _passes_on(self, node: int) -> bool:
        return self._side.label(node).opcode in _PASSES_ON


def _shortened(text: str) -> str:
    if len(text) <= _ATTRIBUTE_LENGTH:
        return text
    return text[: _ATTRIBUTE_LENGTH - 3] + "..."
