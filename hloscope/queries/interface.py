"""What the two programs take and give back: arguments, results, donation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hloscope.hlo.arguments import Argument as EntryArgument
from hloscope.hlo.arguments import aliases, entry_arguments
from hloscope.hlo.entry_leaves import entry_leaves
from hloscope.hlo.state_path import state_path
from hloscope.model.canonical import Ref
from hloscope.model.capture import Leaf
from hloscope.model.comparison import Comparison, LeafChange
from hloscope.model.hlo import Module, Shape
from hloscope.model.source import Source
from hloscope.queries.sides import partners


class Argument(NamedTuple):
    """An argument of the optimized module's entry.

    Attributes:
      number: the parameter's; its position where a tuple holds all arguments.
      ref: the parameter; the first `get-tuple-element` of it in a tuple.
      name: the leaf's tree path, or the parameter's name.
      shape: on one device.
      leaf: what the caller passes; its shape is that of all devices together.
      donated: whether the caller offers the memory.
      result: position of the result that takes the memory over, `None` where none does.
    """

    number: int
    ref: Ref
    name: str
    shape: Shape
    leaf: Leaf
    donated: bool
    result: int | None


class Result(NamedTuple):
    """One element of the entry's result.

    Attributes:
      position: in the root tuple.
      ref: the instruction that the root takes it from, or the root where it is no plain tuple.
      part: place in what that instruction makes.
      name: the leaf's tree path, or the instruction's name.
      shape: on one device.
      leaf: `None` where the side is no capture.
      argument: number of the parameter whose memory it takes over, `None` for none.
    """

    position: int
    ref: Ref
    part: tuple[int, ...]
    name: str
    shape: Shape
    leaf: Leaf | None
    argument: int | None


def arguments(source: Source) -> tuple[Argument, ...]:
    """The entry's arguments, by number; none in a module that was cut off before its entry."""
    module = source.module
    if module.entry is None:
        return ()
    given = source.capture.inputs if source.capture else entry_leaves(module)
    leaves = {leaf.parameter: leaf for leaf in given if leaf.parameter is not None}
    taken = aliases(module)
    return tuple(
        _argument(Ref(module.entry, found.place), found, leaves[found.number], taken)
        for found in entry_arguments(module)
        if found.number in leaves
    )


def _argument(ref: Ref, found: EntryArgument, leaf: Leaf, taken: Mapping[int, int]) -> Argument:
    return Argument(
        number=found.number,
        ref=ref,
        name=leaf.path,
        shape=found.shape,
        leaf=leaf,
        donated=leaf.donated or found.number in taken,
        result=taken.get(found.number),
    )


def results(source: Source) -> tuple[Result, ...]:
    """The elements of the entry's result, in order; nested tuples count as one element."""
    module = source.module
    if module.entry is None:
        return ()
    given = source.capture.outputs if source.capture else ()
    leaves = {leaf.parameter: leaf for leaf in given if leaf.parameter is not None}
    taken = {result: parameter for parameter, result in aliases(module).items()}
    return tuple(
        _result(position, made, leaves, taken)
        for position, made in enumerate(_made(module, module.entry))
    )


class _Made(NamedTuple):
    ref: Ref
    part: tuple[int, ...]
    name: str
    shape: Shape


def _made(module: Module, number: int) -> Iterator[_Made]:
    """What the elements of an entry's result are taken from."""
    entry = module.computations[number]
    root = entry.instructions[entry.root]
    if root.opcode == "tuple":
        for place in root.operands:
            instruction = entry.instructions[place]
            yield _Made(Ref(number, place), (), instruction.name, instruction.shape)
    elif root.shape.dtype == "tuple":
        for part, shape in enumerate(root.shape.elements):
            yield _Made(Ref(number, entry.root), (part,), f"{root.name}{{{part}}}", shape)
    else:
        yield _Made(Ref(number, entry.root), (), root.name, root.shape)


def _result(
    position: int, made: _Made, leaves: Mapping[int, Leaf], taken: Mapping[int, int]
) -> Result:
    leaf = leaves.get(position)
    return Result(
        position=position,
        ref=made.ref,
        part=made.part,
        name=leaf.path if leaf else made.name,
        shape=made.shape,
        leaf=leaf,
        argument=taken.get(position),
    )


def argument_pairs(comparison: Comparison) -> tuple[tuple[Argument, Argument], ...]:
    """Arguments that both sides have, lhs then rhs."""
    right = {argument.ref: argument for argument in arguments(comparison.rhs)}
    to_rhs = partners(comparison)
    return tuple(
        (argument, right[to_rhs[argument.ref]])
        for argument in arguments(comparison.lhs)
        if to_rhs.get(argument.ref) in right
    )


def result_pairs(comparison: Comparison) -> tuple[tuple[Result, Result], ...]:
    """Results that both sides have: by state path, by the instruction that makes them otherwise."""
    left, right = results(comparison.lhs), results(comparison.rhs)
    ours, theirs = _by_path(left), _by_path(right)
    pairs = [(ours[path], theirs[path]) for path in sorted(ours.keys() & theirs.keys())]
    seen = {result.position for result, _ in pairs}
    taken = {found.position for _, found in pairs}
    by_ref = {(r.ref, r.part): r for r in right if r.position not in taken}
    to_rhs = partners(comparison)
    pairs += [
        (result, by_ref[to_rhs[result.ref], result.part])
        for result in left
        if result.position not in seen and (to_rhs.get(result.ref), result.part) in by_ref
    ]
    return tuple(sorted(pairs))


def _by_path(found: tuple[Result, ...]) -> dict[tuple[str, ...], Result]:
    """Results by state path, and by how it is spelled where several have it."""
    paths = [state_path(result.name) if result.leaf else () for result in found]
    count = Counter(paths)
    return {
        p if count[p] == 1 else ("spelled", r.name): r
        for p, r in zip(paths, found, strict=True)
        if p
    }


def input_changes(comparison: Comparison, *fields: str) -> tuple[LeafChange, ...]:
    """Input leaves that differ in any of some fields of `Leaf`; in any at all by default."""
    return _changes(comparison.inputs.changed if comparison.inputs else (), fields)


def output_changes(comparison: Comparison, *fields: str) -> tuple[LeafChange, ...]:
    """Output leaves that differ in any of some fields of `Leaf`; in any at all by default."""
    return _changes(comparison.outputs.changed if comparison.outputs else (), fields)


def _changes(changed: tuple[LeafChange, ...], fields: tuple[str, ...]) -> tuple[LeafChange, ...]:
    return tuple(
        c for c in changed if c.fields and (not fields or {n for n, _, _ in c.fields} & {*fields})
    )
