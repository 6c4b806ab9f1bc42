"""Records of any type, made from their fields' types: every text hostile, figures known or not."""

from __future__ import annotations

import dataclasses
import datetime
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from comparisons import LHS, RHS, compared

from hloscope.model.comparison import Comparison
from hloscope.model.units import Measured, Missing

EVIL = "<script>alert(1)</script>"
_PLAIN: Mapping[type, object] = {
    str: EVIL, int: 0, float: 2.5, bool: True, bytes: b"<b>", object: EVIL,
    datetime.date: datetime.date(2030, 1, 31),
}  # fmt: skip


@cache
def comparison() -> Comparison:
    """A real one: its parts have to fit together."""
    return compared(LHS, RHS, labels=(EVIL, "rhs"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Samples:
    """Makes a value of a type.

    Attributes:
      known: whether figures are `Measured` and options there; otherwise `Missing` and `None`.
      parts: elements of each tuple and mapping.
      inside: records that are being made; one that holds its own kind holds none.
    """

    known: bool = True
    parts: int = 1
    inside: frozenset[type] = frozenset()

    def make(self, kind: Any) -> Any:
        """A value of `kind`."""
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType):
            return self._either(arguments)
        if origin is tuple:
            return tuple(self._elements(arguments))
        if origin is Mapping:
            return {key: self.make(arguments[1]) for key in self._keys(arguments[0])}
        if origin is Callable:
            return nullcontext
        if origin is Measured:
            return Measured(self.make(arguments[0]))
        return EVIL if isinstance(kind, TypeVar) or kind is Any else self._single(kind)

    def _either(self, arguments: tuple[Any, ...]) -> Any:
        if Missing in arguments and not self.known:
            return Missing(EVIL)
        if type(None) in arguments and not self.known:
            return None
        return self.make(arguments[0])

    def _elements(self, arguments: tuple[Any, ...]) -> Iterator[Any]:
        if arguments[-1] is not Ellipsis:
            yield from map(self.make, arguments)
        elif arguments[0] not in self.inside:
            yield from (self.make(arguments[0]) for _ in range(self.parts))

    def _keys(self, kind: Any) -> list[Any]:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return list(kind)
        return [self.make(kind) for _ in range(self.parts)]

    def _single(self, kind: Any) -> Any:
        kind = getattr(kind, "__supertype__", kind)
        if kind in _PLAIN:
            return _PLAIN[kind]
        if issubclass(kind, Enum):
            return next(iter(kind))
        return comparison() if kind is Comparison else self._record(kind)

    def _record(self, kind: Any) -> Any:
        hints = get_type_hints(kind, localns={"pd": types.SimpleNamespace(DataFrame=object)})
        within = dataclasses.replace(self, inside=self.inside | {kind})
        names = (
            kind._fields
            if issubclass(kind, tuple)
            else [field.name for field in dataclasses.fields(kind)]
        )
        # a change is of one side or of both, never of neither
        sides = dataclasses.replace(within, known=True)
        return kind(**{n: (sides if n in ("lhs", "rhs") else within).make(hints[n]) for n in names})
