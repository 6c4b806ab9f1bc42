"""The JSON Schema of what `hloscope diff --format json` prints, read off the records' types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum, IntEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hloscope.model.canonical import Ref
from hloscope.model.capture import CostFigures, Depth, MemoryFigures, OutOfMemory, Provenance
from hloscope.model.changes import Verdict
from hloscope.model.comparison import Comparison
from hloscope.model.finding import Explanation
from hloscope.model.pairing import Ambiguity, Group
from hloscope.model.source import SourceKind
from hloscope.model.units import Measured, Missing
from hloscope.report.comparison_json import FORMAT, LEFT_OUT

Schema = dict[str, Any]
_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "contentEncoding": "base16"},
    NoneType: {"type": "null"},
    Any: {},
    Ref: {
        "description": "an instruction: positions of its computation and in it",
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 2,
        "maxItems": 2,
    },
}
_MISSING: Schema = {
    "description": "a number that nobody gave, and why",
    "type": "object",
    "properties": {"missing": {"type": "string"}},
    "required": ["missing"],
    "additionalProperties": False,
}
_ATTRIBUTE = re.compile(r"^ {2}(\w+(?:, \w+)*): ", re.MULTILINE)


def diff_schema() -> Schema:
    """The schema of `comparison_json`, as JSON Schema 2020-12."""
    types = _Types()
    found = {
        name: types.of(hint)
        for name, hint in get_type_hints(Comparison).items()
        if name in _field_names(Comparison) and name not in LEFT_OUT
    }
    side = _object(_side(types), optional=tuple(_OF_CAPTURES))
    properties = {
        "format": {"const": FORMAT},
        "verdict": types.of(Verdict | None),
        "differs": {"type": "boolean"},
        "lhs": side,
        "rhs": side,
        **found,
        "explanation": types.of(Explanation),
        "pairing": _object(_pairing(types)),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:hloscope:diff:{FORMAT}",
        "title": "hloscope diff",
        "description": "A comparison of two programs; every difference is rhs - lhs.",
        **_object(properties),
        "$defs": dict(sorted(types.definitions.items())),
    }


_OF_CAPTURES = ("program", "target", "depth", "memory", "cost", "out_of_memory", "provenance")


def _side(types: _Types) -> dict[str, Schema]:
    memory = types.record_properties(MemoryFigures) | {
        "total": {"type": "integer"},
        "total_without": types.of(tuple[str, ...]),
    }
    return {
        "label": types.of(str),
        "kind": types.of(SourceKind),
        "module": types.of(str),
        "instructions": types.of(int),
        "notes": types.of(tuple[str, ...]),
        "program": types.of(str),
        "target": types.of(str),
        "depth": types.of(Depth),
        "memory": _object(memory),
        "cost": types.of(CostFigures),
        "out_of_memory": types.of(OutOfMemory | None),
        "provenance": types.of(Provenance),
    }


def _pairing(types: _Types) -> dict[str, Schema]:
    return {
        "pairs": types.of(int),
        "groups": types.of(tuple[Group, ...]),
        "lhs_only": types.of(tuple[Ref, ...]),
        "rhs_only": types.of(tuple[Ref, ...]),
        "ambiguous": types.of(tuple[Ambiguity, ...]),
        "notes": types.of(tuple[str, ...]),
    }


def _object(properties: Mapping[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


class _Types:
    """Schemas of types; those of records and enumerations are defined once and referred to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of how `report.plain` writes a value of the type."""
        hint = getattr(hint, "__supertype__", hint)  # Bytes and the like are what they count in
        if hint in _SCALARS:
            return _SCALARS[hint]
        if isinstance(hint, type) and get_origin(hint) is None:
            return self._defined(hint)
        arguments = get_args(hint)
        origin = get_origin(hint)
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(argument) for argument in arguments]}
        if origin is Measured:
            return self.of(arguments[0])
        if origin is tuple:
            return self._tuple(arguments)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        raise TypeError(f"no schema for {hint!r}")

    def record_properties(self, record: type) -> dict[str, Schema]:
        """The schema of each field, with what the docstring says of it."""
        told = _told(record)
        return {
            name: self.of(hint) | ({"description": told[name]} if name in told else {})
            for name, hint in get_type_hints(record).items()
            if name in _field_names(record)
        }

    def _tuple(self, arguments: tuple[Any, ...]) -> Schema:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": self.of(arguments[0])}
        return {
            "type": "array",
            "prefixItems": [self.of(argument) for argument in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }

    def _defined(self, kind: type) -> Schema:
        name = f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"
        if name not in self.definitions:
            self.definitions[name] = {}  # a record may hold records of its own kind
            self.definitions[name] = self._definition(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _definition(self, kind: type) -> Schema:
        if kind is Missing:
            return _MISSING
        about = {"description": inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]}
        if issubclass(kind, Enum):
            scalar = "integer" if issubclass(kind, IntEnum) else "string"
            return about | {"type": scalar, "enum": [member.value for member in kind]}
        return about | _object(self.record_properties(kind))


def _field_names(record: type) -> tuple[str, ...]:
    if is_dataclass(record):
        return tuple(field.name for field in fields(record))
    names: tuple[str, ...] = getattr(record, "_fields", ())
    return names


def _told(record: type) -> dict[str, str]:
    """Field to its text in the docstring's `Attributes`."""
    _, _, attributes = inspect.cleandoc(record.__doc__ or "").partition("Attributes:\n")
    parts = _ATTRIBUTE.split(attributes)[1:]
    return {
        name: " ".join(text.split())
        for names, text in zip(parts[::2], parts[1::2], strict=True)
        for name in names.split(", ")
    }
