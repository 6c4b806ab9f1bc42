"""Updates of a slice that became scatters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Dataflow,
    Direction,
    Finding,
    NodeKind,
    Ref,
    Remedy,
    Specificity,
    View,
    array,
    frame_of,
    listed,
    views,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter(Analyzer):
    """A `dynamic_update_slice` became a scatter.

    What it sees: scatters of the program as it was written, into an array that the other side
    updates with a `dynamic_update_slice`; and what the compiler makes of them, which on TPU is a
    loop over the indices.

    Why it costs: an update of a slice is one contiguous write in place. A scatter is written for
    indices in any order: it is expanded to a loop that writes one row a turn, and often needs
    copies of its operands.

    What it does not see: scatters that both sides have; indices that repeat, which only a scatter
    can handle.

    Example: `vmap` over an update whose position is mapped too:

        jax.vmap(lambda c, u, i: jax.lax.dynamic_update_slice(c, u, (i, 0)))(cache, rows, positions)

    where one position for the whole batch, or `jnp.where` on a mask, would do.
    """

    name: ClassVar[str] = "scatter"
    codes: ClassVar[Mapping[str, str]] = {"DUS001": "a dynamic-update-slice became a scatter"}

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Scatters of one side into arrays that the other side updates slice by slice."""
        for view in views(comparison):
            here, there = view.written, view.there.written
            lost = _sizes(there, _SLICE) - _sizes(here, _SLICE)
            known = _sizes(there, _SCATTER)
            found = []
            for node in _of(here, _SCATTER):
                size = prod(here.nodes[node].shape.dims)
                known[size] -= 1
                if known[size] < 0 and lost[size] > 0:
                    found.append(node)
            if found:
                yield _finding(view, found)


_SLICE, _SCATTER = "dynamic-update-slice", "scatter"


def _of(flow: Dataflow, opcode: str) -> list[int]:
    return [n for n in range(len(flow.nodes)) if flow.opcode(n) == opcode]


def _sizes(flow: Dataflow, opcode: str) -> Counter[int]:
    """Elements of the arrays that are written."""
    return Counter(prod(flow.nodes[node].shape.dims) for node in _of(flow, opcode))


def _finding(view: View, found: list[int]) -> Finding:
    written, worse = view.written, view.direction is Direction.WORSE
    sizes = {prod(written.nodes[n].shape.dims) for n in found}
    loops = _loops(view, found)
    kernels = _kernels(view, found, loops)
    replaced = _replaced(view.there, sizes)
    nodes = [n for ref in kernels for n in view.flow.at.get(ref, ())]
    shapes = listed(list(dict.fromkeys(array(written.nodes[n].shape) for n in found)))
    number = "a dynamic-update-slice" if len(found) == 1 else f"{len(found)} dynamic-update-slices"
    expanded = f", expanded to {'a loop' if len(loops) == 1 else f'{len(loops)} loops'}"
    return Finding(
        code="DUS001",
        title=f"{number} into {shapes} became "
        f"{'a scatter' if len(found) == 1 else 'scatters'}{expanded if loops else ''}"
        if worse
        else f"{'a scatter' if len(found) == 1 else f'{len(found)} scatters'} into {shapes} became "
        "dynamic-update-slices",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=view.more_memory_of(nodes),
        cost_entries=(*view.cost_of(kernels), *view.there.cost_of(replaced)),
        evidence=(
            *(view.seen(f"write into {array(written.nodes[n].shape)}", _SCATTER, _SLICE)
              for n in found[:3]),
            view.seen("loops in the optimized program",
                      str(len(view.flow.loops)), str(len(view.there.flow.loops))),
            view.seen("instructions in the optimized program",
                      str(view.module.instruction_count), str(view.there.module.instruction_count)),
        ),
        unknown=("whether the indices need a scatter",) if worse else (),
        remedies=_REMEDIES if worse else (),
        **view.where((frame_of(written, n) for n in found),
                     (frame_of(view.there.written, n) for n in _of(view.there.written, _SLICE)
                      if prod(view.there.written.nodes[n].shape.dims) in sizes)),
    )  # fmt: skip


_REMEDIES = (
    Remedy("write at one position for the whole batch, outside vmap"),
    Remedy("select with a mask: jnp.where(positions == jnp.arange(length), row, cache)"),
)


def _loops(view: View, found: list[int]) -> list[int]:
    """Loops of the optimized program that scatters were expanded to: the written one lacks them."""
    names = {view.written.instruction(n).metadata.op_name for n in found}
    sizes = {prod(view.written.nodes[n].shape.dims) for n in found}
    written = {view.written.instruction(loop.slots[0]).metadata.op_name
               for loop in view.written.loops if loop.slots}  # fmt: skip
    flow = view.flow
    loops = []
    for number, loop in enumerate(flow.loops):
        name = flow.instruction(loop.slots[0]).metadata.op_name if loop.slots else ""
        writes = any(prod(flow.nodes[s].shape.dims) in sizes for s in loop.slots)
        if writes and (name in names or name not in written) and not loop.around:
            loops.append(number)
    return loops if len(flow.loops) > len(view.written.loops) else []


def _kernels(view: View, found: list[int], loops: list[int]) -> list[Ref]:
    """Kernels of the optimized program that do the scatters."""
    names = {view.written.instruction(n).metadata.op_name for n in found}
    flow = view.flow
    sizes = {prod(view.written.nodes[n].shape.dims) for n in found}
    # a scatter of one row is simplified to an update again, with checks around it
    kernels = [] if loops else _replaced(view, sizes)
    for number, node in enumerate(flow.nodes):
        inside = any(loop in node.loops for loop in loops)
        named = node.kind is NodeKind.OPERATION and (
            flow.opcode(number) == _SCATTER or flow.instruction(number).metadata.op_name in names
        )
        if inside or named:
            kernels += [node.kernel, node.ref]
    kernels += _feeders(view, set(kernels), loops)
    return list(dict.fromkeys(kernels))


def _feeders(view: View, kernels: set[Ref], loops: list[int]) -> list[Ref]:
    """Unpaired kernels that prepare indices for the loops, or copies of what is written."""
    flow = view.flow
    waiting = [flow.nodes[s].operands[0] for k in loops for s in flow.loops[k].slots]
    waiting += [n for ref in kernels for n in flow.at.get(ref, ())]
    feeders, seen = [], set(waiting)
    while waiting:
        node = flow.nodes[waiting.pop()]
        if node.ref not in view.partners and node.kernel not in view.partners:
            feeders.append(node.kernel)
            fresh = [o for o in node.operands if o not in seen]
            seen.update(fresh)
            waiting += fresh
    return feeders


def _replaced(view: View, sizes: set[int]) -> list[Ref]:
    """Kernels of the other side that update the slices."""
    flow = view.flow
    nodes = (flow.nodes[n] for n in _of(flow, _SLICE))
    made = (node.kernel for node in nodes if prod(node.shape.dims) in sizes)
    return [ref for ref in made if ref not in view.partners]
