"""Results as plain data for JSON: dictionaries, lists, texts and numbers alone."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

from hloscope.model.canonical import Ref
from hloscope.model.units import Measured, Missing


def plain(value: Any) -> Any:
    """A record under its own field names.

    A reference to an instruction is `[computation, instruction]`, bytes are hex, and a number that
    nobody gave is `{"missing": reason}`.
    """
    match value:
        case Enum():
            return value.value
        case Measured(value=inner):
            return plain(inner)
        case Missing(reason=reason):
            return {"missing": reason}
        case Ref():
            return list(value)
        case bytes():
            return value.hex()
        case Mapping():
            return {_key(key): plain(inner) for key, inner in value.items()}
        case Set():
            return sorted(plain(item) for item in value)
        case tuple() if hasattr(value, "_fields"):
            return {name: plain(getattr(value, name)) for name in value._fields}
        case tuple() | list():
            return [plain(item) for item in value]
        case PurePath():
            return str(value)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _key(key: Any) -> str:
    match key:
        case Enum():
            return str(key.value)
        case Ref():
            return f"{key.computation}.{key.instruction}"
    return str(key)
