"""A diff as plain data for JSON."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from hloscope.model.canonical import Ref
from hloscope.model.changes import ModuleDiff
from hloscope.model.units import Measured, Missing


def to_json(diff: ModuleDiff) -> dict[str, Any]:
    """Dictionaries, lists, texts and numbers alone, under the records' own field names.

    A reference is `[computation, instruction]`; a number that nobody gave is
    `{"missing": reason}`.
    """
    plain = _plain(diff)
    assert isinstance(plain, dict)  # noqa: S101 - a record always becomes a dictionary
    return plain


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case Measured(value=inner):
            return _plain(inner)
        case Missing(reason=reason):
            return {"missing": reason}
        case Ref():
            return list(value)
        case tuple() if hasattr(value, "_fields"):
            return {name: _plain(getattr(value, name)) for name in value._fields}
        case tuple():
            return [_plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value
