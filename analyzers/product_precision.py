"""Matrix products that are asked for at another precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hloscope.plugin import (
    Analyzer,
    Comparison,
    Confidence,
    Direction,
    Evidence,
    Finding,
    Instruction,
    Ref,
    Remedy,
    Specificity,
    View,
    as_written_alike,
    changes,
    every_entry,
    instructions,
    listed,
    origin,
    placed_alike,
    views,
)

_PRODUCTS = ("convolution", "dot")
# jax.lax.Precision, as HLO writes it; what is not here is an algorithm that was asked for by name
_LEVELS = {"default": 0, "high": 1, "highest": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductPrecision(Analyzer):
    """Matrix products are asked for at another precision, or by another algorithm.

    What it sees: `operand_precision` and `algorithm` of products, in the programs as they are
    written.

    Why it costs: a TPU multiplies f32 matrices in one pass over bf16 at the default precision, in
    three at `high` and in six at `highest`; and what is kept for the backward pass has to be f32
    then, where bf16 was enough before.

    What it does not see: the passes. XLA's FLOPs count a product once, whatever its precision, and
    so do the ledgers.

    Example: a setting that was meant for one product reaches every one of them:

        jax.config.update("jax_default_matmul_precision", "highest")
    """

    name: ClassVar[str] = "product precision"
    codes: ClassVar[Mapping[str, str]] = {
        "PRE006": "matrix products are asked for at another precision",
    }

    def analyze(self, comparison: Comparison) -> Iterator[Finding]:
        """One finding, where as many products are at other precisions."""
        rhs, lhs = views(comparison)
        found, before = _asked(rhs), _asked(lhs)
        if found == before or found.total() != before.total():
            return
        new, old = sorted(found - before), sorted(before - found)
        count = (found - before).total()
        alike = as_written_alike(comparison) and placed_alike(comparison)
        entries, cost, sent = every_entry(comparison) if alike else ((), _cost(rhs), ())
        yield Finding(
            code="PRE006",
            title=f"rhs asks for {count} matrix product{'s' if count > 1 else ''} at precision "
            f"{listed(new)}, lhs at {listed(old)}",
            confidence=Confidence.STRUCTURAL,
            specificity=Specificity.CAUSE,
            direction=_direction(old, new),
            entries=entries,
            cost_entries=cost,
            communication_entries=sent,
            evidence=(Evidence("matrix products by precision", *map(_counted, (before, found))),),
            unknown=("how many passes it takes: FLOPs count a product once at any precision",),
            remedies=(Remedy("ask for lhs' precision, where its error is small enough"),),
            **rhs.where(
                origin(rhs.source.before or rhs.module, each)
                for each in _products(rhs)
                if _precision(each) in new
            ),
        )


def _products(view: View) -> Iterator[Instruction]:
    for _, each in instructions(view.source.before or view.module, *_PRODUCTS):
        yield each


def _precision(product: Instruction) -> str:
    """The algorithm, where one is named, or the highest precision of the operands."""
    algorithm = product.attr("algorithm")
    if algorithm:
        return algorithm
    asked = (product.attr("operand_precision") or "").strip("{}").split(",")
    return max(("default", *asked), key=lambda name: _LEVELS.get(name, -1))


def _asked(view: View) -> Counter[str]:
    return Counter(map(_precision, _products(view)))


def _counted(found: Counter[str]) -> str:
    return listed([f"{count} at {name}" for name, count in sorted(found.items())], 4)


def _direction(old: list[str], new: list[str]) -> Direction:
    """More passes are worse; of an algorithm by name nobody says how many it takes."""
    if not _LEVELS.keys() >= {*old, *new}:
        return Direction.NEUTRAL
    before, after = (max(_LEVELS[name] for name in names) for names in (old, new))
    if before == after:
        return Direction.NEUTRAL
    return Direction.WORSE if after > before else Direction.BETTER


def _cost(view: View) -> tuple[int, ...]:
    """Cost of products that say another precision after optimization."""
    refs: set[Ref] = set()
    for _, change in changes(view.comparison):
        if change.rhs is not None and any(
            field.name in ("operand_precision", "algorithm") for field in change.fields
        ):
            refs.add(change.rhs.ref)
    return view.cost_of(refs)
