"""The communication ledger of a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TypeAlias

from hloscope.attribute.communication_find import Site, find_collectives
from hloscope.attribute.communication_groups import (
    Groups,
    Mesh,
    axes_of,
    axes_of_pairs,
    meshes_in,
    read_groups,
    read_pairs,
)
from hloscope.attribute.communication_overlap import During
from hloscope.attribute.cost_entries import Places
from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_shapes import dtype_text, element_count, leaf_bytes, leaves
from hloscope.attribute.cost_totals import total_of
from hloscope.attribute.cost_users import Graph
from hloscope.model.canonical import Ref
from hloscope.model.communication import Collective, CommunicationLedger, Kind
from hloscope.model.cost import add
from hloscope.model.hlo import Instruction, Module, Shape
from hloscope.model.units import Maybe, Measured, Missing

# the collective's own result, by position in a start's tuple; the others return just the result
_RESULT_OF_START = {"all-gather-start": 1, "collective-permute-start": 1, "recv": 0}
# starts that wrap any collective: (operands), result, contexts
_WRAPPED_RESULT = 1
# group size, number of groups, mesh axes
Participants: TypeAlias = tuple[Maybe[int], Maybe[int], Maybe[tuple[str, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a collective exchanges, before anything is known of its place in the program.

    Attributes:
      kind: as the hardware runs it: an all-reduce of which each device keeps its own part is a
        reduce-scatter, though the opcode says otherwise.
    """

    site: Site
    kind: Kind
    result: Shape
    operand_bytes: int
    output_bytes: int
    wire_bytes: Maybe[int]
    group_size: Maybe[int]
    groups: Maybe[int]
    axes: Maybe[tuple[str, ...]]


def exchanges(
    graph: Graph, runs: Executions, mesh: Mapping[str, int] | None
) -> tuple[Exchange, ...]:
    """All collectives of a module with who takes part and what is sent."""
    devices = device_count(graph.module)
    return tuple(_exchange(graph, site, devices, mesh) for site in find_collectives(graph, runs))


def device_count(module: Module) -> int:
    """Partitions times replicas, as the module's header has them."""
    counts = (module.header_attr("num_partitions"), module.header_attr("replica_count"))
    return prod(int(count) for count in counts if count and count.isdigit())


def mesh_in(module: Module) -> Mapping[str, int] | None:
    """The mesh with the most axes that the module's shardings and groups spell, if any.

    Names that the partitioner made up (`axis_0`) are no names.
    """
    devices = device_count(module)
    found: set[Mesh] = set()
    for computation in module.computations:
        for instruction in computation.instructions:
            for name, text in instruction.attrs:
                if name in ("sharding", "replica_groups") and "mesh[" in text:
                    found.update(meshes_in(text))
    whole = [mesh for mesh in found if prod(size for _, size in mesh) == devices]
    if not whole:
        return None
    best: Mesh = max(whole, key=_rank)
    return dict(best)


def _rank(mesh: Mesh) -> tuple[int, Mesh]:
    return len(mesh), mesh


def _exchange(graph: Graph, site: Site, devices: int, mesh: Mapping[str, int] | None) -> Exchange:
    instruction = site.instruction
    operands = [graph.body(site.home).instructions[n].shape for n in instruction.operands]
    operand_bytes = sum(leaf_bytes(shape, padded=False) for shape in operands)
    size, number, axes = _participants(instruction, devices, mesh)
    result, kind = _result(site), site.kind
    if site.kept and isinstance(size, Measured):
        slices = Shape("tuple", elements=site.kept) if len(site.kept) > 1 else site.kept[0]
        if leaf_bytes(slices, padded=False) * size.value == operand_bytes:
            result, kind = slices, Kind.REDUCE_SCATTER
    output_bytes = leaf_bytes(result, padded=False)
    return Exchange(
        site=site,
        kind=kind,
        result=result,
        operand_bytes=operand_bytes,
        output_bytes=output_bytes,
        wire_bytes=wire_bytes(site, kind, operand_bytes, output_bytes, size),
        group_size=size,
        groups=number,
        axes=axes,
    )


def _result(site: Site) -> Shape:
    shape = site.instruction.shape
    element = _RESULT_OF_START.get(site.instruction.opcode)
    if element is None and site.instruction.opcode.endswith("-start") and _wraps(shape):
        element = _WRAPPED_RESULT
    return shape.elements[element] if element is not None and len(shape.elements) > 1 else shape


def _wraps(shape: Shape) -> bool:
    """Whether a start's shape is `((operands), result, contexts)`."""
    return bool(shape.elements) and bool(shape.elements[0].elements)


def _participants(
    instruction: Instruction, devices: int, mesh: Mapping[str, int] | None
) -> Participants:
    """Group size, number of groups and the mesh axes that they follow."""
    pairs, groups = instruction.attr("source_target_pairs"), instruction.attr("replica_groups")
    axes = None if mesh is None else tuple(mesh.items())
    return _spelled(instruction.opcode, pairs, groups, devices, axes)


@lru_cache(maxsize=4096)  # layers exchange with the same devices
def _spelled(
    opcode: str, pairs_text: str | None, text: str | None, devices: int, axes: Mesh | None
) -> Participants:
    mesh = None if axes is None else dict(axes)
    pairs = read_pairs(pairs_text or "")
    if pairs:
        chains = _chains(pairs)
        longest = max(len(chain) for chain in chains)
        return Measured(longest), Measured(len(chains)), axes_of_pairs(pairs, mesh)
    if text is None:
        unknown = Missing(f"'{opcode}' does not say who takes part")
        return unknown, unknown, unknown
    groups = read_groups(text, devices)
    if isinstance(groups, Missing):
        return groups, groups, groups
    return Measured(groups.value.size), Measured(groups.value.number), _axes(groups.value, mesh)


def _axes(groups: Groups, mesh: Mapping[str, int] | None) -> Maybe[tuple[str, ...]]:
    return Measured(()) if groups.size == 1 else axes_of(groups, mesh)


def _chains(pairs: Sequence[tuple[int, int]]) -> list[set[int]]:
    """The devices that pass things on to each other, chain by chain."""
    chains: list[set[int]] = []
    for pair in pairs:
        joined = set(pair)
        apart = []
        for chain in chains:
            if chain & joined:
                joined |= chain
            else:
                apart.append(chain)
        chains = [*apart, joined]
    return chains


def wire_bytes(site: Site, kind: Kind, operand: int, output: int, size: Maybe[int]) -> Maybe[int]:
    """Bytes that one device sends, by the ring algorithm.

    With n devices: all-gather (n-1)/n of what comes out, reduce-scatter (n-1)/n of what goes in,
    all-reduce both one after the other, all-to-all (n-1)/n of what goes in; a permute, broadcast or
    send passes on what goes in. Real machines may use other algorithms; none sends less in total.
    """
    if kind is Kind.RECV:
        return Measured(0)
    if kind is Kind.SEND or kind is Kind.PERMUTE:
        return Measured(0 if _stays(site) else operand)
    if kind is Kind.RAGGED_ALL_TO_ALL:
        return Missing("what a ragged-all-to-all sends depends on its data")
    if isinstance(size, Missing):
        return size
    others, all_devices = size.value - 1, max(size.value, 1)
    if kind is Kind.BROADCAST:
        return Measured(operand if others else 0)
    whole = output if kind is Kind.ALL_GATHER else operand
    rounds = 2 if kind is Kind.ALL_REDUCE else 1
    return Measured(-(-rounds * whole * others // all_devices))


def _stays(site: Site) -> bool:
    pairs = read_pairs(site.instruction.attr("source_target_pairs") or "")
    return bool(pairs) and all(source == target for source, target in pairs)


def wire_of(found: Sequence[Exchange]) -> Mapping[Ref, Maybe[int]]:
    """What each kernel that communicates sends in one execution."""
    sent: dict[Ref, Maybe[int]] = {}
    for item in found:
        kernel = Ref(item.site.schedule, item.site.start)
        for ref in dict.fromkeys((kernel, item.site.ref)):
            sent[ref] = add(sent[ref], item.wire_bytes) if ref in sent else item.wire_bytes
    return sent


def communication_ledger(
    graph: Graph,
    runs: Executions,
    found: Sequence[Exchange],
    mesh: Mapping[str, int] | None,
    during: During,
    places: Places,
    label: str,
) -> CommunicationLedger:
    """Every collective with how often it runs and what runs meanwhile.

    Args:
      graph: the module.
      runs: how often each computation runs.
      found: its collectives, from `exchanges`.
      mesh: the mesh that named the axes.
      during: what runs while a collective is under way.
      places: where instructions come from.
      label: what reports call the side.
    """
    collectives = tuple(_collective(graph, runs, item, during, places) for item in found)
    return CommunicationLedger(
        label=label,
        mesh=mesh,
        collectives=collectives,
        wire_bytes=total_of(item.wire_per_step for item in collectives),
        notes=tuple(note for note in runs.notes if "loop" in note or "entry" in note),
    )


def _collective(
    graph: Graph,
    runs: Executions,
    item: Exchange,
    during: During,
    places: Places,
) -> Collective:
    site = item.site
    arrays = list(leaves(item.result))
    loops = runs.loops.get(site.schedule, ())
    return Collective(
        ref=site.ref,
        done=None if site.done is None else Ref(site.schedule, site.done),
        name=site.instruction.name,
        kind=item.kind,
        form=site.form,
        computation=graph.body(site.schedule).name,
        dtype="/".join(sorted({array.dtype for array in arrays})),
        shape=dtype_text(item.result),
        elements=sum(element_count(array) for array in arrays),
        operand_bytes=item.operand_bytes,
        output_bytes=item.output_bytes,
        wire_bytes=item.wire_bytes,
        group_size=item.group_size,
        groups=item.groups,
        axes=item.axes,
        executions=runs.computations[site.schedule] or Missing("it is not part of the program"),
        loops=tuple(graph.body(r.computation).instructions[r.instruction].name for r in loops),
        overlap=during(site),
        module_path=places.module_path(site.ref),
        source=places.source(site.ref),
    )
