"""Large literals inside the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Instruction,
    Literal,
    Module,
    Ref,
    Remedy,
    Shape,
    Specificity,
    View,
    arguments,
    array,
    bytes_text,
    instructions,
    listed,
    origin,
    views,
)

# a literal below this many bytes is a table or a mask, not data that belongs into an argument
_LARGE = 1 << 14
_BITS = {"pred": 8, "bf16": 16, "f16": 16, "s16": 16, "u16": 16, "s8": 8, "u8": 8, "s4": 4, "u4": 4,
         "s64": 64, "u64": 64, "f64": 64, "c64": 64, "c128": 128}  # fmt: skip
_SHOWN = 4  # literals named one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants(Analyzer):
    """Large literals that one side alone has in its program.

    What it sees: constants of 16 KiB and more of which the other side has no equal: captured by the
    program as it was traced (CON001), or worked out by the compiler (CON002).

    Why it costs: a literal is part of the executable, is loaded with it, held for as long as the
    executable is, never donated and on every device whole; compiling takes longer with it, and a
    new value means a new compile.

    What it does not see: constants whose value the module's text leaves out, where only the shape
    is compared; what holding them costs on a backend that reports no memory for constants.

    Example: a table that a jitted function takes from the surrounding scope is a literal:

        table = jnp.asarray(rows)
        step = jax.jit(lambda x: x + table)          # captured
        step = jax.jit(lambda x, table: x + table)   # an argument
    """

    name: ClassVar[str] = "constants"
    codes: ClassVar[Mapping[str, str]] = {
        "CON001": "a large array is captured as a literal",
        "CON002": "the compiler folded values into a large literal",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding for captured and one for folded literals, on either side."""
        for view in views(comparison):
            alone = _alone(view)
            written = _captured(view)
            captured = [each for each in alone if written & {*_form(each.key)}]
            yield from _finding(view, "CON001", captured)
            yield from _finding(view, "CON002", [e for e in alone if e not in captured])


_Key = tuple[str, tuple[int, ...], bytes | None]


class _Constant(NamedTuple):
    ref: Ref
    instruction: Instruction
    size: int
    key: _Key


def _constants(module: Module) -> Iterator[_Constant]:
    for ref, instruction in instructions(module, "constant"):
        size = _size(instruction.shape)
        if size >= _LARGE:
            yield _Constant(ref, instruction, size, _key(instruction.shape, instruction.literal))


def _key(shape: Shape, literal: Literal | None) -> _Key:
    return shape.dtype, shape.dims, literal.digest if literal else None


def _keys(module: Module) -> set[_Key]:
    return {each.key for each in _constants(module)}


def _captured(view: View) -> set[object]:
    """The forms of the literals of this side's program as it was written.

    Where the other side's is known too, those that it lacks count by their extents as well: the
    compiler folds the cast of a literal, and its value is another one then.
    """
    keys = _keys(view.source.before or view.module)
    exact: set[object] = {form for key in keys for form in _form(key)[:1]}
    if view.source.before is None or view.there.source.before is None:
        return exact
    return exact | {form for key in keys - _keys(view.there.source.before) for form in _form(key)}


def _form(key: _Key) -> list[object]:
    """What a literal is known by after a reshape (its value), and after a cast (its extents)."""
    dtype, dims, digest = key
    return [digest or (dtype, dims), tuple(extent for extent in dims if extent != 1)]


def _size(shape: Shape) -> int:
    """Bytes of the elements; 0 of a tuple."""
    if shape.elements:
        return 0
    return prod(shape.dims) * _BITS.get(shape.dtype, 32) // 8


def _alone(view: View) -> list[_Constant]:
    """Literals of this side whose value, or for another value whose shape, the other lacks."""
    there = list(_constants(view.there.module))
    keys = {each.key for each in there}
    # of the same shape and another value: the same table made anew, not one more
    spare: dict[tuple[str, tuple[int, ...]], int] = {}
    for other in there:
        spare[other.key[:2]] = spare.get(other.key[:2], 0) + 1
    found: dict[_Key, _Constant] = {}
    for each in _constants(view.module):
        if each.key in keys or each.key in found:
            continue
        if spare.get(each.key[:2], 0):
            spare[each.key[:2]] -= 1
            continue
        found[each.key] = each
    return sorted(found.values(), key=lambda each: (-each.size, each.ref))


def _finding(view: View, code: str, found: Sequence[_Constant]) -> Iterator[Finding]:
    if not found:
        return
    worse = view.direction is Direction.WORSE
    shapes = listed([array(each.instruction.shape) for each in found])
    verbs = {
        "CON001": ("captures {} as a literal", "no longer captures {} as a literal"),
        "CON002": ("holds {}, which the compiler folded", "no longer holds {}, folded on lhs"),
    }
    moved = _as_argument(view, found)
    beside = f", {'lhs' if worse else 'rhs'} takes it as an argument" if moved else ""
    yield Finding(
        code=code,
        title=f"rhs {verbs[code][0 if worse else 1].format(shapes)}{beside}",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=_entries(view, found),
        evidence=(
            view.seen("large literals", *(_total(side.module) for side in (view, view.there))),
            *(_evidence(view, each) for each in found[:_SHOWN]),
            *(view.seen("argument of that shape", "none", name) for name in moved[:_SHOWN]),
        ),
        unknown=("what the literals hold of device memory where no buffer is listed for them",),
        remedies=(Remedy("pass the array as an argument"),) if worse and code == "CON001" else (),
        **view.where(origin(view.module, each.instruction) for each in found),
    )


def _entries(view: View, found: Sequence[_Constant]) -> tuple[int, ...]:
    memory = view.comparison.memory
    refs = {each.ref for each in found}
    return tuple(
        position
        for position, entry in enumerate(memory.entries if memory else ())
        if (held := view.held(entry)) is not None
        and held.value is not None
        and held.value.ref in refs
        and view.grown(entry.size)
    )


def _total(module: Module) -> str:
    found = {each.key: each.size for each in _constants(module)}
    return f"{len(found)}, {bytes_text(sum(found.values()))}"


def _evidence(view: View, each: _Constant) -> Evidence:
    return view.seen(array(each.instruction.shape), bytes_text(each.size), "none")


def _as_argument(view: View, found: Sequence[_Constant]) -> list[str]:
    """Arguments of the other side alone that have the shape and type of a literal."""
    paired = view.there.partners
    shapes = {each.key[:2] for each in found}
    return [
        argument.name
        for argument in arguments(view.there.source)
        if argument.ref not in paired and (argument.shape.dtype, argument.shape.dims) in shapes
    ]
