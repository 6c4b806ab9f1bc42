"""Graphs for Model Explorer, and the pairing of their nodes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hloscope.export.call_graph import Edge, call_graph
from hloscope.export.files import Files
from hloscope.hlo import format_shape, origin
from hloscope.model.canonical import Ref
from hloscope.model.comparison import Comparison
from hloscope.model.hlo import Instruction, Module
from hloscope.model.pairing import Pairing
from hloscope.model.source import Source

_ONE = "model-explorer {out}/lhs.json"
_TWO = (
    "model-explorer {out}/lhs.json {out}/rhs.json  # split panes, then sync by {out}/mapping.json"
)


def model_explorer(subject: Source | Comparison) -> Files:
    """One graph for each side; for two, `mapping.json` says which node is which.

    The fields are those of `graph_builder.py` in Model Explorer 0.1 (`Graph`, `GraphNode`,
    `IncomingEdge`), and of the mapping file that its split view takes.
    """
    if isinstance(subject, Source):
        return Files(contents={"lhs.json": _collection("lhs", subject)}, opens_with=_ONE)
    contents = {
        "lhs.json": _collection("lhs", subject.lhs),
        "rhs.json": _collection("rhs", subject.rhs),
        "mapping.json": _encoded(_mapping(subject.pairing)),
    }
    return Files(contents=contents, opens_with=_TWO)


def _collection(name: str, side: Source) -> bytes:
    return _encoded({"label": side.label, "graphs": [_graph(name, side.module)]})


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _graph(name: str, module: Module) -> dict[str, Any]:
    graph = call_graph(module)
    incoming: dict[Ref, list[Edge]] = defaultdict(list)
    for edge in graph.edges():
        incoming[edge.user].append(edge)
    nodes = []
    for number, computation in enumerate(module.computations):
        namespace = "/".join(part.replace("/", "_") for part in graph.place(number))
        for position, instruction in enumerate(computation.instructions):
            ref = Ref(number, position)
            nodes.append(_node(module, instruction, ref, namespace, incoming[ref]))
    return {"id": f"{name} {module.name}", "nodes": nodes}


def _node(
    module: Module, instruction: Instruction, ref: Ref, namespace: str, incoming: Sequence[Edge]
) -> dict[str, Any]:
    return {
        "id": _id(ref),
        "label": instruction.opcode,
        "namespace": namespace,
        "attrs": [{"key": key, "value": text} for key, text in _attributes(module, instruction)],
        "incomingEdges": [
            {
                "sourceNodeId": _id(edge.source),
                "sourceNodeOutputId": "0",
                "targetNodeInputId": "result" if edge.operand < 0 else str(edge.operand),
            }
            for edge in incoming
        ],
        "outputsMetadata": [
            {
                "id": "0",
                "attrs": [
                    {"key": "shape", "value": format_shape(instruction.shape)},
                    {"key": "__tensor_tag", "value": instruction.name},
                ],
            }
        ],
    }


def _attributes(module: Module, instruction: Instruction) -> list[tuple[str, str]]:
    found = [("name", instruction.name), *instruction.attrs]
    if instruction.literal is not None:
        found.append(("value", instruction.literal.preview))
    if instruction.metadata.op_name:
        found.append(("op_name", instruction.metadata.op_name))
    frame = origin(module, instruction)
    return [*found, *([("source", f"{frame.file}:{frame.line}")] if frame else [])]


def _id(ref: Ref) -> str:
    return f"{ref.computation}.{ref.instruction}"


def _mapping(pairing: Pairing) -> dict[str, Any]:
    return {
        "mappingEntries": [
            {"leftNodeIds": [_id(pair.lhs)], "rightNodeIds": [_id(pair.rhs)]} for pair in pairing
        ],
        # a node without a partner has none, rather than the node that happens to have its id
        "disableMappingFallback": True,
    }
