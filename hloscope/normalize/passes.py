"""The noise that normalizing removes, one named pass per kind, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hloscope.errors import HloscopeError
from hloscope.model.hlo import Computation, Instruction
from hloscope.normalize.backend_config import without_noise
from hloscope.normalize.replica_groups import explicit_groups

# rewrites an attribute's text; `None` drops the attribute
Rewrite = Callable[[str], str | None]


class Place(NamedTuple):
    """An instruction with what is noise about it."""

    computation: Computation
    computation_number: int
    instruction: Instruction
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """Removes one kind of noise.

    Attributes:
      name: how the pass is switched off.
      removes: the noise, in one sentence.
      before: an example of two texts that differ by this noise alone: one side.
      after: the other side.
      attrs: instruction attributes that it rewrites or drops.
      header: module attributes that it rewrites or drops.
      keeps: the noise of one instruction, which stays in the label when the pass is off; passes
        without it act through `attrs` and `header`, or in the order of the canonical form.
    """

    name: str
    removes: str
    before: str
    after: str
    attrs: Mapping[str, Rewrite] = field(default_factory=dict)
    header: Mapping[str, Rewrite] = field(default_factory=dict)
    keeps: Callable[[Place], str] | None = None


def _drop(_text: str) -> None:
    return None


def _presence(_text: str) -> str:
    """Whether the attribute is there matters (a collective over partitions has a channel)."""
    return "set"


def _names(place: Place) -> str:
    return f"{place.computation.name}/{place.instruction.name}"


def _schedule(place: Place) -> str:
    return str(place.position)


def _metadata(place: Place) -> str:
    return repr(tuple(place.instruction.metadata))


def _parameter_number(place: Place) -> str:
    return str(place.instruction.parameter) if place.instruction.opcode == "parameter" else ""


def _tuple_position(place: Place) -> str:
    return place.instruction.attr("index") or ""


PASSES: tuple[Pass, ...] = (
    Pass(
        name="names",
        removes="Names and ids of instructions, computations and fusions, clone suffixes included.",
        before="%fused_computation.3 { ROOT %add.17.clone.1 = f32[8] add(%p.1, %p.2) }",
        after="%fused_computation { ROOT %add.2 = f32[8] add(%param_0, %param_1) }",
        keeps=_names,
    ),
    Pass(
        name="metadata",
        removes="Op names, source lines, stack frames and original values.",
        before='add(%a, %b), metadata={op_name="jit(f)/add" source_line=3}',
        after="add(%a, %b)",
        attrs={"origin": _drop, "original_value": _drop},
        header={
            "origin_recovery_table": _drop,
            "original_value_recovery_table": _drop,
            "stack_frame_index": _drop,
        },
        keeps=_metadata,
    ),
    Pass(
        name="computation-order",
        removes="The order in which computations are listed.",
        before="%region_0 {...} %region_1 {...} ENTRY {...}",
        after="%region_1 {...} %region_0 {...} ENTRY {...}",
        keeps=lambda place: str(place.computation_number),
    ),
    Pass(
        name="instruction-order",
        removes="The order of instructions that data flow and control predecessors leave open.",
        before="%a = f32[] sine(%p)  %b = f32[] cosine(%p)",
        after="%b = f32[] cosine(%p)  %a = f32[] sine(%p)",
        keeps=_schedule,
    ),
    Pass(
        name="parameter-order",
        removes="Numbers of parameters: a state path, or the order among equal ones, names them.",
        before="parameter(0), metadata={op_name=\"state.params['w']\"}",
        after="parameter(7), metadata={op_name=\"state['model']['w'].value\"}",
        header={"parameter_is_spmd_sharded": _drop},
        keeps=_parameter_number,
    ),
    Pass(
        name="tuple-positions",
        removes="Positions in tuples, results and loop carries: what is carried names a position.",
        before="while(tuple(%i, %x)), get-tuple-element(%carry), index=1",
        after="while(tuple(%x, %i)), get-tuple-element(%carry), index=0",
        keeps=_tuple_position,
    ),
    Pass(
        name="channel-ids",
        removes="Channel numbers; whether there is one, and which send has which recv, stays.",
        before="all-reduce(%x), channel_id=3",
        after="all-reduce(%x), channel_id=17",
        attrs={"channel_id": _presence},
    ),
    Pass(
        name="replica-groups",
        removes="Notation of replica groups (explicit, iota, mesh) and the order of the groups.",
        before="replica_groups={{0,1},{2,3}}",
        after="replica_groups=[2,2]<=[4]",
        attrs={"replica_groups": explicit_groups},
    ),
    Pass(
        name="cross-program-prefetch",
        removes="Indices of cross-program prefetches; that a copy is one stays.",
        before="copy-start(%w), cross_program_prefetch_index=0",
        after="copy-start(%w), cross_program_prefetch_index=4",
        attrs={"cross_program_prefetch_index": _presence},
        header={"cross_program_prefetches": _drop},
    ),
    Pass(
        name="backend-config",
        removes="Fields of backend_config that do not change the program, listed with reasons.",
        before='backend_config={"window_config":{"estimated_cycles":"812"}}',
        after='backend_config={"window_config":{"estimated_cycles":"790"}}',
        attrs={"backend_config": without_noise},
    ),
    Pass(
        name="dead-elements",
        removes="Elements of tuples that nothing reads; newer XLA leaves them out of its text.",
        before="%a = f32[8] get-tuple-element(%r), index=0  %b = f32[8] sine(%p)",
        after="%b = f32[8] sine(%p)",
    ),
    Pass(
        name="combined-collectives",
        removes="The order of operands of a combined collective, and of the elements they become.",
        before="(f32[8], f32[4]) all-reduce(%a, %b), get-tuple-element(%sum), index=0",
        after="(f32[4], f32[8]) all-reduce(%b, %a), get-tuple-element(%sum), index=1",
    ),
    Pass(
        name="commutative-operands",
        removes="The order of operands of commutative operations.",
        before="add(%a, %b)",
        after="add(%b, %a)",
    ),
)
PASS_NAMES = tuple(p.name for p in PASSES)


def known(names: frozenset[str]) -> frozenset[str]:
    """The names, once it is certain that each is a pass.

    Raises:
      HloscopeError: a name is no pass.
    """
    for name in sorted(names):
        if name not in PASS_NAMES:
            raise HloscopeError(
                f"unknown normalization pass '{name}'", remedy=f"one of {', '.join(PASS_NAMES)}"
            )
    return names
