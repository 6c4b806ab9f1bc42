"""Module in, canonical module out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hloscope.hlo.colours import label_digests, mix, seeds
from hloscope.model.canonical import CanonicalModule, Flow, Label, NodeKind
from hloscope.model.hlo import Module
from hloscope.normalize import form
from hloscope.normalize.interface import Interface, read_interface
from hloscope.normalize.labels import LabelTable, label_nodes
from hloscope.normalize.passes import known
from hloscope.normalize.wiring import Wiring, wire

COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor", "after-all"})
# steps of the paths of an optimizer's state, which JAX users pass after the parameters
OPTIMIZER_STEPS = frozenset({"opt_state", "mu", "nu", "trace"})
# comparisons that do not mind an exchange of their operands
SYMMETRIC_COMPARISONS = frozenset({"EQ", "NE"})
# a channel ties these to their other half; on a collective it is a bare number
CHANNEL_ENDS = frozenset({"send", "recv", "send-done", "recv-done"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizeOptions:
    """How to normalize.

    Attributes:
      strict: keep layouts and the schedule in the fingerprint.
      off: names of passes to switch off.
    """

    strict: bool = False
    off: frozenset[str] = frozenset()


DEFAULT = NormalizeOptions()


def normalize(
    module: Module,
    *,
    options: NormalizeOptions = DEFAULT,
    parameter_paths: Mapping[int, str] | None = None,
) -> CanonicalModule:
    """Removes all noise from a module.

    Args:
      module: as read; it stays reachable from the result for display.
      options: what to keep.
      parameter_paths: tree path (as `jax.tree_util.keystr` writes it) by entry parameter number;
        a parameter without one is named by its op_name, which JAX fills with the same.

    Raises:
      HloscopeError: `options.off` names no pass.
    """
    off = known(options.off)
    wiring = wire(
        module, keep_dead="dead-elements" in off, keep_order="combined-collectives" in off
    )
    table = LabelTable(off)
    label_of, layouts = label_nodes(module, wiring, table)
    interface = read_interface(module, wiring, off, parameter_paths)
    flow = _flow(wiring, interface, table.labels, label_of, off)
    order, graph, full = _hashed(module, wiring, interface, flow, (table.labels, label_of, layouts))
    return CanonicalModule(
        module=module,
        strict=options.strict,
        off=off,
        count=wiring.count,
        offsets=tuple(wiring.offsets),
        flow=flow,
        labels=tuple(table.labels),
        label_of=tuple(label_of),
        layout_of=tuple(layouts),
        inlined=tuple(wiring.inlined),
        parameters=interface.parameters,
        paths=interface.paths,
        aliases=interface.aliases,
        donors=interface.donors,
        header=interface.header,
        order=tuple(order),
        graph_fingerprint=graph.hex(),
        full_fingerprint=full.hex(),
        notes=tuple(wiring.notes),
    )


def _hashed(
    module: Module,
    wiring: Wiring,
    interface: Interface,
    flow: Flow,
    nodes: tuple[Sequence[Label], Sequence[int], Sequence[str]],
) -> tuple[list[int], bytes, bytes]:
    """The canonical order, with the digests without and with layouts and schedule."""
    labels, label_of, layouts = nodes
    digests = label_digests(labels)
    ranks, start = _start(interface, seeds(label_of, digests))
    owners = form.Owners(_owners(module), wiring.inlined)
    colours = form.settled_colours(flow, start, _marks(interface))
    order = form.canonical_order(flow, colours, owners, _places(module, wiring), wiring.dead)
    described = form.Form(
        flow=flow,
        label_of=label_of,
        label_digests=digests,
        owners=owners,
        ranks=ranks,
        channels=_channels(module, wiring),
        aliases=interface.aliases,
        donors=interface.donors,
        texts=(interface.header, _threads(module)),
    )
    graph = form.graph_digest(described, order)
    full = form.full_digest(graph, order, layouts, _schedule(module, wiring))
    # what nothing reads comes last: it counts for nothing
    return [*order, *sorted(wiring.dead)], graph, full


def _flow(
    wiring: Wiring,
    interface: Interface,
    labels: Sequence[Label],
    label_of: Sequence[int],
    off: frozenset[str],
) -> Flow:
    free = [_is_commutative(label) and "commutative-operands" not in off for label in labels]
    boundary = (NodeKind.WIRE, NodeKind.WRAPPER)
    loose = "tuple-positions" not in off
    commutative = bytearray(
        free[label] or (kind in boundary and loose)
        for label, kind in zip(label_of, wiring.kinds, strict=True)
    )
    for node in wiring.combined:
        commutative[node] = 1
    return Flow(
        kinds=bytes(wiring.kinds),
        sources=tuple(wiring.sources),
        back=wiring.back,
        called=wiring.called,
        control=wiring.control,
        commutative=bytes(commutative),
        topological=tuple(wiring.topological),
        outputs=interface.outputs,
    )


def _is_commutative(label: Label) -> bool:
    if label.opcode == "compare":
        return label.attr("direction") in SYMMETRIC_COMPARISONS
    return label.opcode in COMMUTATIVE


def _start(interface: Interface, plain: list[int]) -> tuple[dict[int, int], list[int]]:
    """Ranks of the entry parameters, with the seeds that they and donation add to."""
    start = list(plain)
    for alias in interface.aliases:
        start[alias.parameter] = mix(start[alias.parameter], 1)
    for node in interface.donors:
        start[node] = mix(start[node], 2)
    keys = _keys(interface)
    ranks = form.ranks_among_equals(interface.parameters, keys, start)
    for node, rank in ranks.items():
        start[node] = mix(start[node], 3, rank)
    return ranks, start


def _keys(interface: Interface) -> list[tuple[object, ...]]:
    """What parameters are told apart by: state paths where all have one, otherwise numbers."""
    paths = interface.paths
    if any(node not in paths for node in interface.parameters):
        return [(number,) for number in range(len(interface.parameters))]
    return [_flatten_order(paths[node]) for node in interface.parameters]


def _flatten_order(path: tuple[str, ...]) -> tuple[object, ...]:
    """Sorts paths nearly as JAX flattens a train state: parameters, step, optimizer state."""
    first = 2 if OPTIMIZER_STEPS.intersection(path) else int(path[0] == "step")
    if path[0] == "opt_state" and not "".join(path[1:2]).isdigit():
        # state paths leave the first place in an optimizer's chain out
        path = (path[0], "0", *path[1:])
    return (first, *((0, int(s), "") if s.isdigit() else (1, 0, s) for s in path))


def _marks(interface: Interface) -> Counter[int]:
    marks = Counter({node: 3 * count for node, count in Counter(interface.outputs).items()})
    for alias in interface.aliases:
        marks[alias.output] += 5 if alias.kind == "may-alias" else 7
    return marks


def _owners(module: Module) -> list[int]:
    return [
        number
        for number, computation in enumerate(module.computations)
        for _ in computation.instructions
    ]


def _places(module: Module, wiring: Wiring) -> list[int]:
    """The place of each node in its computation, 0 where the order is not the program's."""
    if not module.is_scheduled:
        return [0] * len(wiring.sources)
    places = [
        k for computation in module.computations for k in range(len(computation.instructions))
    ]
    for sources in wiring.sources[wiring.count :]:
        places.append(places[sources[0]] if sources else 0)
    for node, kind in enumerate(wiring.kinds):
        if kind == NodeKind.WRAPPER:
            # what a loop carries lies where the loop does, wherever it started from
            for slot in wiring.sources[node]:
                if slot >= wiring.count:
                    places[slot] = places[node]
    return places


def _channels(module: Module, wiring: Wiring) -> dict[int, str]:
    return {
        wiring.offsets[number] + k: ins.attr("channel_id") or ""
        for number, computation in enumerate(module.computations)
        for k, ins in enumerate(computation.instructions)
        if ins.opcode in CHANNEL_ENDS
    }


def _threads(module: Module) -> tuple[str, ...]:
    return tuple(sorted(c.execution_thread for c in module.computations))


def _schedule(module: Module, wiring: Wiring) -> Sequence[Sequence[int]]:
    """The nodes of each computation in order, where the order is the program's."""
    if not module.is_scheduled:
        return []
    lines = [
        range(base, base + len(computation.instructions))
        for base, computation in zip(wiring.offsets, module.computations, strict=True)
    ]
    if wiring.dead:
        return [[node for node in line if node not in wiring.dead] for line in lines]
    return lines
