"""The graph of a module in Graphviz's language."""

from __future__ import annotations

from collections import defaultdict

import graphviz

from hloscope.export.call_graph import CallGraph, call_graph
from hloscope.export.files import Files
from hloscope.hlo import format_shape
from hloscope.model.canonical import Ref
from hloscope.model.hlo import Instruction
from hloscope.model.source import Source

_MANY = 5_000  # instructions; beyond this `dot` takes minutes and `sfdp` seconds


def dot(side: Source) -> Files:
    """One node for each instruction, one cluster for each called computation."""
    module = side.module
    graph = call_graph(module)
    source = graphviz.Digraph(module.name, node_attr={"shape": "box", "fontname": "monospace"})
    inner: dict[int, list[int]] = defaultdict(list)
    for called, caller in sorted(graph.callers.items()):
        inner[caller.computation].append(called)
    for number in range(len(module.computations)):
        if number not in graph.callers:
            _computation(source, graph, number, inner)
    for edge in graph.edges():
        style = {"style": "dashed"} if edge.operand < 0 else {}
        source.edge(_id(edge.source), _id(edge.user), **style)
    layout = "sfdp" if module.instruction_count > _MANY else "dot"
    return Files(
        contents={"": source.source.encode("utf-8", "surrogateescape")},
        opens_with=f"{layout} -Tsvg {{out}} -o {{out}}.svg",
    )


def _computation(
    source: graphviz.Digraph, graph: CallGraph, number: int, inner: dict[int, list[int]]
) -> None:
    computation = graph.module.computations[number]
    for position, instruction in enumerate(computation.instructions):
        source.node(_id(Ref(number, position)), label=graphviz.escape(_label(instruction)))
    for called in inner[number]:
        name = graph.module.computations[called].name
        with source.subgraph(name=f"cluster_{called}") as cluster:
            cluster.attr(label=graphviz.escape(name))
            _computation(cluster, graph, called, inner)


def _label(instruction: Instruction) -> str:
    return f"{instruction.name}\n{instruction.opcode}\n{format_shape(instruction.shape)}"


def _id(ref: Ref) -> str:
    return f"i{ref.computation}_{ref.instruction}"
