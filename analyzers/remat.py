"""What the backward pass recomputes instead of keeping it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Instruction,
    LedgerEntry,
    Measured,
    Module,
    Remedy,
    Specificity,
    StackFrame,
    View,
    bytes_text,
    instructions,
    listed,
    origin,
    views,
)

# names that JAX gives to what `jax.checkpoint` recomputes, and to the backward pass
_RECOMPUTED = "rematted_computation"
_CHECKPOINT = "checkpoint"
_BACKWARD = "transpose("
# a matrix product, also where a library does it
_PRODUCTS = frozenset({"dot", "convolution", "custom-call"})
_PRODUCT_NAMES = frozenset({"dot_general", "conv_general_dilated"})
# costly enough that policies differ by them
_COSTLY = frozenset({"exponential", "tanh", "logistic", "rsqrt", "erf", "log", "cosine", "sine"})
# the share of recomputed products that has to be left for the recomputation to be in effect
_LEFT = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remat(Analyzer):
    """Rematerialization: the backward pass recomputes on one side what the other keeps.

    What it sees: operations that `jax.checkpoint` (`nn.remat`, `nnx.remat`) marks as recomputed:
    none on one side (REM001), marked and then merged with the forward pass by the compiler
    (REM002), or others than on the other side, because the policy or what is wrapped differs
    (REM003). Values of the forward pass that wait at peak for the backward pass, and the
    recomputed operations, are what it claims.

    Why it costs: without it every intermediate of every layer waits for the backward pass; with it
    the forward pass is computed twice.

    What it does not see: rematerialization that the compiler does by itself when memory is short;
    temporaries that are at peak on one side alone because the peak is elsewhere.

    Example: `jax.checkpoint(block)` without a loop around it and with `prevent_cse=False` is merged
    with the forward pass; a port that drops `nn.remat` keeps all residuals.
    """

    name: ClassVar[str] = "remat"
    codes: ClassVar[Mapping[str, str]] = {
        "REM001": "one side recomputes in the backward pass, the other keeps everything",
        "REM002": "recomputation is asked for and merged away",
        "REM003": "the two sides recompute different things",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """At most one finding: what separates the two sides' rematerialization."""
        rhs, lhs = views(comparison)
        marks = _marks(lhs.source.module), _marks(rhs.source.module)
        asked = tuple(
            _marks(view.source.before) if view.source.before else mark
            for view, mark in zip((lhs, rhs), marks, strict=True)
        )
        has = tuple(_in_effect(a, m) for a, m in zip(asked, marks, strict=True))
        merged = [bool(a.recomputed) and not h for a, h in zip(asked, has, strict=True)]
        if merged[0] != merged[1]:
            yield _finding(rhs, "REM002", _merged_title(merged[1], has), asked, marks)
        elif has[0] != has[1]:
            yield _finding(rhs, "REM001", _absent_title(has[1]), asked, marks)
        elif all(has) and _differ(*asked):
            yield _finding(rhs, "REM003", _policy_title(*asked), asked, marks)


class _Marks(NamedTuple):
    """What a module recomputes.

    Attributes:
      recomputed: instructions marked as recomputed.
      products: matrix products among them.
      backward: matrix products of the backward pass beside them.
      costly: recomputed operations that policies differ by, by opcode.
      written: how many operations of the program's text are recomputed, of products and of these.
    """

    recomputed: int
    products: int
    backward: int
    costly: Mapping[str, int]
    written: int

    @property
    def signature(self) -> dict[str, Fraction]:
        """Recomputed operations for each product of the backward pass.

        The same for a loop over layers and for layers one after the other.
        """
        base = self.backward or 1
        counts = {"product": self.products, **self.costly}
        return {name: Fraction(count, base) for name, count in counts.items() if count}


def _marks(module: Module) -> _Marks:
    recomputed = products = backward = 0
    costly: Counter[str] = Counter()
    written: set[_Written] = set()
    for _, instruction in instructions(module):
        steps = instruction.metadata.op_name.split("/")
        if _RECOMPUTED in steps:
            recomputed += 1
            product, cost = _is_product(instruction, steps), instruction.opcode in _COSTLY
            products += product
            costly[instruction.opcode] += cost
            if product or cost:
                written.add(_written(module, instruction))
        elif _CHECKPOINT in steps:
            backward += _is_product(instruction, steps)
    kept = {opcode: count for opcode, count in sorted(costly.items()) if count}
    return _Marks(recomputed, products, backward, kept, len(written))


_Written = tuple[StackFrame | None, str]


def _written(module: Module, instruction: Instruction) -> _Written:
    """What an instruction is in the program's text: the same for every layer."""
    frame = origin(module, instruction)
    return frame and frame._replace(parent=0), instruction.opcode


def _differ(lhs: _Marks, rhs: _Marks) -> bool:
    """Whether other operations are recomputed.

    Layers one after the other differ from a loop over them in the first and last one, and the same
    model written in another way in its lines; a policy shows in both.
    """
    return lhs.signature != rhs.signature and lhs.written != rhs.written


def _is_product(instruction: Instruction, steps: list[str]) -> bool:
    return instruction.opcode in _PRODUCTS and steps[-1] in _PRODUCT_NAMES


def _in_effect(asked: _Marks, left: _Marks) -> bool:
    """Whether the compiler left enough of what was asked for."""
    if not asked.products:
        return bool(asked.recomputed) and bool(left.recomputed)
    wanted = Fraction(asked.products, asked.backward or 1)
    return left.products / Fraction(left.backward or 1) >= wanted * _LEFT


def _merged_title(on_rhs: bool, has: tuple[bool, ...]) -> str:
    if not on_rhs:
        return "rhs rematerializes; on lhs the compiler merges the recomputation away"
    beside = "" if has[0] else ", so that it keeps what lhs keeps"
    return f"rhs rematerializes without effect: its recomputation is merged away{beside}"


def _absent_title(on_rhs: bool) -> str:
    if on_rhs:
        return "rhs rematerializes in the backward pass, lhs keeps all residuals"
    return "rhs has no rematerialization: it keeps residuals that lhs recomputes"


def _policy_title(lhs: _Marks, rhs: _Marks) -> str:
    left, right = lhs.signature, rhs.signature
    more = sorted(n for n in {*left, *right} if right.get(n, 0) > left.get(n, 0))
    less = sorted(n for n in {*left, *right} if right.get(n, 0) < left.get(n, 0))
    words = {"product": "matrix products"}
    parts = [
        f"{verb} {listed([words.get(name, f'{name}s') for name in names])}"
        for verb, names in (("recomputes more", more), ("recomputes fewer", less))
        if names
    ]
    return f"rhs {' and '.join(parts)} in the backward pass than lhs: another remat policy"


def _finding(
    rhs: View, code: str, title: str, asked: tuple[_Marks, ...], left: tuple[_Marks, ...]
) -> Finding:
    entries = _residual_entries(rhs)
    cost = _recomputed_entries(rhs)
    size = _bytes(rhs, entries)
    work = _flops(rhs, cost)
    weight = size or work
    direction = (
        Direction.NEUTRAL if not weight else Direction.WORSE if weight > 0 else Direction.BETTER
    )
    better = "recomputation costs work" if size < 0 else "it saves work"
    return Finding(
        code=code,
        title=title,
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=direction,
        entries=entries,
        cost_entries=cost,
        evidence=tuple(_evidence(rhs, asked, left)),
        unknown=(f"{better}; whether that is worth it depends on what limits the step",)
        if size and work
        else (),
        remedies=_REMEDIES[code] if direction is Direction.WORSE else (),
        **_frames(rhs),
    )


_REMEDIES = {
    # no probe: an edit of barriers adds no recomputation that the program does not ask for
    "REM001": (Remedy("wrap the layer in jax.checkpoint, nn.remat or nnx.remat"),),
    "REM002": (
        Remedy("let the compiler not merge it: prevent_cse=True outside of loops", "barriers"),
    ),
    "REM003": (Remedy("give both sides the same policy"),),
}


def _evidence(rhs: View, asked: tuple[_Marks, ...], left: tuple[_Marks, ...]) -> Iterator[Evidence]:
    yield Evidence("operations marked as recomputed", *(str(marks.recomputed) for marks in asked))
    yield Evidence(
        "recomputed matrix products, before and after optimization",
        *(f"{a.products}, {m.products}" for a, m in zip(asked, left, strict=True)),
    )
    costly = [listed([f"{n} {name}" for name, n in marks.costly.items()], 4) for marks in asked]
    if costly[0] != costly[1]:
        yield Evidence("other recomputed operations", *(text or "none" for text in costly))
    residuals = [_residuals(view) for view in (rhs.there, rhs)]
    if any(residuals):
        yield Evidence("values of the forward pass that wait for the backward pass at peak",
            *(f"{len(found)}, {bytes_text(sum(e.size for e in found))}" for found in residuals),
        )  # fmt: skip


def _residuals(view: View) -> list[LedgerEntry]:
    memory = view.comparison.memory
    if memory is None:
        return []
    ledger = memory.rhs if view.name == "rhs" else memory.lhs
    names = _op_names(view.module)
    return [entry for entry in ledger.entries if _is_residual(view, entry, names)]


def _op_names(module: Module) -> dict[str, str]:
    return {i.name: i.metadata.op_name for _, i in instructions(module)}


def _is_residual(view: View, entry: LedgerEntry, names: Mapping[str, str]) -> bool:
    """Whether memory holds what the forward pass makes and the backward pass reads last."""
    if entry.value is None or entry.leaf is not None or entry.parameter is not None:
        return False
    made = view.instruction(entry.value.ref).metadata.op_name
    return not _is_backward(made) and _is_backward(names.get(entry.last, ""))


def _is_backward(op_name: str) -> bool:
    return _BACKWARD in op_name or _RECOMPUTED in op_name


def _residual_entries(rhs: View) -> tuple[int, ...]:
    """Entries of the memory delta that hold a residual on either side."""
    memory = rhs.comparison.memory
    sides = [(view, _op_names(view.module)) for view in (rhs, rhs.there)]
    return tuple(
        position
        for position, entry in enumerate(memory.entries if memory else ())
        if any(
            (held := view.held(entry)) is not None and _is_residual(view, held, names)
            for view, names in sides
        )
    )


def _recomputed_entries(rhs: View) -> tuple[int, ...]:
    """Entries of the cost delta that are recomputed on either side.

    Of an operation that one side runs twice, either run may be the one that has no partner.
    """
    sides = [(view, _all_written(view.module)) for view in (rhs, rhs.there)]
    found = []
    for position, entry in enumerate(rhs.comparison.cost.entries):
        for view, written in sides:
            cost = view.cost(entry)
            if cost is None:
                continue
            instruction = view.instruction(cost.ref)
            alone = entry.lhs is None or entry.rhs is None
            if _RECOMPUTED in instruction.metadata.op_name or (
                alone and _written(view.module, instruction) in written
            ):
                found.append(position)
    return tuple(found)


def _all_written(module: Module) -> set[_Written]:
    return {
        _written(module, i)
        for _, i in instructions(module)
        if _RECOMPUTED in i.metadata.op_name and origin(module, i) is not None
    }


def _bytes(rhs: View, positions: tuple[int, ...]) -> int:
    memory = rhs.comparison.memory
    return sum(memory.entries[p].size for p in positions) if memory else 0


def _flops(rhs: View, positions: tuple[int, ...]) -> int:
    figures = (rhs.comparison.cost.entries[p].flops for p in positions)
    return sum(figure.value for figure in figures if isinstance(figure, Measured))


def _frames(rhs: View) -> dict[str, Any]:
    """Where the recomputed operations are written, on the side that has them."""
    for view in (rhs, rhs.there):
        found = [
            origin(view.module, i)
            for _, i in instructions(view.module, *sorted(_PRODUCTS))
            if _RECOMPUTED in i.metadata.op_name
        ]
        if found:
            return view.where(found)
    return {}
