"""Which slices of a TPU generation can be compiled for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_SIDES = re.compile(r"[1-9][0-9]{0,5}(x[1-9][0-9]{0,5})*")


def parse_sides(text: str) -> tuple[int, ...] | None:
    """The sides of `2x2x4`, `None` where the text is not such a product."""
    if not _SIDES.fullmatch(text):
        return None
    return tuple(int(side) for side in text.split("x"))


def format_sides(sides: tuple[int, ...]) -> str:
    """`2x2x4` for (2, 2, 4)."""
    return "x".join(map(str, sides))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRule:
    """The topologies of one generation; every number was found by compiling.

    Attributes:
      step: what each side is a multiple of.
      sides: every side there is, where multiples of `step` do not do; empty otherwise.
      refused: topologies that the rule allows and the compiler does not.
      max_side: the longest side in chips.
      max_chips: chips of a full pod.
      sub_host: slices smaller than a host.
      examples: topologies worth showing, smallest first.
    """

    step: tuple[int, ...]
    sides: tuple[int, ...]
    refused: frozenset[tuple[int, ...]]
    max_side: int
    max_chips: int
    sub_host: frozenset[tuple[int, ...]]
    examples: tuple[tuple[int, ...], ...]

    def complaint(self, sides: tuple[int, ...]) -> str | None:
        """Why a topology cannot be compiled for, `None` where it can."""
        if sides in self.sub_host:
            return None
        if len(sides) != len(self.step):
            return f"it has {len(sides)} {_plural('side', len(sides))}, not {len(self.step)}"
        if math.prod(sides) > self.max_chips:
            return f"{math.prod(sides)} chips are more than a full pod of {self.max_chips}"
        if max(sides) > self.max_side:
            return f"side {max(sides)} is longer than {self.max_side}"
        if self.sides and not set(sides) <= set(self.sides):
            return f"each side is one of {', '.join(map(str, self.sides))}"
        if any(side % step for side, step in zip(sides, self.step, strict=True)):
            return f"the sides are multiples of {format_sides(self.step)}"
        if sides in self.refused:
            return "the compiler has no routes for it"
        return None

    def closest(self, sides: tuple[int, ...], count: int = 3) -> tuple[str, ...]:
        """The examples nearest in chips to what was asked for, the nearest first."""
        wanted = math.log(math.prod(sides))
        ranked = sorted(self.examples, key=lambda e: (abs(math.log(math.prod(e)) - wanted), e))
        return tuple(format_sides(example) for example in ranked[:count])

    @property
    def example_names(self) -> tuple[str, ...]:
        """The examples as they are written in a target, a full pod last."""
        return tuple(map(format_sides, self.examples))

    def sentence(self) -> str:
        """The rule in words."""
        dims = "AxBxC" if len(self.step) == 3 else "AxB"
        if self.sides:
            size = f"sides of {', '.join(map(str, self.sides))}"
            if self.refused:
                size += f" except {', '.join(map(format_sides, sorted(self.refused)))}"
        else:
            size = f"sides in steps of {format_sides(self.step)} up to {self.max_side}"
        small = " or ".join(map(format_sides, sorted(self.sub_host)))
        return f"{dims}, {size}, at most {self.max_chips} chips; or {small}"


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
