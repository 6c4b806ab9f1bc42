"""Frozen records as JSON values, strictly both ways."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hloscope.model.units import Measured, Missing

T = TypeVar("T")

Json = Any  # what `json.loads` gives


class RecordError(ValueError):
    """A JSON value that is not the record it should be; `place` is its path in the document."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


def to_json(value: object) -> Json:
    """The JSON value of a record, a container of records, or a scalar.

    A `Measured` becomes `{"value": x}` and a `Missing` `{"missing": reason}`.
    """
    match value:
        case Measured(inner):
            return {"value": to_json(inner)}
        case Missing(reason):
            return {"missing": reason}
        case Mapping():
            return {str(key): to_json(value[key]) for key in sorted(value)}
        case tuple():
            return [to_json(item) for item in value]
        case _ if dataclasses.is_dataclass(value):
            fields = dataclasses.fields(value)
            return {field.name: to_json(getattr(value, field.name)) for field in fields}
        case _:
            return value


def from_json(kind: type[T], value: Json, place: str = "$") -> T:
    """The record of type `kind` that `to_json` made `value` of.

    Raises:
      RecordError: a field is missing, unknown or of another type.
    """
    return cast("T", _decode(kind, value, place))


def _decode(kind: Any, value: Json, place: str) -> Any:
    origin = get_origin(kind)
    if isinstance(kind, typing.NewType):
        return _decode(kind.__supertype__, value, place)
    if origin in (Union, types.UnionType):
        return _decode_union(get_args(kind), value, place)
    if origin is tuple:
        return _decode_tuple(get_args(kind), value, place)
    if origin is not None and issubclass(origin, Mapping):
        item = get_args(kind)[1]
        pairs = _expect(dict, value, place).items()
        return {key: _decode(item, inner, f"{place}.{key}") for key, inner in pairs}
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, value, place)
    return _decode_scalar(kind, value, place)


def _decode_union(kinds: tuple[Any, ...], value: Json, place: str) -> Any:
    if types.NoneType in kinds:
        if value is None:
            return None
        (kind,) = (kind for kind in kinds if kind is not types.NoneType)
        return _decode(kind, value, place)
    # the one other union in the records is `Maybe`
    match value:
        case {"missing": str(reason)} if len(value) == 1:
            return Missing(reason)
        case {"value": inner} if len(value) == 1:
            (measured,) = (kind for kind in kinds if get_origin(kind) is Measured)
            return Measured(_decode(get_args(measured)[0], inner, f"{place}.value"))
    raise RecordError(place, 'neither {"value": ...} nor {"missing": "reason"}')


def _decode_tuple(kinds: tuple[Any, ...], value: Json, place: str) -> tuple[Any, ...]:
    items = _expect(list, value, place)
    if kinds[1:] == (Ellipsis,):
        kinds = kinds[:1] * len(items)
    elif len(kinds) != len(items):
        raise RecordError(place, f"{len(items)} items where {len(kinds)} belong")
    return tuple(
        _decode(kind, item, f"{place}[{n}]")
        for n, (kind, item) in enumerate(zip(kinds, items, strict=True))
    )


def _decode_dataclass(kind: Any, value: Json, place: str) -> Any:
    fields = _expect(dict, value, place)
    hints = _hints(kind)
    if wrong := sorted(fields.keys() ^ hints.keys()):
        state = "missing" if wrong[0] in hints else "unknown"
        raise RecordError(place, f"{state} field '{wrong[0]}'")
    decoded = {name: _decode(hint, fields[name], f"{place}.{name}") for name, hint in hints.items()}
    return kind(**decoded)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _decode_scalar(kind: Any, value: Json, place: str) -> Any:
    if kind is float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise RecordError(place, f"{value!r} is not a number")
    if issubclass(kind, StrEnum):
        if value in list(kind):
            return kind(value)
        raise RecordError(place, f"{value!r} is not one of {', '.join(kind)}")
    return _expect(kind, value, place)


def _expect(kind: type[T], value: Json, place: str) -> T:
    if type(value) is not kind:
        raise RecordError(place, f"{type(value).__name__} where {kind.__name__} belongs")
    return value
