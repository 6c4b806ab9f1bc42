"""A backend's configuration of an instruction, in one form."""

from __future__ import annotations

import json


def canonical_config(text: str) -> str:
    """JSON with its keys sorted and no blanks, as XLA prints it since 2026; anything else as is.

    XLA's protos keep the order of fields, its newer text sorts them.
    """
    if text[:1] != "{":
        return text
    try:
        value = json.loads(text)
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
