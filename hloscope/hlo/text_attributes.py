"""Attribute values of HLO text, brought to the one form that XLA prints today."""

from __future__ import annotations

import re
from collections.abc import Callable

from hloscope.hlo.backend_config import canonical_config
from hloscope.hlo.quoting import unquote
from hloscope.hlo.text_scan import STRING, split, squeezed
from hloscope.model.hlo import Metadata

# what means the same as leaving the attribute out
_DEFAULTS = {
    "api_version": "API_VERSION_ORIGINAL",
    "async_execution_thread": '"main"',
    "batch_group_count": "1",
    "constrain_layout": "false",
    "custom_call_has_side_effect": "false",
    "feature_group_count": "1",
    "has_dynamic_root": "false",
    "indices_are_sorted": "false",
    "is_composite": "false",
    "is_host_transfer": "false",
    "is_reverse": "false",
    "is_stable": "false",
    "left_side": "false",
    "lower": "false",
    "padding_type": "PADDING_INVALID",
    "result_accuracy": "{mode=default}",
    "schedule": "SCHEDULE_NONE",
    "unique_indices": "false",
    "unit_diagonal": "false",
    "use_global_device_ids": "false",
}

_NUMBERS = re.compile(r"[\d\s,{}\[\]\-]*")
_BLANKS = re.compile(r"\s+")
_INNER = rf"(?:[^{{}}\"]|{STRING}|\{{(?:[^{{}}\"]|{STRING})*+\}})*+"
_SHARDING_METADATA = re.compile(rf",? ?metadata=\{{{_INNER}\}}", re.DOTALL)
_PRECISIONS = re.compile(r"\{(?:\s*default\s*,?)*\}")
_WINDOW = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")
_FIELD = re.compile(rf"([\w.\-]+)=({STRING}|\{{[^{{}}]*\}}|[^\s,}}]+)", re.DOTALL)


def normalized(name: str, value: str) -> str | None:
    """`value` as XLA prints it today, `None` where that is not at all.

    Frontend attributes' values stay as they are, to the byte.
    """
    if name == "backend_config":
        return canonical_config(value)
    if name == "frontend_attributes":
        return _frontend(value)
    value = squeezed(value).strip()
    if value == _DEFAULTS.get(name):
        return None
    if value[:1] in "{[" and _NUMBERS.fullmatch(value):
        return _BLANKS.sub("", value)
    special = _SPECIAL.get(name)
    return value if special is None else special(value)


def _sharding(value: str) -> str:
    return _SHARDING_METADATA.sub("", value) if "metadata=" in value else value


def _precision(value: str) -> str | None:
    return None if _PRECISIONS.fullmatch(value) else value.replace(" ", "")


def _frontend(value: str) -> str | None:
    parts = split(value[1:-1])
    return f"{{{','.join(sorted(part.strip() for part in parts))}}}" if parts else None


def _window(value: str) -> str | None:
    given = dict(part.partition("=")[::2] for part in value[1:-1].split())
    if not given or not set(given) <= set(_WINDOW):
        return value if given else None
    kept = [f"{name}={given[name]}" for name in _WINDOW if name in given and _says(name, given)]
    return f"{{{' '.join(kept)}}}"


def _says(name: str, given: dict[str, str]) -> bool:
    trivial = {"size": "", "pad": "0_0", "rhs_reversal": "0"}.get(name, "1")
    return any(part != trivial for part in given[name].split("x"))


def _layout(value: str) -> str:
    return _ARROW.sub("->", _COMMA.sub(", ", value))


_ARROW = re.compile(r"\s*->\s*")
# a comma between shapes, which stands after a bracket; one between numbers stands after a digit
_COMMA = re.compile(r"(?<=[\]})]),\s*(?=[a-z(])")


def _origin(value: str) -> str:
    # how XLA 0.10 and 0.12 print the same
    return "{[synthetic_call]}" if value == '{(),[""]}' else value


_SPECIAL: dict[str, Callable[[str], str | None]] = {
    "entry_computation_layout": _layout,
    "operand_layout_constraints": _layout,
    "origin": _origin,
    "operand_precision": _precision,
    "sharding": _sharding,
    "window": _window,
}


def read_metadata(text: str) -> Metadata:
    """The fields of `{op_name="..." source_line=1 ...}` that say where it all comes from."""
    fields = dict(_FIELD.findall(text))
    return Metadata(
        _string(fields.get("op_name")),
        _string(fields.get("op_type")),
        _string(fields.get("source_file")),
        _number(fields.get("source_line")),
        _number(fields.get("stack_frame_id")),
    )


def _string(text: str | None) -> str:
    if text is None:
        return ""
    return unquote(text) if text[:1] == '"' and len(text) > 1 else text


def _number(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,18}", text) else 0
