"""Where a module communicates: every collective with the instruction that ends it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hloscope.attribute.cost_executions import Executions
from hloscope.attribute.cost_users import Graph, called
from hloscope.model.canonical import Ref
from hloscope.model.communication import Form, Kind
from hloscope.model.hlo import Instruction, Shape

_KINDS = {kind.value + suffix: kind for kind in Kind for suffix in ("", "-start")}
# parts of backend_config, in XLA's JSON
_RUN_AT_ONCE = '"is_sync":true'
_SPREAD = "async_collective_fusion_config"
_SPREAD_START = "AsyncCollectiveStart"
_SPREAD_DONE = "AsyncCollectiveDone"
# what may stand between an all-reduce and the slice that makes a reduce-scatter of it
_RESHAPING = frozenset({
    "bitcast", "convert", "copy", "get-tuple-element", "reshape", "transpose",
})  # fmt: skip


class Site(NamedTuple):
    """A collective in the schedule.

    Attributes:
      ref: the collective's own instruction, or its start's.
      start, done: positions in the computation that the schedule runs, `done` is `None` for a
        synchronous one.
      schedule: the computation that the schedule runs.
      instruction: the one that says what is exchanged.
      home: the computation that holds `instruction`.
      kind: what its opcode says.
      kept: of an all-reduce whose fusion only keeps slices, the slices' shapes.
    """

    ref: Ref
    schedule: int
    start: int
    done: int | None
    instruction: Instruction
    home: int
    kind: Kind
    form: Form
    kept: tuple[Shape, ...] = ()


def find_collectives(graph: Graph, runs: Executions) -> Iterator[Site]:
    """All collectives in the computations that run as part of the program, in module order."""
    elsewhere = _wrapped(graph) | runs.kernels.keys()
    for position, count in enumerate(runs.computations):
        if count is not None and position not in elsewhere:
            yield from _of_computation(graph, position)


def _wrapped(graph: Graph) -> frozenset[int]:
    """Computations that an `async-start` runs: they are found through it."""
    found = set()
    for computation in graph.module.computations:
        for instruction in computation.instructions:
            if instruction.opcode == "async-start" and instruction.called:
                found.add(instruction.called[0][1])
    return frozenset(found)


def _of_computation(graph: Graph, position: int) -> Iterator[Site]:
    spread: set[str] = set()
    for number, instruction in enumerate(graph.body(position).instructions):
        if instruction.opcode == "fusion":
            yield from _in_fusion(graph, Ref(position, number), instruction, spread)
        elif instruction.opcode == "async-start":
            yield from _in_wrapper(graph, Ref(position, number), instruction)
        else:
            kind, form = _plain(instruction)
            if kind is not None:
                yield _site(graph, Ref(position, number), instruction, kind, form)


def _plain(instruction: Instruction) -> tuple[Kind | None, Form]:
    """The kind that an opcode names, `None` for no collective; host transfers are none."""
    kind = _KINDS.get(instruction.opcode)
    if kind is None or instruction.attr("is_host_transfer") == "true":
        return None, Form.SYNC
    if instruction.opcode == kind.value:
        paired = kind in (Kind.SEND, Kind.RECV)
        return kind, Form.PAIR if paired else Form.SYNC
    config = (instruction.attr("backend_config") or "").replace(" ", "")
    return kind, Form.SYNC_PAIR if _RUN_AT_ONCE in config else Form.PAIR


def _site(graph: Graph, ref: Ref, instruction: Instruction, kind: Kind, form: Form) -> Site:
    done = None if form is Form.SYNC else _done(graph, ref)
    return Site(
        ref, ref.computation, ref.instruction, done, instruction, ref.computation, kind, form
    )


def _done(graph: Graph, ref: Ref) -> int | None:
    """The `-done` that waits for a start, through `-update`s."""
    instructions = graph.body(ref.computation).instructions
    waiting = [ref.instruction]
    while waiting:
        for user in graph.users(ref.computation).get(waiting.pop(), ()):
            if instructions[user].opcode.endswith("-done"):
                return user
            if instructions[user].opcode.endswith("-update"):
                waiting.append(user)
    return None


def _in_wrapper(graph: Graph, ref: Ref, start: Instruction) -> Iterator[Site]:
    """The collectives in the computation that an `async-start` runs."""
    inner = called(start)
    if inner is None:
        return
    done = _done(graph, ref)
    for number, instruction in enumerate(graph.body(inner).instructions):
        kind, _ = _plain(instruction)
        if kind is not None:
            yield Site(
                Ref(inner, number), ref.computation, ref.instruction, done, instruction, inner,
                kind, Form.WRAPPER,
            )  # fmt: skip


def _in_fusion(graph: Graph, ref: Ref, fusion: Instruction, spread: set[str]) -> Iterator[Site]:
    """The collectives in a fusion; one that is spread over several fusions comes once."""
    inner = called(fusion)
    if inner is None:
        return
    body = graph.body(inner)
    for number, instruction in enumerate(body.instructions):
        if instruction.opcode == "fusion":
            yield from _in_fusion(graph, ref, instruction, spread)
            continue
        kind, _ = _plain(instruction)
        if kind is None:
            continue
        found = Ref(inner, number)
        form, done = Form.FUSION, None
        kept: tuple[Shape, ...] = ()
        if _SPREAD in (instruction.attr("backend_config") or ""):
            channel = instruction.attr("channel_id") or ""
            if channel in spread:
                continue  # a later part of one that has begun
            spread.add(channel)
            form, done = Form.ASYNC_FUSION, _spread_done(graph, ref, channel)
        elif kind is Kind.ALL_REDUCE:
            kept = _kept_slices(graph, found)
        yield Site(
            found, ref.computation, ref.instruction, done, instruction, inner, kind, form, kept
        )


def _spread_done(graph: Graph, ref: Ref, channel: str) -> int | None:
    """The last fusion of a computation that holds a part of the collective."""
    done = None
    for number, instruction in enumerate(graph.body(ref.computation).instructions):
        inner = called(instruction) if instruction.opcode == "fusion" else None
        if inner is not None and number > ref.instruction:
            parts = graph.body(inner).instructions
            if any(p.attr("channel_id") == channel and _plain(p)[0] for p in parts):
                done = number
    return done


def _kept_slices(graph: Graph, ref: Ref) -> tuple[Shape, ...]:
    """The dynamic slices that are all that is used of an all-reduce; none where more is used."""
    body = graph.body(ref.computation)
    waiting, kept = [ref.instruction], []
    while waiting:
        number = waiting.pop()
        users = graph.users(ref.computation).get(number, [])
        if not users:
            return ()  # it leaves the fusion whole
        for user in users:
            instruction = body.instructions[user]
            if instruction.opcode == "dynamic-slice":
                kept.append((user, instruction.shape))
            elif instruction.opcode in _RESHAPING:
                waiting.append(user)
            else:
                return ()
    return tuple(shape for _, shape in sorted(kept, key=lambda item: item[0]))
