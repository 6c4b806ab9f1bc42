"""Weights of one stack as the other stack names them.

Both stacks name modules and weights alike, and stacked layers lie alike; only layers that are
written out differ: Linen's `layers_3` is NNX's `layers[3]`. Either side is a nested dict of arrays:
in Linen a collection (`params`, `lora`, `cache`), in NNX what `nnx.to_pure_dict` makes of the
model's state of that kind (and `nnx.replace_by_pure_dict` takes back). AdamW's moments, which have
the weights' structure, map likewise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_LISTED = re.compile(r"(layers|dense_layers|remainder|block)_(\d+)$")


def to_nnx(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Renames Linen's weights to NNX's."""
    renamed: dict[str, Any] = {}
    for name, value in tree.items():
        below = to_nnx(value) if isinstance(value, dict) else value
        if found := _LISTED.match(name):
            renamed.setdefault(found[1], {})[int(found[2])] = below
        else:
            renamed[name] = below
    return {name: _in_order(value) for name, value in renamed.items()}


def to_linen(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Renames NNX's weights to Linen's; the inverse of `to_nnx`."""
    renamed: dict[str, Any] = {}
    for name, value in tree.items():
        if not isinstance(value, dict):
            renamed[name] = value
        elif value and all(isinstance(number, int) for number in value):
            listed = sorted(value.items())
            renamed |= {f"{name}_{number}": to_linen(below) for number, below in listed}
        else:
            renamed[name] = to_linen(value)
    return renamed


def _in_order(value: Any) -> Any:
    """Listed layers by number."""
    if isinstance(value, dict) and all(isinstance(number, int) for number in value):
        return dict(sorted(value.items()))
    return value
