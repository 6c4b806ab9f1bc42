"""backend_config without the fields that do not change the program."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def noise_fields() -> dict[tuple[str, ...], str]:
    """Path of each noise field to the reason why it is noise, from `backend_config_noise.toml`."""
    text = files("hloscope.normalize").joinpath("backend_config_noise.toml").read_text("utf-8")
    entries = tomllib.loads(text)["field"]
    return {tuple(entry["path"].split(".")): entry["why"] for entry in entries}


def without_noise(text: str) -> str | None:
    """The text with noise fields gone and keys sorted; what is not JSON stays as it is.

    Returns:
      `None` where nothing is left.
    """
    if not text.startswith("{"):
        return text
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return text
    cleaned = _cleaned(config, ())
    return json.dumps(cleaned, sort_keys=True, separators=(",", ":")) if cleaned else None


def _cleaned(value: Any, path: tuple[str, ...]) -> Any:
    """The value without noise fields and without what is empty, as protobuf leaves defaults out."""
    if isinstance(value, dict):
        items = ((k, _cleaned(v, (*path, k))) for k, v in value.items() if not _noise((*path, k)))
        return {k: v for k, v in items if v not in ({}, [], "", None)}
    if isinstance(value, list):
        return [_cleaned(v, path) for v in value]
    return value


def _noise(path: tuple[str, ...]) -> bool:
    return path in noise_fields()
