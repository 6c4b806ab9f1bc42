"""What the entry is given: parameters, or the elements of its only one."""

from __future__ import annotations

import pytest

from hloscope.hlo import entry_arguments, read_text
from hloscope.hlo.arguments import Argument, aliases, donated
from hloscope.hlo.dataflow import dataflow
from hloscope.hlo.entry_leaves import entry_leaves
from hloscope.model.hlo import Module

PARAMETERS = """
HloModule m, input_output_alias={ {0}: (1, {}, may-alias) }, buffer_donor={ (0, {}) }
ENTRY %main (a: f32[4], b: f32[8]) -> (f32[8], f32[4]) {
  %b = f32[8] parameter(1), metadata={op_name="state[\'b\']"}
  %a = f32[4] parameter(0), sharding={replicated}
  %c = f32[8] cosine(%b)
  %d = f32[4] sine(%a)
  ROOT %out = (f32[8], f32[4]) tuple(%c, %d)
}
"""
TUPLE = """
HloModule m, input_output_alias={ {0}: (0, {1}, may-alias) }, buffer_donor={ (0, {0}) }
ENTRY %main (all: (f32[4], f32[8], f32[2])) -> (f32[8], f32[4]) {
  %all = (f32[4], f32[8], f32[2]) parameter(0), sharding={{replicated}, {devices=[2]<=[2]}, {}}
  %b = f32[8] get-tuple-element(%all), index=1
  %a = f32[4] get-tuple-element(%all), index=0
  %again = f32[8] get-tuple-element(%all), index=1
  %c = f32[8] multiply(%b, %again)
  %d = f32[4] sine(%a)
  ROOT %out = (f32[8], f32[4]) tuple(%c, %d)
}
"""


def module(text: str) -> Module:
    return read_text(text)[0]


def _summary(found: tuple[Argument, ...]) -> list[tuple[object, ...]]:
    return [(a.number, a.place, a.name, a.shape.dims, a.op_name, a.sharding) for a in found]


def test_arguments_are_the_parameters() -> None:
    assert _summary(entry_arguments(module(PARAMETERS))) == [
        (0, 1, "a", (4,), "", "{replicated}"),
        (1, 0, "b", (8,), "state['b']", None),
    ]


def test_arguments_are_the_elements_of_an_only_tuple() -> None:
    assert _summary(entry_arguments(module(TUPLE))) == [
        (0, 2, "all[0]", (4,), "", "{replicated}"),
        (1, 1, "all[1]", (8,), "", "{devices=[2]<=[2]}"),
        (2, 0, "all[2]", (2,), "", "{}"),  # nothing reads it
    ]


@pytest.mark.parametrize("text", [PARAMETERS, TUPLE])
def test_donation_names_the_argument(text: str) -> None:
    assert aliases(module(text)) == {1: 0}
    assert donated(module(text)) == {0, 1}
    assert [leaf.donated for leaf in entry_leaves(module(text))][:2] == [True, True]


def test_flow_starts_at_each_argument() -> None:
    flow = dataflow(module(TUPLE))
    assert [flow.nodes[node].ref.instruction for node in flow.parameters] == [2, 1, 0]
    product = flow.nodes[flow.outputs[0]]
    assert product.operands == (flow.parameters[1], flow.parameters[1])
