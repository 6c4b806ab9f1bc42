"""Inputs whose memory an output could take over, and does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Argument,
    Category,
    Comparison,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Instruction,
    Ref,
    Remedy,
    Result,
    Specificity,
    View,
    argument_pairs,
    arguments,
    array,
    format_shape,
    listed,
    origin,
    result_pairs,
    views,
)

# what hands an argument's memory on unchanged
_SAME_MEMORY = frozenset({"bitcast", "optimization-barrier"})
_COPIES = frozenset({"copy", "copy-start"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Donation(Analyzer):
    """An input whose memory an output takes over on one side alone.

    What it sees: arguments that both sides have and whose memory one side reuses for an output
    (`input_output_alias`), while the other does not donate them (DON001), donates them for an
    output of another shape, dtype, layout or sharding (DON002), or donates them and still gets new
    memory (DON003); and arguments that both reuse and one has to copy first, because something
    still reads the old value after the new one is written (DON004).

    Why it costs: an output without an input's memory needs memory of its own while the input is
    still held: a train state is there twice.

    What it does not see: whether the caller still needs the argument, in which case it must not be
    donated; donation that fails on both sides.

    Example: `jax.jit(train_step)` holds parameters and optimizer state twice;
    `jax.jit(train_step, donate_argnums=0)` updates them in place.
    """

    name: ClassVar[str] = "donation"
    codes: ClassVar[Mapping[str, str]] = {
        "DON001": "an argument is donated on one side alone",
        "DON002": "a donated argument fits no output: shape, dtype, layout or sharding differ",
        "DON003": "a donated argument's memory is not reused",
        "DON004": "a donated argument is copied, since it is read after it is overwritten",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Donations that one side has and the other has not, and copies that donation costs."""
        for view in views(comparison):
            pairs = _pairs(view)
            lost = [_loss(view, here, there) for here, there in pairs if _is_lost(here, there)]
            for code in ("DON001", "DON002", "DON003"):
                yield from _finding(view, code, [loss for loss in lost if loss.code == code])
            yield from _copied(view, pairs)


class _Loss(NamedTuple):
    """A donation that `there` has and `here` has not.

    Attributes:
      result: of `here`, that could take the memory.
      misfit: (what differs, the argument's, the result's).
    """

    code: str
    here: Argument
    there: Argument
    result: Result | None
    misfit: tuple[tuple[str, str, str], ...]


def _pairs(view: View) -> list[tuple[Argument, Argument]]:
    """Arguments of both sides, of `here` first."""
    swap = view.name == "rhs"
    return [(r, left) if swap else (left, r) for left, r in argument_pairs(view.comparison)]


def _is_lost(here: Argument, there: Argument) -> bool:
    return there.result is not None and here.result is None


def _loss(view: View, here: Argument, there: Argument) -> _Loss:
    pairs = result_pairs(view.comparison)
    swap = view.name == "rhs"
    partner = {(r if not swap else left).position: (left if not swap else r) for left, r in pairs}
    result = partner.get(there.result) if there.result is not None else None
    misfit = tuple(_misfit(here, result)) if result else ()
    donated = "DON002" if misfit else "DON003"
    code = donated if here.donated else "DON001"
    return _Loss(code, here, there, result, misfit)


def _misfit(argument: Argument, result: Result) -> Iterator[tuple[str, str, str]]:
    """What keeps an argument's memory from holding a result."""
    mine, other = argument.shape, result.shape
    if mine.dtype != other.dtype:
        yield "dtype", mine.dtype, other.dtype
    given = result.leaf.sharding if result.leaf else None
    same_global = result.leaf is not None and argument.leaf.shape == result.leaf.shape
    if mine.dims != other.dims and same_global:
        yield "sharding", str(argument.leaf.sharding), str(given)
    elif mine.dims != other.dims:
        yield "shape", array(mine), array(other)
    elif mine.layout != other.layout and mine.dtype == other.dtype:
        yield "layout", format_shape(mine), format_shape(other)


_TITLES = {
    "DON001": ("does not donate {}, as lhs does", "donates {}, which lhs does not"),
    "DON002": ("donates {}, which no output fits", "gives {} an output that fits its memory"),
    "DON003": ("donates {}, whose memory is not reused", "reuses the memory of {}"),
}
_UNKNOWN = {
    "DON001": ("whether the caller reads the arguments again, in which case they must be kept",),
    "DON003": ("why the compiler did not reuse the memory",),
}
_REMEDIES = {
    "DON001": Remedy("donate them: jax.jit(..., donate_argnums=...)", "donate"),
    "DON002": Remedy(
        "give back what was taken: the same shape, dtype and sharding", "output-shardings"
    ),
    "DON003": Remedy("return the new value in the place of the old one", "donate"),
}


def _finding(view: View, code: str, lost: list[_Loss]) -> Iterator[Finding]:
    if not lost:
        return
    worse = view.direction is Direction.WORSE
    names = listed([loss.here.name for loss in lost])
    # of rhs in either case: it lacks the donation, or has what lhs lacks
    title = _TITLES[code][0 if worse else 1].format(names)
    misfit = next((loss.misfit[0] for loss in lost if loss.misfit), None)
    if misfit and worse:
        title += f" ({misfit[0]} {misfit[1]}, given back with {misfit[2]})"
    yield Finding(
        code=code,
        title=f"rhs {title}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=_entries(view, lost),
        evidence=tuple(_evidence(view, lost)),
        unknown=_UNKNOWN.get(code, ()) if worse else (),
        remedies=(_REMEDIES[code],) if worse else (),
    )


def _entries(view: View, lost: list[_Loss]) -> tuple[int, ...]:
    """Memory of the outputs that could lie in the arguments'."""
    memory = view.comparison.memory
    positions = {loss.result.position for loss in lost if loss.result}
    return tuple(
        number
        for number, entry in enumerate(memory.entries if memory else ())
        if (held := view.held(entry)) is not None
        and held.category is Category.OUTPUT
        and positions & {*held.outputs}
        and view.grown(entry.size)
    )


def _evidence(view: View, lost: list[_Loss]) -> Iterator[Evidence]:
    for side in (view, view.there):
        found = arguments(side.source)
        text = f"{sum(a.result is not None for a in found)} of {len(found)}"
        if side is view:
            here = text
    yield view.seen("arguments whose memory an output takes over", here, text)
    for loss in lost[:_SHOWN]:
        takes = f"result {loss.there.result} takes its memory"
        yield view.seen(f"{loss.here.name} {array(loss.here.shape)}", _fate(loss), takes)


_SHOWN = 5  # arguments named one by one; the rest are in the count


def _fate(loss: _Loss) -> str:
    if not loss.here.donated:
        return "not donated"
    if loss.misfit:
        return "; ".join(f"donated with {n} {a}, given back with {b}" for n, a, b in loss.misfit)
    return "donated, not reused"


class _Copy(NamedTuple):
    argument: Argument
    ref: Ref
    readers: tuple[Instruction, ...]


def _copied(view: View, pairs: Iterable[tuple[Argument, Argument]]) -> Iterator[Finding]:
    """Copies of arguments that both sides reuse, which one side alone needs."""
    both = [here for here, there in pairs if here.result is not None and there.result is not None]
    found = [copy for copy in _copies(view, both) if copy.ref not in view.partners]
    if not found:
        return
    worse = view.direction is Direction.WORSE
    names = listed([copy.argument.name for copy in found])
    verb = "copies" if worse else "no longer copies"
    refs = [copy.ref for copy in found]
    readers = [reader for copy in found for reader in copy.readers]
    yield Finding(
        code="DON004",
        title=f"rhs {verb} donated {names} before overwriting, as the old value is read later",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=tuple(p for p in _memory_of(view, refs) if _grown(view, p)),
        cost_entries=view.cost_of(refs),
        evidence=tuple(
            view.seen(f"copy of {c.argument.name}", _read_by(c), "none") for c in found[:_SHOWN]
        ),
        unknown=("whether reading first and writing last is possible for the program",)
        if worse
        else (),
        remedies=(Remedy("finish with the old value before the new one is made"),) if worse else (),
        **view.where(origin(view.module, reader) for reader in readers),
    )


def _copies(view: View, reused: list[Argument]) -> Iterator[_Copy]:
    module = view.module
    if module.entry is None:
        return
    instructions = module.computations[module.entry].instructions
    origins = {argument.ref.instruction: argument for argument in reused}
    for place, instruction in enumerate(instructions):
        source = instruction.operands[0] if instruction.operands else -1
        if source not in origins:
            continue
        if instruction.opcode in _SAME_MEMORY:
            origins[place] = origins[source]
        elif instruction.opcode in _COPIES and _moves_nothing(instruction, origins[source]):
            readers = tuple(i for i in instructions if place in i.operands)
            yield _Copy(origins[source], Ref(module.entry, place), readers)


def _moves_nothing(copy: Instruction, argument: Argument) -> bool:
    """Whether a copy is just that: in the same layout and memory space."""
    shape = copy.shape.elements[0] if copy.shape.elements else copy.shape
    return shape == argument.shape


def _memory_of(view: View, refs: Iterable[Ref]) -> tuple[int, ...]:
    memory = view.comparison.memory
    wanted = frozenset(refs)
    return tuple(
        number
        for number, entry in enumerate(memory.entries if memory else ())
        if (held := view.held(entry)) and any(value.ref in wanted for value in held.members)
    )


def _grown(view: View, position: int) -> bool:
    memory = view.comparison.memory
    return memory is not None and view.grown(memory.entries[position].size)


def _read_by(copy: _Copy) -> str:
    return f"read by {listed(sorted({reader.opcode for reader in copy.readers}))}"
