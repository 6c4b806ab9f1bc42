"""Values that are kept or computed in a wider type on one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from hloscope.plugin import (
    Analyzer,
    ChangeClass,
    Comparison,
    Confidence,
    CostLedger,
    Direction,
    Evidence,
    Finding,
    Instruction,
    NodeKind,
    Part,
    Ref,
    Remedy,
    Role,
    Shape,
    Specificity,
    TypesReach,
    View,
    array,
    changes,
    every_entry,
    instructions,
    listed,
    logits,
    operation,
    origin,
    parse_op_name,
    scopes,
    sides,
    types_reach,
    views,
)

# bits of XLA's types; types of one table are each other's wider and narrower forms
_FLOATS = {
    "f4e2m1fn": 4, "f8e3m4": 8, "f8e4m3": 8, "f8e4m3fn": 8, "f8e4m3b11fnuz": 8, "f8e4m3fnuz": 8,
    "f8e5m2": 8, "f8e5m2fnuz": 8, "bf16": 16, "f16": 16, "f32": 32, "f64": 64,
}  # fmt: skip
_INTEGERS = {"s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32, "u32": 32,
             "s64": 64, "u64": 64}  # fmt: skip
_PRODUCTS = frozenset({"dot", "convolution"})
# give values that others compute with, and compute none
_GIVEN = frozenset({"parameter", "constant"})
_SHOWN = 4  # values named one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(Analyzer):
    """Values of a wider type on one side: f32 for bf16, f64 for f32, 64-bit indices.

    What it sees: values that both sides compute, in float types of other widths (PRE001), matrix
    products among them; 64-bit integers where the other side has 32 bits (PRE003); and, where the
    softmax over the vocabulary is in another type, all that follows from that (PRE004). Where the
    compiler leaves no trace of the types as written (for CPU it multiplies bf16 matrices in f32),
    what the programs say before optimization counts (PRE005).

    Why it costs: twice the width is twice the memory and twice the traffic, and a matrix product in
    f32 takes several times as long as one in bf16. One f32 scalar is enough to lift everything that
    is computed from it.

    What it does not see: whether the narrower type is exact enough; types inside custom calls.

    Example: `x * jnp.float32(0.125)` lifts a bf16 `x` to f32, `x * 0.125` does not.
    """

    name: ClassVar[str] = "precision"
    codes: ClassVar[Mapping[str, str]] = {
        "PRE001": "values are computed in a wider float type",
        "PRE003": "integers of 64 bits where 32 do",
        "PRE004": "the loss is computed from logits of a wider type",
        "PRE005": "matrices are multiplied in a wider type",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """Wider values and 64-bit integers, in either direction."""
        lifted = _lifted(comparison, _FLOATS)
        for view in views(comparison):
            found = [each for each in lifted if _wider_here(view, each)]
            computed = [*_computed(view, found, types_reach(view, _FLOATS))]
            yield from computed or _products_as_written(view)
        wide = [each for each in _lifted(comparison, _INTEGERS) if 64 in each.bits]
        for view in views(comparison):
            yield from _integers(view, [each for each in wide if _wider_here(view, each)])


class _Lifted(NamedTuple):
    """An instruction whose result is of another width on the other side."""

    lhs: Ref
    rhs: Ref
    types: tuple[str, str]
    bits: tuple[int, int]


def _lifted(comparison: Comparison, table: Mapping[str, int]) -> list[_Lifted]:
    """Paired instructions whose results differ in width, in the order of rhs."""
    left, right = sides(comparison)
    found = []
    for pair in comparison.pairing.pairs:
        here, there = left.instruction(pair.lhs), right.instruction(pair.rhs)
        types = here.shape.dtype, there.shape.dtype
        if types[0] == types[1] or types[0] not in table or types[1] not in table:
            continue
        bits = table[types[0]], table[types[1]]
        if bits[0] != bits[1] and not {here.opcode, there.opcode} & _GIVEN:
            found.append(_Lifted(pair.lhs, pair.rhs, types, bits))
    return sorted(found, key=lambda each: each.rhs)


def _wider_here(view: View, each: _Lifted) -> bool:
    return (each.bits[1] > each.bits[0]) == (view.name == "rhs")


_SPECIFICITY = {
    TypesReach.NOWHERE: Specificity.SYMPTOM,
    TypesReach.VALUES: Specificity.CAUSE,
    TypesReach.EVERYTHING: Specificity.CAUSE,
}


def _computed(view: View, lifted: Sequence[_Lifted], reach: TypesReach) -> Iterator[Finding]:
    """One finding for each pair of types, of values that more than a scalar is computed in."""
    groups: dict[tuple[str, str], list[_Lifted]] = {}
    for each in lifted:
        groups.setdefault(each.types, []).append(each)
    for types, found in sorted(groups.items()):
        if any(_elements(view.instruction(_here(view, each)).shape) > 1 for each in found):
            yield _computed_finding(view, types, found, reach)


def _here(view: View, each: _Lifted) -> Ref:
    return each.rhs if view.name == "rhs" else each.lhs


def _computed_finding(
    view: View, types: tuple[str, str], found: Sequence[_Lifted], reach: TypesReach
) -> Finding:
    refs = [_here(view, each) for each in found]
    first = _first(view, refs)
    about_logits = _softmax_types(view.comparison) == types
    arrays = len({(i.opcode, array(i.shape)) for i in map(view.instruction, refs)})
    name = operation(first)
    worse = view.direction is Direction.WORSE
    claims: tuple[tuple[int, ...], ...] = (_memory(view, refs), _cost(view, refs), ())
    if reach is TypesReach.EVERYTHING and not _is_sent_alone(view, refs):
        claims = every_entry(view.comparison)
    return Finding(
        code="PRE004" if about_logits else "PRE001",
        title=f"rhs computes the loss from logits in {types[1]}, lhs in {types[0]}"
        if about_logits
        else f"rhs computes in {types[1]} what lhs computes in {types[0]}, from {name} on",
        confidence=Confidence.STRUCTURAL,
        specificity=_SPECIFICITY[reach],
        direction=view.direction,
        entries=claims[0],
        cost_entries=claims[1],
        communication_entries=claims[2],
        evidence=(
            Evidence("values of another width", *(f"{arrays} in {t}" for t in types)),
            *_product_evidence(view.comparison),
            *(_example(view, each) for each in _largest(view, found)),
        ),
        path=scopes(first.metadata.op_name),
        unknown=(f"whether {types[0]} is exact enough",) if worse else (),
        remedies=(Remedy(f"cast to {types[0]}, or use a scalar that gives way to it", "dtypes"),)
        if worse
        else (),
        **view.where([origin(view.module, first)]),
    )


def _is_sent_alone(view: View, refs: Sequence[Ref]) -> bool:
    """Whether arrays have another type only to be sent in it: made, sent, and cast back."""
    flow = view.flow
    items = (view.collective(change) for change in view.comparison.communication.changes)
    sent = {item.ref for item in items if item is not None} & {*refs}
    nodes = {node for ref in sent for node in flow.at.get(ref, ())}
    near = {flow.origin(o) for node in nodes for o in flow.nodes[node].operands}
    near |= nodes | {user for node in nodes for user in flow.users[node]}
    arrays = {ref for ref in refs if _elements(view.instruction(ref).shape) > 1}
    return bool(sent) and arrays <= {ref for node in near for ref in _refs(view, node)}


def _refs(view: View, node: int) -> tuple[Ref, Ref]:
    return view.flow.nodes[node].ref, view.flow.nodes[node].kernel


def _softmax_types(comparison: Comparison) -> tuple[str, str] | None:
    """The types in which the two sides, as written, take the softmax over the vocabulary."""
    types = []
    for view in reversed(views(comparison)):
        flow = view.written
        found = max(
            (flow.nodes[each.exponential].shape for each in logits(flow)),
            key=lambda shape: (_elements(shape), shape),
            default=None,
        )
        if found is None:
            return None
        types.append(found.dtype)
    return types[0], types[1]


def _first(view: View, refs: Sequence[Ref]) -> Instruction:
    """Where the wider type begins: a change that nothing else explains, otherwise the first."""
    wanted = frozenset(refs)
    for _, change in changes(view.comparison, ChangeClass.DTYPE, role=Role.HEAD):
        place = change.rhs if view.name == "rhs" else change.lhs
        if place is not None and place.ref in wanted:
            return view.instruction(place.ref)
    named = [ref for ref in refs if view.instruction(ref).metadata.op_name]
    return view.instruction((named or list(refs))[0])


def _elements(shape: Shape) -> int:
    count = 1
    for extent in shape.dims:
        count *= extent
    return count


def _memory(view: View, refs: Iterable[Ref]) -> tuple[int, ...]:
    """Memory that grew by its type, or that holds one of the values on this side alone."""
    memory = view.comparison.memory
    wanted = frozenset(refs)
    found = []
    for position, entry in enumerate(memory.entries if memory else ()):
        held = view.held(entry)
        if held is None or held.value is None or not view.grown(entry.size):
            continue
        if held.parameter is None and (
            any(part is Part.DTYPE and view.grown(size) for part, size in entry.parts)
            or held.value.ref in wanted
        ):
            found.append(position)
    return tuple(found)


def _cost(view: View, refs: Iterable[Ref]) -> tuple[int, ...]:
    """Cost of the values and of what reads them, and of casts that this side alone has."""
    costs = {cost.ref: cost.kernel for cost in _ledger(view).entries}
    readers = {kernel for ref in refs for kernel in _readers(view, ref)}
    wanted = frozenset(refs) | {costs[ref] for ref in refs if ref in costs} | readers
    sides_of = [(view.cost(entry), entry) for entry in view.comparison.cost.entries]
    alone = [cost for cost, entry in sides_of if cost and (entry.lhs is None or entry.rhs is None)]
    casts = {cost for cost in alone if cost.opcode == "convert"}
    wanted |= {cost.ref for cost in casts}
    # a kernel that this side alone has, and that casts, is there for the cast
    wanted |= {cost.kernel for cost in casts} & {cost.ref for cost in alone}
    return tuple(
        position
        for position, (cost, _) in enumerate(sides_of)
        if cost is not None and (cost.ref in wanted or cost.kernel in wanted)
    )


def _readers(view: View, ref: Ref) -> Iterator[Ref]:
    """Kernels that read a value, which they read in another width then."""
    flow = view.flow
    for node in flow.at.get(ref, ()):
        for user in flow.users[node]:
            if flow.nodes[user].kind is NodeKind.OPERATION:
                yield flow.nodes[user].kernel


def _ledger(view: View) -> CostLedger:
    cost = view.comparison.cost
    return cost.rhs if view.name == "rhs" else cost.lhs


def _product_evidence(comparison: Comparison) -> Iterator[Evidence]:
    counts = [_products(view) for view in reversed(views(comparison))]
    if counts[0] != counts[1]:
        texts = (listed([f"{n} of {t}" for t, n in sorted(c.items())], 4) for c in counts)
        yield Evidence("matrix products as written, by type of their operands", *texts)


def _products(view: View) -> Counter[str]:
    """Matrix products by the types of what they multiply."""
    module = view.source.before or view.module
    found: Counter[str] = Counter()
    for ref, instruction in instructions(module, *sorted(_PRODUCTS)):
        inside = module.computations[ref.computation].instructions
        types = {inside[operand].shape.dtype for operand in instruction.operands}
        found["/".join(sorted(types))] += 1
    return found


def _products_as_written(view: View) -> Iterator[Finding]:
    """Products that are wider here, and no longer among the narrow ones."""
    (wide, narrow), (wide_there, narrow_there) = _widths(view), _widths(view.there)
    if wide <= wide_there or narrow >= narrow_there:
        return
    worse = view.direction is Direction.WORSE
    more = wide - wide_there
    yield Finding(
        code="PRE005",
        title=f"rhs multiplies {more} more pair{'s' if more > 1 else ''} of matrices in f32 "
        "or wider than lhs"
        if worse
        else f"rhs multiplies {more} pair{'s' if more > 1 else ''} of matrices in a narrower type "
        "than lhs",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.MECHANISM,
        direction=view.direction,
        entries=_memory(view, ()),
        evidence=tuple(_product_evidence(view.comparison)),
        unknown=("which of its values are wider for it",),
        remedies=(Remedy("cast the operands, or use scalars that give way to them", "dtypes"),)
        if worse
        else (),
        **view.where(origin(view.source.before or view.module, i) for i in _wide_products(view)),
    )


def _widths(view: View) -> tuple[int, int]:
    """Products with an operand of 32 bits or more, and those without."""
    products = _products(view)
    wide = sum(n for types, n in products.items() if _is_wide(types))
    return wide, products.total() - wide


def _is_wide(types: str) -> bool:
    return any(_FLOATS.get(dtype, 0) >= 32 for dtype in types.split("/"))


def _wide_products(view: View) -> Iterator[Instruction]:
    module = view.source.before or view.module
    for ref, instruction in instructions(module, *sorted(_PRODUCTS)):
        inside = module.computations[ref.computation].instructions
        if _is_wide("/".join(inside[o].shape.dtype for o in instruction.operands)):
            yield instruction


def _largest(view: View, found: Sequence[_Lifted]) -> list[_Lifted]:
    """Some of the values, largest first, each kind once."""
    kinds: dict[str, _Lifted] = {}
    for each in found:
        instruction = view.instruction(_here(view, each))
        kinds.setdefault(operation(instruction), each)
    ranked = sorted(
        kinds.values(), key=lambda e: (-_elements(view.instruction(_here(view, e)).shape), e.rhs)
    )
    return ranked[:_SHOWN]


def _example(view: View, each: _Lifted) -> Evidence:
    left, right = sides(view.comparison)
    lhs, rhs = left.instruction(each.lhs), right.instruction(each.rhs)
    name = parse_op_name(rhs.metadata.op_name or lhs.metadata.op_name).primitive or rhs.opcode
    return Evidence(name, array(lhs.shape), array(rhs.shape))


def _integers(view: View, lifted: Sequence[_Lifted]) -> Iterator[Finding]:
    found = [e for e in lifted if _elements(view.instruction(_here(view, e)).shape) > 1]
    if not found:
        return
    refs = [_here(view, each) for each in found]
    first = _first(view, refs)
    worse = view.direction is Direction.WORSE
    types = listed(sorted({f"{new} instead of {old}" for old, new in (e.types for e in found)}))
    yield Finding(
        code="PRE003",
        title=f"rhs computes integers in {types}, from {operation(first)} on",
        confidence=Confidence.STRUCTURAL,
        specificity=Specificity.CAUSE,
        direction=view.direction,
        entries=_memory(view, refs),
        cost_entries=_cost(view, refs),
        evidence=tuple(_example(view, each) for each in _largest(view, found)),
        path=scopes(first.metadata.op_name),
        remedies=(Remedy("switch jax_enable_x64 off, or give indices as int32", "dtypes"),)
        if worse
        else (),
        **view.where([origin(view.module, first)]),
    )
